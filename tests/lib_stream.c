/* lib_stream.c - recordings made in memory; see lib_stream.h. */
#include "tests/lib_stream.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct ljm_loc loc_lua(uint64_t proto, uint64_t line)
{
	return (struct ljm_loc){ LJM_SRC_LUA, proto, line };
}

struct ljm_loc loc_c(uint64_t addr)
{
	return (struct ljm_loc){ LJM_SRC_C, addr, 0 };
}

struct ljm_loc loc_trace(uint64_t num)
{
	return (struct ljm_loc){ LJM_SRC_TRACE, 0, num };
}

struct ljm_loc loc_vm(void)
{
	return (struct ljm_loc){ LJM_SRC_INTERNAL, 0, 0 };
}

static uint8_t *stream__room(struct stream *s, size_t n)
{
	ck_assert(strbuf__grow(&s->bytes, n + 16));
	if (!s->bytes.len) {
		uint8_t *p = ljm__put_symtab((uint8_t *)s->bytes.buf);

		p = ljm__put_header(p);
		s->bytes.len = (size_t)(p - (uint8_t *)s->bytes.buf);
		ck_assert(strbuf__grow(&s->bytes, n));
	}
	return (uint8_t *)s->bytes.buf + s->bytes.len;
}

static void stream__event(struct stream *s, const struct ljm_event *ev)
{
	uint8_t *p = stream__room(s, LJM_EVENT_MAX);

	s->bytes.len += (size_t)(ljm__put_event(p, ev) - p);
}

static void stream__symbol(struct stream *s, const struct ljm_symbol *sym)
{
	uint8_t *p = stream__room(s, ljm_symbol__size(sym));

	s->bytes.len += (size_t)(ljm__put_symbol(p, sym) - p);
}

void stream__lua_mem(struct stream *s, uint64_t addr, const char *chunk, size_t len, uint64_t line)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_LUA, .addr = addr, .name = chunk, .name_len = len, .line = line
	};

	stream__symbol(s, &sym);
}

void stream__lua(struct stream *s, uint64_t addr, const char *chunk, uint64_t line)
{
	stream__lua_mem(s, addr, chunk, strlen(chunk), line);
}

void stream__c(struct stream *s, uint64_t addr, const char *name)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_C, .addr = addr, .name = name, .name_len = strlen(name)
	};

	stream__symbol(s, &sym);
}

void stream__trace(struct stream *s, uint64_t num, uint64_t proto, uint64_t line)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_TRACE, .trace_num = num, .proto_addr = proto, .line = line
	};

	stream__symbol(s, &sym);
}

void stream__alloc(struct stream *s, struct ljm_loc loc, uint64_t addr, uint64_t size)
{
	struct ljm_event ev = { .kind = LJM_ALLOC, .loc = loc, .new_addr = addr, .new_size = size };

	stream__event(s, &ev);
}

void stream__free(struct stream *s, struct ljm_loc loc, uint64_t addr, uint64_t size)
{
	struct ljm_event ev = { .kind = LJM_FREE, .loc = loc, .old_addr = addr, .old_size = size };

	stream__event(s, &ev);
}

void stream__realloc(struct stream *s, struct ljm_loc loc, uint64_t old_addr, uint64_t old_size,
		     uint64_t new_addr, uint64_t new_size)
{
	struct ljm_event ev = { .kind = LJM_REALLOC,
				.loc = loc,
				.old_addr = old_addr,
				.old_size = old_size,
				.new_addr = new_addr,
				.new_size = new_size };

	stream__event(s, &ev);
}

int memory_file(char *path, size_t size)
{
	int fd = memfd_create("recording", 0);

	ck_assert_int_ge(fd, 0);
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

const char *stream__cut(struct stream *s)
{
	int fd = memory_file(s->path, sizeof(s->path));
	size_t done = 0;

	while (done < s->bytes.len) {
		ssize_t n = write(fd, s->bytes.buf + done, s->bytes.len - done);

		ck_assert_int_gt(n, 0);
		done += (size_t)n;
	}
	strbuf__exit(&s->bytes);
	return s->path;
}

const char *stream__file(struct stream *s)
{
	*stream__room(s, 1) = LJM_END;
	s->bytes.len++;
	return stream__cut(s);
}

/* ---- commands ---- */

static void read_all(int fd, struct strbuf *out)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		strbuf__addmem(out, buf, (size_t)n);
		at += n;
	}
	close(fd);
}

static int output_file(void)
{
	int fd = memfd_create("output", 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* A command is run in a process of its own, as it is by users: what its
 * options were is forgotten. */
struct output run_command(int (*run)(int argc, const char **argv), ...)
{
	struct output o = { STRBUF_INIT, STRBUF_INIT, -1 };
	int argc = 0, out = output_file(), err = output_file(), status;
	const char *argv[32];
	va_list ap;
	pid_t pid;

	va_start(ap, run);
	while ((argv[argc] = va_arg(ap, const char *)))
		ck_assert_int_lt(++argc, 31);
	va_end(ap);
	fflush(stdout);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		exit(run(argc, argv));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		o.status = WEXITSTATUS(status);
	read_all(out, &o.out);
	read_all(err, &o.err);
	return o;
}

static struct strbuf take_stream(FILE *f, char **p, size_t *len)
{
	struct strbuf sb = STRBUF_INIT;

	ck_assert_int_eq(fclose(f), 0);
	strbuf__addmem(&sb, *p, *len);
	free(*p);
	return sb;
}

struct output run_here(int (*run)(int argc, const char **argv), ...)
{
	FILE *real_out = stdout, *real_err = stderr, *files[2];
	struct output o = { STRBUF_INIT, STRBUF_INIT, -1 };
	const char *argv[32];
	char *texts[2];
	size_t lens[2];
	int argc = 0;
	va_list ap;

	va_start(ap, run);
	while ((argv[argc] = va_arg(ap, const char *)))
		ck_assert_int_lt(++argc, 31);
	va_end(ap);
	stdout = files[0] = open_memstream(&texts[0], &lens[0]);
	stderr = files[1] = open_memstream(&texts[1], &lens[1]);
	o.status = run(argc, argv);
	stdout = real_out;
	stderr = real_err;
	o.out = take_stream(files[0], &texts[0], &lens[0]);
	o.err = take_stream(files[1], &texts[1], &lens[1]);
	return o;
}

void output__exit(struct output *o)
{
	strbuf__exit(&o->out);
	strbuf__exit(&o->err);
}

void assert_has(const struct strbuf *text, const char *word)
{
	if (!strstr(strbuf__str(text), word))
		ck_abort_msg("no '%s' in:\n%s", word, strbuf__str(text));
}

void assert_lacks(const struct strbuf *text, const char *word)
{
	if (strstr(strbuf__str(text), word))
		ck_abort_msg("'%s' in:\n%s", word, strbuf__str(text));
}
