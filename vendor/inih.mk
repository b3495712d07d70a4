# inih: the INI files of the user's settings.
INIH_PKG = inih
INIH_LEAST = 53
INIH_DEBIAN = libinih-dev
INIH_ARCH = libinih
INIH_ALPINE = inih-dev
