/* steering.c - see steering.h. */
#include "record/steering.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define MS 1000000u

/* Nanoseconds in a unit; 0 for what is none. */
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ms", MS }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 } };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

static int parse_time(const char *text, double plain, uint64_t *ns)
{
	char *unit;
	double n = strtod(text, &unit), of = *unit ? unit_ns(unit) : plain;

	if (unit == text || !(n >= 0))
		return err__set(-EINVAL, "'%s' is no time: give 500ms, 10s, 5m or 1h", text);
	if (!*unit && !of)
		return err__set(-EINVAL, "'%s' is no time: it has no unit, ms, s, m or h", text);
	if (!of)
		return err__set(-EINVAL, "'%s' is no time: the unit is ms, s, m or h", text);
	if (n * of > 1e18)
		return err__set(-EINVAL, "'%s' is no time: it is too long", text);
	*ns = (uint64_t)(n * of);
	return 0;
}

int steering__parse_delay(const char *text, uint64_t *ns)
{
	if (strcmp(text, "-1") != 0)
		return parse_time(text, MS, ns);
	*ns = UINT64_MAX;
	return 0;
}

int steering__parse_duration(const char *text, uint64_t *ns)
{
	int err = parse_time(text, 0, ns);

	return !err && !*ns ? err__set(-EINVAL, "'%s' is no time to record for", text) : err;
}

/* ---- on and off ---- */

static bool is_on(const struct steering *s)
{
	return atomic_load(&s->page->epoch) & 1;
}

/* The epoch grows, so that an agent sees that there was a pause.  Never 0. */
void steering__set(struct steering *s, bool on)
{
	uint32_t epoch = atomic_load(&s->page->epoch);

	if (on == (epoch & 1))
		return;
	s->was_on |= on;
	epoch++;
	atomic_store(&s->page->epoch, epoch ? epoch : 2);
	s->off_at = on && s->duration_ns ? clock__ns(CLOCK_MONOTONIC) + s->duration_ns : 0;
}

void steering__toggle(struct steering *s)
{
	s->on_at = 0;
	steering__set(s, !is_on(s));
}

int steering__tick(struct steering *s)
{
	uint64_t now = clock__ns(CLOCK_MONOTONIC), next;

	if (s->on_at && now >= s->on_at) {
		s->on_at = 0;
		steering__set(s, true);
	}
	if (s->off_at && now >= s->off_at)
		steering__set(s, false);
	next = s->on_at ? s->on_at : s->off_at;
	if (!next)
		return -1;
	return next - now > 1000000ull * MS ? 1000000 : (int)((next - now) / MS) + 1;
}

/* ---- the control FIFO, with perf's commands ---- */

static int open_fifo(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 ? fd : err__errno(errno, "cannot open '%s'", path);
}

static int open_control(struct steering *s, char *spec)
{
	char *ack = strchr(spec, ',');

	if (ack)
		*ack++ = 0;
	if (strncmp(spec, "fd:", 3) == 0) {
		s->fd = atoi(spec + 3);
		s->ack_fd = ack ? atoi(ack) : -1;
		if (fcntl(s->fd, F_GETFD) < 0 || (ack && fcntl(s->ack_fd, F_GETFD) < 0))
			return err__errno(errno, "cannot use the descriptors of --control");
		fcntl(s->fd, F_SETFD, FD_CLOEXEC);
		fcntl(s->fd, F_SETFL, O_NONBLOCK | fcntl(s->fd, F_GETFL));
		return 0;
	}
	if (strncmp(spec, "fifo:", 5) != 0)
		return err__set(-EINVAL, "--control takes fifo:PATH or fd:N, not '%s'", spec);
	/* Both ends of the FIFO are ours, so that it has no end. */
	s->fd = open_fifo(spec + 5, O_RDWR);
	if (s->fd >= 0 && ack)
		s->ack_fd = open_fifo(ack, O_RDWR);
	return s->fd < 0 ? s->fd : ack && s->ack_fd < 0 ? s->ack_fd : 0;
}

int steering__open(struct steering *s, struct control *page)
{
	char *spec;
	int err = 0;

	s->page = page;
	s->fd = s->ack_fd = -1;
	if (s->off || s->delay_ns)
		steering__set(s, false);
	else
		s->was_on = true;
	if (s->was_on && s->duration_ns)
		s->off_at = clock__ns(CLOCK_MONOTONIC) + s->duration_ns;
	if (s->delay_ns)
		s->on_at = clock__ns(CLOCK_MONOTONIC) + s->delay_ns;
	if (s->control) {
		spec = strdup(s->control);
		err = spec ? open_control(s, spec) : err__set(-ENOMEM, "no memory for a file name");
		free(spec);
	}
	return err;
}

void steering__close(struct steering *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->ack_fd >= 0)
		close(s->ack_fd);
	s->fd = s->ack_fd = -1;
}

static void do_command(struct steering *s, const char *cmd)
{
	if (strcmp(cmd, "enable") == 0)
		steering__set(s, true);
	else if (strcmp(cmd, "disable") == 0)
		steering__set(s, false);
	else if (strcmp(cmd, "snapshot") == 0)
		s->snapshot = true;
	else if (strcmp(cmd, "stop") == 0)
		s->stop = true;
	else if (strcmp(cmd, "ping") != 0)
		return;
	if (strncmp(cmd, "enable", 6) == 0 || strncmp(cmd, "disable", 7) == 0)
		s->on_at = 0;
	s->acks++;
}

void steering__ack(struct steering *s)
{
	ssize_t n;

	for (; s->acks; s->acks--) {
		n = s->ack_fd >= 0 ? write(s->ack_fd, "ack\n", 4) : 0;
		(void)n; /* nobody may be reading */
	}
}

static void add_byte(struct steering *s, char c)
{
	if (c == '\n') {
		/* What is behind a NUL is not compared, and so no command. */
		if (s->len < sizeof(s->line) && !memchr(s->line, 0, s->len)) {
			s->line[s->len] = 0;
			do_command(s, s->line);
		}
		s->len = 0;
	} else if (s->len < sizeof(s->line)) {
		s->line[s->len++] = c; /* a longer line is no command */
	}
}

void steering__read(struct steering *s)
{
	char buf[256];
	ssize_t n = read(s->fd, buf, sizeof(buf)), i;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(s->fd);
		s->fd = -1;
	}
	for (i = 0; i < n; i++)
		add_byte(s, buf[i]);
}
