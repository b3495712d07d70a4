/* lib_formats.c - see lib_formats.h. */
#include "tests/lib_formats.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- bytes ---- */

void blob__bytes(struct blob *s, const void *src, size_t n)
{
	if (s->cap - s->len < n) {
		s->cap = (s->len + n) * 2 + 64;
		s->p = realloc(s->p, s->cap);
		ck_assert_ptr_nonnull(s->p);
	}
	if (n)
		memcpy(s->p + s->len, src, n);
	s->len += n;
}

void blob__byte(struct blob *s, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	blob__bytes(s, &b, 1);
}

void blob__uleb(struct blob *s, uint64_t v)
{
	for (; v > 127; v /= 128)
		blob__byte(s, 128 + v % 128);
	blob__byte(s, (unsigned)v);
}

void blob__string(struct blob *s, const char *text)
{
	blob__uleb(s, strlen(text));
	blob__bytes(s, text, strlen(text));
}

void blob__le(struct blob *s, uint64_t v, int n_bytes)
{
	for (; n_bytes > 0; n_bytes--, v /= 256)
		blob__byte(s, v % 256);
}

void blob__magic(struct blob *s, const char *magic, unsigned version)
{
	blob__bytes(s, magic, 3);
	blob__byte(s, version);
	blob__bytes(s, "\x55\xaa\xff", 3);
}

void blob__exit(struct blob *s)
{
	free(s->p);
	*s = (struct blob){ 0 };
}

struct blob blob__load(const char *name)
{
	const char *folder = getenv("LJPERF_TESTDATA");
	struct blob s = { 0 };
	char path[4096], chunk[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "tests/data", name);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while ((n = fread(chunk, 1, sizeof(chunk), f)))
		blob__bytes(&s, chunk, n);
	fclose(f);
	return s;
}

/* ---- the log ---- */

static void put_name(FILE *out, const char *name, size_t len)
{
	fprintf(out, " %zu:", len);
	fwrite(name, 1, len, out);
}

void told__event(FILE *out, const struct ljm_event *ev)
{
	fprintf(out,
		"event %d vm %d src %d addr %" PRIx64 " num %" PRIu64 " old %" PRIx64 "+%" PRIu64
		" new %" PRIx64 "+%" PRIu64 " stack %" PRIu64 "\n",
		ev->kind, ev->vmstate, ev->loc.source, ev->loc.addr, ev->loc.num, ev->old_addr,
		ev->old_size, ev->new_addr, ev->new_size, ev->stack);
}

void told__symbol(FILE *out, const struct ljm_symbol *sym)
{
	fprintf(out, "symbol %d table %d addr %" PRIx64 " line %" PRIu64, sym->source,
		sym->in_symtab, sym->addr, sym->line);
	if (sym->source == LJM_SRC_TRACE)
		fprintf(out, " trace %" PRIu64 " proto %" PRIx64, sym->trace_num, sym->proto_addr);
	else
		put_name(out, sym->name, sym->name_len);
	if (sym->has_detail && sym->source == LJM_SRC_LUA) {
		put_name(out, sym->func_name, sym->func_name_len);
		fprintf(out, " last %" PRIu64, sym->last_line);
	} else if (sym->has_detail) {
		fprintf(out, " parent %u/%u root %u link %u type %u", sym->trace_parent,
			sym->trace_exit, sym->trace_root, sym->trace_link, sym->trace_linktype);
	}
	fputc('\n', out);
}

void told__mark(FILE *out, const struct session_mark *m)
{
	fprintf(out, "mark %d at %" PRIu64 " ns %" PRIu64, m->kind, m->event_no, m->time_ns);
	put_name(out, m->name, m->name_len);
	fputc('\n', out);
}

void told__module(FILE *out, const struct session_module *m)
{
	fprintf(out, "module %" PRIx64 "-%" PRIx64 " offset %" PRIx64 " bias %" PRIx64, m->start,
		m->end, m->offset, m->bias);
	fprintf(out, " at %" PRIu64, m->event_no);
	put_name(out, m->path, m->path_len);
	put_name(out, m->build_id, m->build_id_len);
	fputc('\n', out);
}

void told__stack(FILE *out, const struct session_stack *node)
{
	fprintf(out,
		"stack %" PRIu64 " parent %" PRIu64 " src %d addr %" PRIx64 " num %" PRIu64 "\n",
		node->id, node->parent, node->loc.source, node->loc.addr, node->loc.num);
}

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct told *t = ctx;

	t->symbols++;
	if (sym->in_symtab)
		t->n_symtab[sym->source]++;
	else
		t->n[LJM_SYMBOL][sym->source]++;
	told__symbol(t->out, sym);
	return 0;
}

static int on_event(void *ctx, const struct ljm_event *ev)
{
	struct told *t = ctx;

	t->events++;
	t->n[ev->kind][ev->loc.source]++;
	t->sum_new += ev->new_size;
	t->sum_old += ev->old_size;
	told__event(t->out, ev);
	return 0;
}

static int on_mark(void *ctx, const struct session_mark *m)
{
	struct told *t = ctx;

	t->marks++;
	told__mark(t->out, m);
	return 0;
}

static int on_module(void *ctx, const struct session_module *m)
{
	struct told *t = ctx;

	told__module(t->out, m);
	return 0;
}

static int on_stack(void *ctx, const struct session_stack *node)
{
	struct told *t = ctx;

	told__stack(t->out, node);
	return 0;
}

static int on_time(void *ctx, uint64_t ns)
{
	struct told *t = ctx;

	t->times++;
	fprintf(t->out, "time %" PRIu64 "\n", ns);
	return 0;
}

static int on_lost(void *ctx, uint64_t n)
{
	struct told *t = ctx;

	t->lost += n;
	fprintf(t->out, "lost %" PRIu64 "\n", n);
	return 0;
}

static int on_header(void *ctx, const struct session_header *h)
{
	struct told *t = ctx;

	(void)h;
	t->headers++;
	return 0;
}

static int on_footer(void *ctx, const struct session_footer *f)
{
	struct told *t = ctx;

	t->footers++;
	t->footer = *f;
	return 0;
}

const struct session_handlers told_handlers = {
	.header = on_header,
	.symbol = on_symbol,
	.event = on_event,
	.mark = on_mark,
	.module = on_module,
	.stack = on_stack,
	.time = on_time,
	.lost = on_lost,
	.footer = on_footer,
};

void told__init(struct told *t)
{
	memset(t, 0, sizeof(*t));
	t->out = open_memstream(&t->text, &t->len);
	ck_assert_ptr_nonnull(t->out);
}

const char *told__text(struct told *t)
{
	fflush(t->out);
	return t->text;
}

void told__exit(struct told *t)
{
	fclose(t->out);
	free(t->text);
}

/* ---- reading ---- */

static int run(struct session_reader *r, struct told *t, struct session_info *info)
{
	int rc;

	ck_assert_ptr_nonnull(r);
	told__init(t);
	rc = session_reader__run(r, &told_handlers, t);
	told__text(t);
	*info = *session_reader__info(r);
	session_reader__delete(r);
	return rc;
}

/* Exactly LEN bytes of the heap: a sanitizer sees any read beyond. */
int read_mem(const void *buf, size_t len, struct told *t, struct session_info *info)
{
	void *copy = malloc(len ? len : 1);
	int rc;

	ck_assert_ptr_nonnull(copy);
	if (len)
		memcpy(copy, buf, len);
	rc = run(session_reader__new_mem(copy, len, "mem"), t, info);
	free(copy);
	return rc;
}

static void write_pieces(int fd, const uint8_t *p, size_t len, size_t step)
{
	while (len) {
		ssize_t n = write(fd, p, len < step ? len : step);

		if (n <= 0)
			_exit(1);
		p += n;
		len -= (size_t)n;
	}
	_exit(0);
}

int read_pipe(const void *buf, size_t len, size_t step, struct told *t, struct session_info *info)
{
	int fds[2], rc, status;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(fds[0]);
		write_pieces(fds[1], buf, len, step);
	}
	close(fds[1]);
	rc = run(session_reader__new_fd(fds[0], "pipe"), t, info);
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return rc;
}

int read_file(const void *buf, size_t len, struct told *t, struct session_info *info)
{
	FILE *f = tmpfile();
	int rc;

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(buf, 1, len, f), len);
	ck_assert_int_eq(fflush(f), 0);
	ck_assert_int_eq((int)lseek(fileno(f), 0, SEEK_SET), 0);
	rc = run(session_reader__new_fd(fileno(f), "file"), t, info);
	fclose(f);
	return rc;
}

static int read_pipe_7(const void *buf, size_t len, struct told *t, struct session_info *info)
{
	return read_pipe(buf, len, 7, t, info);
}

const read_fn readers[N_READERS] = { read_mem, read_file, read_pipe_7 };

/* xorshift64* of Marsaglia and Vigna. */
uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}
