# libelf of elfutils: the build ids of modules.
LIBELF_PKG = libelf
LIBELF_LEAST = 0.186
LIBELF_DEBIAN = libelf-dev
LIBELF_ARCH = libelf
LIBELF_ALPINE = elfutils-dev
