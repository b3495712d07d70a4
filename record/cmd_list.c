/* cmd_list.c - "ljperf list": the events and backends of this machine, and
 * why one is not usable.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "ljperf.h"
#include "record/launch.h"
#include "util/error.h"
#include "util/options.h"

/* Asks the program with the VM in it, which is the one that would record;
 * what it says goes into BUF.  Whether it can record. */
static bool ask_runner(char *buf, size_t len)
{
	const char *runner = launch__runner();
	char command[8192];
	FILE *f;
	size_t n;

	if (!runner) {
		snprintf(buf, len, "%s", err__msg());
		return false;
	}
	snprintf(command, sizeof(command), "exec '%s' --probe", runner);
	f = popen(command, "r");
	if (!f) {
		snprintf(buf, len, "cannot run '%s'", runner);
		return false;
	}
	n = fread(buf, 1, len - 1, f);
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return pclose(f) == 0;
}

int cmd_list(int argc, const char **argv)
{
	static const struct option options[] = { OPT_END() };
	int n = options__parse(argc, argv, options, "ljperf list", 0, NULL);
	char answer[512];
	size_t i;

	if (n == OPTIONS_HELP)
		return 0;
	if (n != 0) {
		fprintf(stderr, "ljperf: %s\n", n < 0 ? err__msg() : "list takes no arguments");
		return EXIT_LJPERF;
	}
	printf("Events:\n  alloc     every allocation, reallocation and free of the Lua VM\n\nBackends:\n");
	for (i = 0; i < n_backends; i++) {
		bool usable = backends[i].built_in || ask_runner(answer, sizeof(answer));

		if (backends[i].built_in)
			snprintf(answer, sizeof(answer),
				 "in programs whose VM has it (record --backend %s -- COMMAND)",
				 backends[i].name);
		printf("  %-9s %s\n            %s: %s\n", backends[i].name, backends[i].desc,
		       usable ? "usable" : "not usable", answer);
	}
	return 0;
}
