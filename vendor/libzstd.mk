# zstd: the frames of the session file.
LIBZSTD_PKG = libzstd
LIBZSTD_LEAST = 1.4.0
LIBZSTD_DEBIAN = libzstd-dev
LIBZSTD_ARCH = zstd
LIBZSTD_ALPINE = zstd-dev
