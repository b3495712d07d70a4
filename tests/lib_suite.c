/* lib_suite.c - see lib_suite.h. */
#include "tests/lib_suite.h"

#include <stdlib.h>

/* Check takes it, in seconds, when a test case is made. */
__attribute__((constructor)) static void set_limit(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "300", 0);
}

int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
