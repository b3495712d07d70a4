/* window.c - reading --time, --from and --to; see window.h. */
#include "report/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/recording.h"
#include "util/error.h"

static int bad_time(const char *text)
{
	return err__set(-EINVAL,
			"cannot understand the time '%s' (it is like 10%%-20%%, or "
			"1.5,2.5 in seconds)",
			text);
}

/* A number without sign; *END is behind it. */
static bool read_number(const char *s, const char **end, double *v)
{
	char *e;

	if ((*s < '0' || *s > '9') && *s != '.')
		return false;
	*v = strtod(s, &e);
	*end = e;
	return e != s && isfinite(*v);
}

/* "10%-20%", or "10%" for the first tenth. */
static int parse_percent(const char *text, struct window *w)
{
	double from = 0, to;
	const char *s;

	w->kind = WINDOW_PERCENT;
	if (!read_number(text, &s, &to) || *s++ != '%')
		return bad_time(text);
	if (*s == '-') {
		from = to;
		if (!read_number(s + 1, &s, &to) || *s++ != '%')
			return bad_time(text);
	}
	if (*s)
		return bad_time(text);
	if (from >= to || to > 100)
		return err__set(-EINVAL, "there is nothing between the times of '%s'", text);
	w->from_share = from / 100;
	w->to_share = to / 100;
	return 0;
}

static uint64_t to_ns(double seconds)
{
	return seconds >= 1.8e10 ? UINT64_MAX : (uint64_t)llround(seconds * 1e9);
}

/* "1.5,2.5", "1.5," or ",2.5" */
static int parse_seconds(const char *text, struct window *w)
{
	const char *s = text;
	double v;

	w->kind = WINDOW_TIME;
	w->to_ns = UINT64_MAX;
	if (*s != ',') {
		if (!read_number(s, &s, &v))
			return bad_time(text);
		w->from_ns = to_ns(v);
	}
	if (*s++ != ',')
		return bad_time(text);
	if (*s) {
		if (!read_number(s, &s, &v) || *s)
			return bad_time(text);
		w->to_ns = to_ns(v);
	}
	if (w->from_ns >= w->to_ns)
		return err__set(-EINVAL, "there is nothing between the times of '%s'", text);
	return 0;
}

int window__parse(const char *time, const char *from, const char *to, struct window *w)
{
	*w = (struct window){ .kind = WINDOW_ALL };
	if (time && (from || to))
		return err__set(-EINVAL, "a part is given by times or by marks, not by both");
	if (from || to) {
		w->kind = WINDOW_MARKS;
		w->from = from;
		w->to = to;
	}
	if (!time)
		return 0;
	return strchr(time, '%') ? parse_percent(time, w) : parse_seconds(time, w);
}

/* ---- how long a recording is ---- */

static int note_time(void *ctx, uint64_t time_ns)
{
	uint64_t *end = ctx;

	*end = time_ns > *end ? time_ns : *end;
	return 0;
}

static int note_mark(void *ctx, const struct session_mark *m)
{
	return note_time(ctx, m->time_ns);
}

static int note_footer(void *ctx, const struct session_footer *f)
{
	return note_time(ctx, f->duration_ns);
}

int window__find(const struct window *w, const char *path, bool force, struct window *out)
{
	static const struct session_handlers handlers = {
		.time = note_time,
		.mark = note_mark,
		.footer = note_footer,
	};
	struct session_info info;
	uint64_t end = 0;
	int err;

	*out = *w;
	if (w->kind != WINDOW_PERCENT)
		return 0;
	if (!strcmp(path, "-"))
		return err__set(-ESPIPE, "how long a pipe's recording is shows at its end only, so "
					 "--time takes seconds there");
	err = recording__read(path, force, &handlers, &end, &info);
	if (err)
		return err;
	if (!end)
		return err__set(-ENODATA, "'%s' has no times", path);
	out->kind = WINDOW_TIME;
	out->from_ns = (uint64_t)(w->from_share * (double)end);
	out->to_ns = w->to_share < 1 ? (uint64_t)(w->to_share * (double)end) : UINT64_MAX;
	return 0;
}
