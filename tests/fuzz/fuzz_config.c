/* fuzz_config.c - any bytes as a file of settings: it is taken or refused with the
 * line that is wrong; what is taken is a setting each, of one line, and is then
 * applied to the options of a command.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/lib_checks.h"
#include "util/error.h"
#include "util/options.h"
#include "util/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool flag, no_color;
static const char *text;
static uint64_t number;
static double share;

static int take_list(const struct option *opt, const char *arg, bool unset)
{
	(void)opt;
	if (unset && arg)
		abort();
	return arg && strlen(arg) > 5 ? err__set(-1, "'%s' is too long", arg) : 0;
}

static const struct option options[] = {
	OPT_GROUP("all kinds"),
	OPT_BOOL('f', "flag", &flag, "a flag"),
	OPT_BOOL(0, "no-color", &no_color, "a negative flag"),
	OPT_STRING('s', "sort", &text, "KEYS", "a text"),
	OPT_U64('n', "lines", &number, "N", "a number"),
	OPT_DOUBLE(0, "percent-limit", &share, "X", "a fraction"),
	OPT_CALLBACK(0, "list", NULL, "LIST", "a callback", take_list),
	OPT_BOOL(0, "force", &flag, "not for files"),
	OPT_END(),
};

static void check_message(void)
{
	if (!*err__msg() || !is_safe_text(err__msg(), strlen(err__msg())))
		abort();
}

/* Inih takes what stands in one line, and settings.c lines of 190 bytes. */
static void check_settings(const uint8_t *data, size_t size)
{
	size_t lines = 1, i;

	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (settings__count() > lines)
		abort();
	for (i = 0; i < settings__count(); i++) {
		const struct setting *s = settings__at(i);

		if (!*s->section || !s->line || s->line > lines ||
		    strlen(s->name) + strlen(s->value) > 190 || strchr(s->value, '\n'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line[] = { "report", "argument", NULL };
	int err = settings__read((const char *)data, size, "config");

	check_settings(data, size);
	if (err)
		check_message();
	else if (options__parse(2, line, options, "", 0, NULL) < 0)
		check_message();
	else if (strcmp(line[1], "argument") != 0)
		abort();
	settings__clear();
	return 0;
}
