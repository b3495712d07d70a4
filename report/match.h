/* match.h - texts that a user asks for: exactly, by a regular expression, or by
 * a pattern with * and ?.  Used by filters, by --parent and by suppressions.
 */
#ifndef LJPERF_REPORT_MATCH_H
#define LJPERF_REPORT_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct match;

/* "/REGEX/" is a regular expression, which is found anywhere in a text; other
 * words are texts, one or several with commas between them.  NULL with
 * err__msg() when it is wrong. */
struct match *match__new(const char *word);

/* WORD is a regular expression, without slashes around it. */
struct match *match__new_regex(const char *word);
void match__delete(struct match *m); /* M may be NULL */

/* A text that takes a regular expression too long is no match. */
bool match__has(const struct match *m, const char *text, size_t len);

/* Whether PATTERN fits the whole TEXT: * is any text, ? one character, and \
 * takes the meaning of the character behind it.  Takes at most LEN times the
 * length of the pattern steps. */
bool glob__fits(const char *pattern, const char *text, size_t len);

#endif
