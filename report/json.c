/* json.c - writes JSON; see json.h. */
#include "report/json.h"

static void json__value(struct json *j)
{
	if (j->comma)
		strbuf__addch(j->out, ',');
	j->comma = true;
}

void json__raw(struct json *j)
{
	json__value(j);
}

void json__newline(struct json *j)
{
	strbuf__addstr(j->out, j->comma ? ",\n" : "\n");
	j->comma = false;
}

void json__open(struct json *j, char bracket)
{
	json__value(j);
	strbuf__addch(j->out, bracket);
	j->comma = false;
}

void json__close(struct json *j, char bracket)
{
	strbuf__addch(j->out, bracket);
	j->comma = true;
}

void json__key(struct json *j, const char *key)
{
	json__value(j);
	strbuf__addch(j->out, '"');
	strbuf__addstr(j->out, key);
	strbuf__addmem(j->out, "\":", 2);
	j->comma = false;
}

void json__text(struct json *j, const char *s, size_t len)
{
	json__value(j);
	escape__json(j->out, s, len);
}

void json__str(struct json *j, const char *s)
{
	json__text(j, s, strlen(s));
}

void json__num(struct json *j, u128 v)
{
	json__value(j);
	if (v <= UINT64_MAX) /* much faster */
		strbuf__addu(j->out, (uint64_t)v);
	else
		number__dec(j->out, v);
}

void json__signed(struct json *j, s128 v)
{
	json__value(j);
	if (v < 0)
		strbuf__addch(j->out, '-');
	number__dec(j->out, v < 0 ? -(u128)v : (u128)v);
}

void json__double(struct json *j, double v, unsigned decimals)
{
	json__value(j);
	strbuf__addf(j->out, "%.*f", (int)decimals, v);
}

void json__hex(struct json *j, uint64_t v)
{
	json__value(j);
	strbuf__addch(j->out, '"');
	strbuf__addx(j->out, v);
	strbuf__addch(j->out, '"');
}

void json__literal(struct json *j, const char *text)
{
	json__value(j);
	strbuf__addstr(j->out, text);
}

void json__bool(struct json *j, bool v)
{
	json__literal(j, v ? "true" : "false");
}

void json__null(struct json *j)
{
	json__literal(j, "null");
}

void json__put_text(struct json *j, const char *key, const char *s, size_t len)
{
	json__key(j, key);
	json__text(j, s, len);
}

void json__put_str(struct json *j, const char *key, const char *s)
{
	json__put_text(j, key, s, strlen(s));
}

void json__put_num(struct json *j, const char *key, u128 v)
{
	json__key(j, key);
	json__num(j, v);
}

void json__put_signed(struct json *j, const char *key, s128 v)
{
	json__key(j, key);
	json__signed(j, v);
}

void json__put_hex(struct json *j, const char *key, uint64_t v)
{
	json__key(j, key);
	json__hex(j, v);
}

void json__put_bool(struct json *j, const char *key, bool v)
{
	json__key(j, key);
	json__bool(j, v);
}

void json__put_null(struct json *j, const char *key)
{
	json__key(j, key);
	json__null(j);
}
