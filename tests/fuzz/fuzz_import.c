/* fuzz_import.c - any bytes as what misc.memprof wrote: the session file that is
 * made of them is whole, and has the events that the stream has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "record/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sums {
	uint64_t events, symbols, mix;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x100000001b3u;
}

/* But for the machine code of traces, which is not kept. */
static int on_event(void *ctx, const struct ljm_event *ev)
{
	struct sums *s = ctx;

	s->events++;
	s->mix = mix(s->mix, ev->kind);
	s->mix = mix(s->mix, ev->loc.source);
	s->mix = mix(s->mix, ev->loc.source == LJM_SRC_TRACE ? 0 : ev->loc.addr);
	s->mix = mix(s->mix, ev->loc.num);
	s->mix = mix(s->mix, ev->old_addr);
	s->mix = mix(s->mix, ev->old_size);
	s->mix = mix(s->mix, ev->new_addr);
	s->mix = mix(s->mix, ev->new_size);
	return 0;
}

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct sums *s = ctx;
	size_t i;

	s->symbols++;
	s->mix = mix(s->mix, sym->source);
	s->mix = mix(s->mix, sym->source == LJM_SRC_TRACE ? sym->trace_num : sym->addr);
	s->mix = mix(s->mix, sym->line);
	for (i = 0; i < sym->name_len; i++)
		s->mix = mix(s->mix, (unsigned char)sym->name[i]);
	return 0;
}

static int read_sums(const void *p, size_t len, struct sums *s, enum session_state *state)
{
	static const struct session_handlers handlers = { .event = on_event, .symbol = on_symbol };
	struct session_reader *r = session_reader__new_mem(p, len, "fuzz");
	int err = r ? session_reader__run(r, &handlers, s) : -1;

	*state = r ? session_reader__info(r)->state : SESSION_CORRUPT;
	session_reader__delete(r);
	return err;
}

static void check_file(int fd, const uint8_t *data, size_t size)
{
	struct sums in = { 0 }, out = { 0 };
	off_t len = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
	enum session_state state;

	if (p == MAP_FAILED || read_sums(data, size, &in, &state) ||
	    read_sums(p, (size_t)len, &out, &state) || state != SESSION_COMPLETE ||
	    memcmp(&in, &out, sizeof(in)) != 0)
		abort();
	munmap(p, (size_t)len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_header header = { .backend = "memprof" };
	static const struct session_writer_opts opts = { .level = 1, .batch_bytes = 700 };
	static const struct session_footer end = { .end_kind = SESSION_END_UNKNOWN };
	struct session_reader *r = session_reader__new_mem(data, size, "fuzz");
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct session_writer *w = session_writer__new(fd, &header, &opts);

	if (!r || !w)
		abort();
	if (import__run(w, r) == 0) {
		if (session_writer__finish(w, &end))
			abort();
		check_file(fd, data, size);
	}
	session_reader__delete(r);
	session_writer__delete(w);
	close(fd);
	return 0;
}
