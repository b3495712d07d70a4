# Check: the unit tests; not needed to build or to install ljperf.
CHECK_PKG = check
CHECK_LEAST = 0.12.0
CHECK_DEBIAN = check
CHECK_ARCH = check
CHECK_ALPINE = check-dev
