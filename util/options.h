/* options.h - command-line options as typed tables.
 *
 * One table per command gives parsing, the -h text, suggestions for a
 * mistyped name and the shell completion.  The macros fail to compile when
 * the variable's type is not the option's.
 */
#ifndef LJPERF_UTIL_OPTIONS_H
#define LJPERF_UTIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPT_END,
	OPT_GROUP,
	OPT_BOOL,
	OPT_STRING,
	OPT_U64,
	OPT_DOUBLE,
	OPT_CALLBACK,
};

struct option {
	enum option_type type;
	char letter; /* 0: none */
	const char *name; /* without "--"; NULL: none */
	void *value;
	const char *arg; /* name of the argument in the help, NULL: takes none */
	const char *help;
	/* OPT_CALLBACK: ARG is NULL for a plain flag or under --no-NAME, where
	 * UNSET is true.  0 or negative with err__msg(). */
	int (*callback)(const struct option *opt, const char *arg, bool unset);
	bool no_negate; /* --no-NAME is refused */
	bool optional_arg; /* only --name=ARG passes one, and what TAKES says */
	bool (*takes)(const char *word); /* the next word is the optional argument */
};

#define OPT__CHECK(v, type) (1 ? (v) : (type *)0)
#define OPT_BOOL(l, n, v, h) \
	{ \
		.type = OPT_BOOL, .letter = (l), .name = (n), .value = OPT__CHECK(v, bool), \
		.help = (h) \
	}
#define OPT_STRING(l, n, v, a, h) \
	{ \
		.type = OPT_STRING, .letter = (l), .name = (n), \
		.value = OPT__CHECK(v, const char *), .arg = (a), .help = (h) \
	}
#define OPT_U64(l, n, v, a, h) \
	{ \
		.type = OPT_U64, .letter = (l), .name = (n), .value = OPT__CHECK(v, uint64_t), \
		.arg = (a), .help = (h) \
	}
#define OPT_DOUBLE(l, n, v, a, h) \
	{ \
		.type = OPT_DOUBLE, .letter = (l), .name = (n), .value = OPT__CHECK(v, double), \
		.arg = (a), .help = (h) \
	}
#define OPT_CALLBACK(l, n, v, a, h, f) \
	{ \
		.type = OPT_CALLBACK, .letter = (l), .name = (n), .value = (v), .arg = (a), \
		.help = (h), .callback = (f) \
	}
#define OPT_GROUP(h) \
	{ \
		.type = OPT_GROUP, .help = (h) \
	}
#define OPT_END() \
	{ \
		.type = OPT_END \
	}

enum {
	OPTIONS_STOP_AT_NON_OPTION = 1, /* the rest is somebody else's command line */
};

/* Parses argv[1..], which it permutes: afterwards argv[1..n] are the
 * arguments that are no options ("--" itself is dropped), n is returned.
 * -h and --help print USAGE and the table to stdout and return OPTIONS_HELP;
 * an error is a negative errno with err__msg(), a suggestion included.
 * *DASHDASH (may be NULL) tells whether "--" came before the rest. */
#define OPTIONS_HELP (-10000)
/* As an argument it makes a command do nothing but take its settings. */
#define OPTIONS_CHECK_ARGUMENT "--ljperf-check-settings"
int options__parse(int argc, const char **argv, const struct option *opts, const char *usage,
		   unsigned flags, bool *dashdash);

void options__print_help(const struct option *opts, const char *usage);

/* The entry of LIST nearest to WORD, or NULL when none is near. */
const char *options__suggest(const char *word, const char *const *list, size_t n);

#endif
