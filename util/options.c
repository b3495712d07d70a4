/* options.c - parsing of command lines from option tables; see options.h.
 *
 * Every command calls options__parse() first.  Help text is options_help.c.
 */
#include "util/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/options_help.h"
#include "util/settings.h"

/* What is being parsed; the arguments kept so far are argv[1..kept]. */
struct parse {
	int argc, next, kept;
	const char **argv;
	const struct option *opts;
};

/* An option as it was written, for messages: "--name" or "-n". */
struct spelling {
	char text[80];
};

static struct spelling spelling__letter(char letter)
{
	struct spelling s;

	snprintf(s.text, sizeof(s.text), "-%c", letter);
	return s;
}

static struct spelling spelling__long(const char *name, size_t len)
{
	struct spelling s;

	snprintf(s.text, sizeof(s.text), "--%.*s", len > 64 ? 64 : (int)len, name);
	return s;
}

/* ---- values ---- */

static int set_u64(const struct option *opt, const char *arg, const struct spelling *as)
{
	unsigned long long v;
	char *end;

	/* strtoull accepts signs and white space; a count has neither. */
	if (*arg < '0' || *arg > '9')
		return err__set(-EINVAL, "option '%s' needs a number, not '%s'", as->text, arg);
	errno = 0;
	v = strtoull(arg, &end, 10);
	if (*end)
		return err__set(-EINVAL, "option '%s' needs a number, not '%s'", as->text, arg);
	if (errno == ERANGE)
		return err__set(-ERANGE, "number '%s' of option '%s' is too large", arg, as->text);
	*(uint64_t *)opt->value = v;
	return 0;
}

static int set_double(const struct option *opt, const char *arg, const struct spelling *as)
{
	double v;
	char *end;

	errno = 0;
	v = strtod(arg, &end);
	if (end == arg || *end || !isfinite(v))
		return err__set(errno == ERANGE ? -ERANGE : -EINVAL,
				"option '%s' needs a number, not '%s'", as->text, arg);
	*(double *)opt->value = v;
	return 0;
}

static int option__set(const struct option *opt, const char *arg, bool unset,
		       const struct spelling *as)
{
	switch (opt->type) {
	case OPT_BOOL:
		*(bool *)opt->value = !unset;
		return 0;
	case OPT_STRING:
		*(const char **)opt->value = arg;
		return 0;
	case OPT_U64:
		return set_u64(opt, arg, as);
	case OPT_DOUBLE:
		return set_double(opt, arg, as);
	case OPT_CALLBACK:
		return opt->callback(opt, arg, unset);
	case OPT_END:
	case OPT_GROUP:
		break;
	}
	return err__set(-EINVAL, "option '%s' cannot be set", as->text);
}

/* Sets OPT to ARG, taken from the next argument when it stands there. */
static int parse__value(struct parse *p, const struct option *opt, const char *arg,
			const struct spelling *as)
{
	if (!arg && opt->arg && !opt->optional_arg) {
		if (p->next >= p->argc)
			return err__set(-EINVAL, "option '%s' needs a value (%s)", as->text,
					opt->arg);
		arg = p->argv[p->next++];
	}
	if (!arg && opt->takes && p->next < p->argc && opt->takes(p->argv[p->next]))
		arg = p->argv[p->next++];
	return option__set(opt, arg, false, as);
}

/* ---- letters ---- */

static const struct option *find_letter(const struct option *opts, char letter)
{
	for (; opts->type != OPT_END; opts++)
		if (opts->type != OPT_GROUP && opts->letter == letter)
			return opts;
	return NULL;
}

static int unknown_letter(const struct parse *p, char letter)
{
	if ((unsigned char)letter < ' ' || (unsigned char)letter > '~')
		return err__set(-EINVAL, "unknown option '\\x%02x', see 'ljperf %s -h'",
				(unsigned char)letter, p->argv[0]);
	return err__set(-EINVAL, "unknown option '-%c', see 'ljperf %s -h'", letter, p->argv[0]);
}

/* "-vq", "-n5", "-vn 5": flags, then at most one option with a value. */
static int parse__letters(struct parse *p, const char *s)
{
	int err;

	for (; *s; s++) {
		const struct option *opt = find_letter(p->opts, *s);
		struct spelling as = spelling__letter(*s);

		if (!opt && *s == 'h')
			return OPTIONS_HELP;
		if (!opt)
			return unknown_letter(p, *s);
		if (opt->arg && !opt->optional_arg)
			return parse__value(p, opt, s[1] ? s + 1 : NULL, &as);
		if (opt->takes && (!s[1] || opt->takes(s + 1)))
			return parse__value(p, opt, s[1] ? s + 1 : NULL, &as);
		err = option__set(opt, NULL, false, &as);
		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- long names ---- */

struct match {
	const struct option *opt;
	bool unset;
};

static bool option__negatable(const struct option *opt)
{
	return opt->name && !opt->no_negate && (opt->type == OPT_BOOL || opt->type == OPT_CALLBACK);
}

/* The other name of a flag: "no-x" for "x", and "x" for "no-x". */
static const char *option__negated(const struct option *opt, char *buf, size_t size)
{
	if (!strncmp(opt->name, "no-", 3))
		return opt->name + 3;
	snprintf(buf, size, "no-%s", opt->name);
	return buf;
}

/* How well the LEN bytes at WORD name NAME. */
enum { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static int match_name(const char *name, const char *word, size_t len)
{
	if (strncmp(name, word, len))
		return MATCH_NONE;
	return name[len] ? MATCH_PREFIX : MATCH_EXACT;
}

/* The best candidates of a search, the first two of them kept. */
struct search {
	int quality;
	unsigned count;
	struct match found[2];
	struct spelling names[2];
};

static void search__add(struct search *s, int quality, const struct option *opt, bool unset,
			const char *name)
{
	if (quality < s->quality || quality == MATCH_NONE)
		return;
	if (quality > s->quality) {
		s->quality = quality;
		s->count = 0;
	}
	if (s->count < 2) {
		s->found[s->count] = (struct match){ opt, unset };
		s->names[s->count] = spelling__long(name, strlen(name));
	}
	s->count++;
}

static void search__names(struct search *s, const struct option *opts, const char *word, size_t len)
{
	/* Whoever writes --n wants a name with n, not one of all the --no-x. */
	bool negation = !strncmp(word, "no-", 3);
	char buf[80];

	for (; opts->type != OPT_END; opts++) {
		const char *other;

		if (opts->type == OPT_GROUP || !opts->name)
			continue;
		search__add(s, match_name(opts->name, word, len), opts, false, opts->name);
		if (!option__negatable(opts))
			continue;
		other = option__negated(opts, buf, sizeof(buf));
		if (negation || other != buf)
			search__add(s, match_name(other, word, len), opts, true, other);
	}
	search__add(s, match_name("help", word, len), NULL, false, "help");
}

static int unknown_name(const struct parse *p, const char *word, size_t len)
{
	const char *names[OPTIONS_MAX + 1], *near;
	struct spelling as = spelling__long(word, len);
	size_t n = 0;

	for (const struct option *o = p->opts; o->type != OPT_END && n < OPTIONS_MAX; o++)
		if (o->type != OPT_GROUP && o->name)
			names[n++] = o->name;
	names[n++] = "help";
	near = options__suggest(as.text + 2, names, n);
	if (near)
		return err__set(-EINVAL, "unknown option '%s', did you mean '--%s'?", as.text,
				near);
	return err__set(-EINVAL, "unknown option '%s', see 'ljperf %s -h'", as.text, p->argv[0]);
}

/* The option the LEN bytes at WORD stand for; opt is NULL for --help. */
static int find_long(const struct parse *p, const char *word, size_t len, struct match *m)
{
	struct search s = { .quality = MATCH_NONE };

	search__names(&s, p->opts, word, len);
	if (!s.count || !len)
		return unknown_name(p, word, len);
	if (s.count > 1)
		return err__set(-EINVAL, "option '%s' is ambiguous: '%s' or '%s'",
				spelling__long(word, len).text, s.names[0].text, s.names[1].text);
	*m = s.found[0];
	return 0;
}

static int parse__long(struct parse *p, const char *word)
{
	const char *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word) : strlen(word);
	const char *arg = eq ? eq + 1 : NULL;
	struct spelling as = spelling__long(word, len);
	struct match m = { 0 };
	int err = find_long(p, word, len, &m);

	if (err < 0)
		return err;
	if (arg && (!m.opt || m.unset || !m.opt->arg))
		return err__set(-EINVAL, "option '%s' takes no value", as.text);
	if (!m.opt)
		return OPTIONS_HELP;
	if (m.unset)
		return option__set(m.opt, NULL, true, &as);
	return parse__value(p, m.opt, arg, &as);
}

/* ---- settings ---- */

/* What a file must not decide: which recording, and what protects the user. */
static const char *const not_set[] = { "control", "force", "help", "input" };

static const char *const words[][2] = {
	{ "true", "false" }, { "yes", "no" }, { "on", "off" }, { "1", "0" }
};

/* 1 or 0 for a word of truth, -1 for another. */
static int truth(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (int no = 0; no < 2; no++)
			if (!strcmp(word, words[i][no]))
				return !no;
	return -1;
}

/* Only whole names: a shortened one may be another option's tomorrow. */
static int find_whole(const struct parse *p, const char *name, struct match *m)
{
	struct search s = { .quality = MATCH_NONE };
	const char *whole;

	search__names(&s, p->opts, name, strlen(name));
	if (s.quality != MATCH_EXACT)
		return unknown_name(p, name, strlen(name));
	*m = s.found[0];
	whole = m->opt ? m->opt->name : name;
	for (size_t i = 0; i < sizeof(not_set) / sizeof(not_set[0]); i++)
		if (!strcmp(whole, not_set[i]))
			return err__set(-EINVAL, "'%s' cannot be set in a file", name);
	return 0;
}

static int take_setting(const struct parse *p, const struct setting *s)
{
	struct spelling as = spelling__long(s->name, strlen(s->name));
	struct match m = { 0 };
	int yes = truth(s->value), err = find_whole(p, s->name, &m);

	if (err < 0)
		return err;
	if (m.opt->arg && !m.unset && !(m.opt->optional_arg && yes >= 0))
		return option__set(m.opt, s->value, false, &as);
	if (yes < 0)
		return err__set(-EINVAL, "'%s' is true or false, not '%s'", s->name, s->value);
	if (!yes && !m.unset && !option__negatable(m.opt))
		return 0; /* as it is */
	return option__set(m.opt, NULL, m.unset == (bool)yes, &as);
}

/* Those of the command, which what stands on its line comes after. */
static int take_settings(const struct parse *p)
{
	for (size_t i = 0; i < settings__count(); i++) {
		const struct setting *s = settings__at(i);
		int err = strcmp(s->section, p->argv[0]) ? 0 : take_setting(p, s);

		if (err < 0)
			return setting__fail(s, err);
	}
	return 0;
}

/* ---- the whole line ---- */

static void parse__keep(struct parse *p, const char *arg)
{
	p->argv[++p->kept] = arg;
}

static int parse__argument(struct parse *p, const char *arg)
{
	if (arg[0] != '-' || !arg[1]) {
		parse__keep(p, arg);
		return 0;
	}
	if (arg[1] != '-')
		return parse__letters(p, arg + 1);
	return parse__long(p, arg + 2);
}

static bool is_plain(const char *arg)
{
	return arg[0] != '-' || !arg[1];
}

int options__parse(int argc, const char **argv, const struct option *opts, const char *usage,
		   unsigned flags, bool *dashdash)
{
	struct parse p = { .argc = argc, .next = 1, .argv = argv, .opts = opts };
	bool seen_dashes = false;
	int err = take_settings(&p);

	while (p.next < argc && !seen_dashes && err >= 0) {
		const char *arg = argv[p.next];

		if (is_plain(arg) && (flags & OPTIONS_STOP_AT_NON_OPTION))
			break;
		p.next++;
		if (!strcmp(arg, "--"))
			seen_dashes = true;
		else if (!strcmp(arg, OPTIONS_LIST_ARGUMENT))
			return options__print_list(opts);
		else if (!strcmp(arg, OPTIONS_CHECK_ARGUMENT))
			return OPTIONS_HELP;
		else
			err = parse__argument(&p, arg);
	}
	if (err == OPTIONS_HELP)
		options__print_help(opts, usage);
	if (err < 0)
		return err;
	while (p.next < argc)
		parse__keep(&p, argv[p.next++]);
	if (dashdash)
		*dashdash = seen_dashes;
	return p.kept;
}
