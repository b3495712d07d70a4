/* lib_suite.h - the end of every Check program. */
#ifndef LJPERF_TESTS_LIB_SUITE_H
#define LJPERF_TESTS_LIB_SUITE_H

#include <check.h>

/* Runs S and frees it; the exit status of the program.  A test that sets no
 * limit of its own gets one that a slow machine, or valgrind, does not reach. */
int run_suite(Suite *s);

#endif
