# liblzma: how large the symbols are that a stripped module carries, packed.
LIBLZMA_PKG = liblzma
LIBLZMA_LEAST = 5.2.4
LIBLZMA_DEBIAN = liblzma-dev
LIBLZMA_ARCH = xz
LIBLZMA_ALPINE = xz-dev
