/* lib_stream.h - recordings made in memory, and commands run on them.  Used by
 * the suites of the report.
 */
#ifndef LJPERF_TESTS_LIB_STREAM_H
#define LJPERF_TESTS_LIB_STREAM_H

#include "formats/ljm.h"
#include "formats/session.h"
#include "util/strbuf.h"

/* A V4 stream under construction; all zero is the empty one. */
struct stream {
	struct strbuf bytes;
	char path[64]; /* of a file with the stream, see stream__file() */
};

/* Locations. */
struct ljm_loc loc_lua(uint64_t proto, uint64_t line);
struct ljm_loc loc_c(uint64_t addr);
struct ljm_loc loc_trace(uint64_t num);
struct ljm_loc loc_vm(void);

/* Each appends one symbol or event. */
void stream__lua(struct stream *s, uint64_t addr, const char *chunk, uint64_t line);
void stream__lua_mem(struct stream *s, uint64_t addr, const char *chunk, size_t len, uint64_t line);
void stream__c(struct stream *s, uint64_t addr, const char *name);
void stream__trace(struct stream *s, uint64_t num, uint64_t proto, uint64_t line);
void stream__alloc(struct stream *s, struct ljm_loc loc, uint64_t addr, uint64_t size);
void stream__free(struct stream *s, struct ljm_loc loc, uint64_t addr, uint64_t size);
void stream__realloc(struct stream *s, struct ljm_loc loc, uint64_t old_addr, uint64_t old_size,
		     uint64_t new_addr, uint64_t new_size);

/* Ends the stream and returns the path of a file with it, which lives as long
 * as the process.  stream__cut() leaves out the end byte. */
const char *stream__file(struct stream *s);
const char *stream__cut(struct stream *s);

/* A file in memory: its descriptor; PATH gets how it can be opened. */
int memory_file(char *path, size_t size);

/* What a command printed. */
struct output {
	struct strbuf out, err;
	int status;
};

/* Runs RUN with the words after it, up to NULL, the name of the command
 * first, and captures what it prints. */
struct output run_command(int (*run)(int argc, const char **argv), ...);
/* The same in this process, for what is run thousands of times. */
struct output run_here(int (*run)(int argc, const char **argv), ...);
void output__exit(struct output *o);

/* Fail, and show the text, unless WORD is (is not) in it. */
void assert_has(const struct strbuf *text, const char *word);
void assert_lacks(const struct strbuf *text, const char *word);

#endif
