/* environment.c - keeps ljperf's environment variables out of the program's
 * sight: getenv() comes by here, because the agent (or the program that it is
 * in) stands before libc in the search for symbols.
 *
 * Children need the variables to be recorded, so they stay in environ, where
 * system() and popen() take them from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/luajit/agent.h"

/* LD_PRELOAD as we want children to have it, and as the program had it.
 * Set once, before the program starts; "" of a variable that was not there. */
static struct {
	char *with_ours;
	char *own;
} preload;

/* As in libc, and without it: this may be called before libc is ready. */
AGENT_EARLY static char *find(const char *name, size_t len)
{
	char **e;

	for (e = environ; len && e && *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

AGENT_EARLY __attribute__((visibility("default"))) char *getenv(const char *name)
{
	char *value = find(name, strlen(name));

	if (!value || !preload.with_ours)
		return value;
	if (strcmp(name, AGENT_ENV) == 0)
		return NULL;
	/* One that the program has set itself is its own. */
	if (strcmp(name, "LD_PRELOAD") == 0 && strcmp(value, preload.with_ours) == 0)
		return preload.own;
	return value;
}

/* OWN without AGENT, which record put last: NULL when nothing is left. */
static char *without(const char *list, const char *agent)
{
	size_t n = strlen(list), a = strlen(agent);

	if (a && n >= a && strcmp(list + n - a, agent) == 0)
		n -= a;
	while (n && list[n - 1] == ':')
		n--;
	return n ? strndup(list, n) : NULL;
}

static char *with(const char *list, const char *agent)
{
	char *value = NULL;

	if (!list)
		return strdup(agent);
	return asprintf(&value, "%s:%s", list, agent) < 0 ? NULL : value;
}

static void hide(void)
{
	unsetenv(AGENT_ENV);
	if (preload.own)
		setenv("LD_PRELOAD", preload.own, 1);
	else
		unsetenv("LD_PRELOAD");
}

void agent__settle_environment(void)
{
	const struct control *page = agent_control();
	const char *list = find("LD_PRELOAD", strlen("LD_PRELOAD"));

	preload.own = list ? without(list, page->preload) : NULL;
	if (!page->inherit) {
		hide();
		return;
	}
	preload.with_ours = with(preload.own, page->preload);
	if (preload.with_ours)
		setenv("LD_PRELOAD", preload.with_ours, 1);
}
