/* json.h - writes JSON, one value after the other.  Used by whatever prints it:
 * script, diff and the formats of export.
 */
#ifndef LJPERF_REPORT_JSON_H
#define LJPERF_REPORT_JSON_H

#include "report/escape.h"

struct json {
	struct strbuf *out; /* may be emptied between two calls */
	bool comma; /* before the next value or key */
};

void json__open(struct json *j, char bracket); /* '{' or '[' */
void json__close(struct json *j, char bracket); /* '}' or ']' */
void json__key(struct json *j, const char *key); /* plain; a value follows */

/* Text need not be UTF-8, see escape__json(). */
void json__text(struct json *j, const char *s, size_t len);
void json__str(struct json *j, const char *s);
void json__num(struct json *j, u128 v); /* exact */
void json__signed(struct json *j, s128 v);
void json__double(struct json *j, double v, unsigned decimals);
void json__hex(struct json *j, uint64_t v); /* a string: "0x7f0010" */
void json__bool(struct json *j, bool v);
void json__null(struct json *j);
void json__literal(struct json *j, const char *text); /* as it is */
void json__raw(struct json *j); /* what the caller appends to OUT is a value */

void json__newline(struct json *j); /* before the next value of a list */

/* A key with its value. */
void json__put_text(struct json *j, const char *key, const char *s, size_t len);
void json__put_str(struct json *j, const char *key, const char *s);
void json__put_num(struct json *j, const char *key, u128 v);
void json__put_signed(struct json *j, const char *key, s128 v);
void json__put_hex(struct json *j, const char *key, uint64_t v);
void json__put_bool(struct json *j, const char *key, bool v);
void json__put_null(struct json *j, const char *key);

#endif
