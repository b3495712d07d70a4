# PCRE2: the regular expressions of the report's filters.
LIBPCRE2_PKG = libpcre2-8
LIBPCRE2_LEAST = 10.34
LIBPCRE2_DEBIAN = libpcre2-dev
LIBPCRE2_ARCH = pcre2
LIBPCRE2_ALPINE = pcre2-dev
