/* options_help.c - the texts made from option tables: the -h help, the list
 * for shell completion, and the suggestion for a mistyped word.
 *
 * Called by options.c, and by ljperf.c for suggestions of commands.
 */
#include "util/options_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELP_COLUMN = 30, WIDTH_DEFAULT = 80, WIDTH_LEAST = 40, WIDTH_MOST = 120 };

/* ---- help ---- */

static int clamp_width(long width)
{
	if (width < WIDTH_LEAST)
		return WIDTH_LEAST;
	return width > WIDTH_MOST ? WIDTH_MOST : (int)width;
}

static int output_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;

	if (columns && *columns >= '1' && *columns <= '9')
		return clamp_width(strtol(columns, NULL, 10));
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col)
		return clamp_width(ws.ws_col);
	return WIDTH_DEFAULT;
}

/* Prints TEXT word by word from column AT; later lines start at INDENT. */
static void print_wrapped(const char *text, int at, int indent, int width)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (!first && at + 1 + len > width) {
			printf("\n%*s", indent, "");
			at = indent;
			first = true;
		}
		at += printf("%s%.*s", first ? "" : " ", len, text);
		first = false;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* Prints how OPT is written, and returns how wide that is. */
static int print_spelling(const struct option *opt)
{
	int at = printf("    ");

	if (opt->letter)
		at += printf("-%c%s", opt->letter, opt->name ? ", " : "");
	else
		at += printf("    ");
	if (opt->name)
		at += printf("--%s", opt->name);
	if (opt->arg && opt->optional_arg)
		at += printf("[=%s]", opt->arg);
	else if (opt->arg)
		at += printf(" %s", opt->arg);
	return at;
}

static void print_option(const struct option *opt, int width)
{
	int indent = width < 2 * HELP_COLUMN ? HELP_COLUMN / 2 : HELP_COLUMN;
	int at = print_spelling(opt);

	if (at + 2 > indent) {
		putchar('\n');
		at = 0;
	}
	printf("%*s", indent - at, "");
	print_wrapped(opt->help ? opt->help : "", indent, indent, width);
}

static void print_usage(const char *usage)
{
	const char *lead = "Usage: ";

	while (*usage) {
		int len = (int)strcspn(usage, "\n");

		printf("%s%.*s\n", lead, len, usage);
		lead = "   or: ";
		usage += len;
		usage += *usage == '\n';
	}
}

void options__print_help(const struct option *opts, const char *usage)
{
	static const struct option help = {
		.type = OPT_BOOL, .letter = 'h', .name = "help", .help = "print this text"
	};
	int width = output_width();

	print_usage(usage);
	putchar('\n');
	for (; opts->type != OPT_END; opts++) {
		if (opts->type == OPT_GROUP)
			printf("\n%s\n", opts->help);
		else
			print_option(opts, width);
	}
	print_option(&help, width);
}

/* ---- list ---- */

int options__print_list(const struct option *opts)
{
	for (; opts->type != OPT_END; opts++) {
		const char *arg = opts->arg ? opts->arg : "";
		const char *text = opts->help ? opts->help : "";

		if (opts->type == OPT_GROUP)
			continue;
		if (opts->letter)
			printf("-%c\t%s\t%s\n", opts->letter, arg, text);
		if (opts->name)
			printf("--%s\t%s\t%s\n", opts->name, arg, text);
	}
	printf("-h\t\tprint the options\n--help\t\tprint the options\n");
	return OPTIONS_HELP;
}

/* ---- suggestions ---- */

enum { WORD_MAX = 40 };

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Damerau-Levenshtein distance in its optimal string alignment form: letters
 * inserted, removed, replaced, or two neighbours swapped.  Both words are at
 * most WORD_MAX long. */
static unsigned word_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];
	unsigned la = (unsigned)strlen(a), lb = (unsigned)strlen(b);

	for (unsigned j = 0; j <= lb; j++)
		before[j] = prev[j] = j;
	for (unsigned i = 1; i <= la; i++) {
		unsigned *oldest = before;

		cur[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			cur[j] = min2(prev[j - 1] + (a[i - 1] != b[j - 1]),
				      min2(prev[j], cur[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cur[j] = min2(cur[j], before[j - 2] + 1);
		}
		before = prev;
		prev = cur;
		cur = oldest;
	}
	return prev[lb];
}

const char *options__suggest(const char *word, const char *const *list, size_t n)
{
	size_t len = strlen(word);
	unsigned best = len < 3 ? 2 : 1 + (unsigned)len / 3;
	const char *nearest = NULL;

	if (!len || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		unsigned d;

		if (strlen(list[i]) > WORD_MAX)
			continue;
		d = word_distance(word, list[i]);
		if (d < best && d < len) {
			best = d;
			nearest = list[i];
		}
	}
	return nearest;
}
