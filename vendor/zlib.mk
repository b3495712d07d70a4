# zlib: gzip, which pprof wants its files in.
ZLIB_PKG = zlib
ZLIB_LEAST = 1.2.11
ZLIB_DEBIAN = zlib1g-dev
ZLIB_ARCH = zlib
ZLIB_ALPINE = zlib-dev
