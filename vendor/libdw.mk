# libdw of elfutils: the debug information of modules.
LIBDW_PKG = libdw
LIBDW_LEAST = 0.186
LIBDW_DEBIAN = libdw-dev
LIBDW_ARCH = libelf
LIBDW_ALPINE = elfutils-dev
