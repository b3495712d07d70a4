# libiberty of binutils: readable names of C++ and Rust functions.  It has no
# pkg-config file and no version; what is asked for is its header.
LIBIBERTY_HEADER = libiberty/demangle.h
LIBIBERTY_LIBS = -liberty
LIBIBERTY_LEAST = 2.36
LIBIBERTY_DEBIAN = libiberty-dev
LIBIBERTY_ARCH = binutils
LIBIBERTY_ALPINE = binutils-dev
LIBIBERTY_RPM = binutils-devel
