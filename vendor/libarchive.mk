# libarchive: the tar file that ljperf archive writes.
LIBARCHIVE_PKG = libarchive
LIBARCHIVE_LEAST = 3.4.0
LIBARCHIVE_DEBIAN = libarchive-dev
LIBARCHIVE_ARCH = libarchive
LIBARCHIVE_ALPINE = libarchive-dev
