/* lib_symbols.c - modules that are built for a test, and what is known of their
 * functions; see lib_symbols.h.
 */
#include "tests/lib_symbols.h"

#include <check.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a symbolizer and what it is asked ---- */

struct symbolizer *symbols;
struct symbolizer_opts symbols_opts;

static struct strpool strings;

void symbols__begin(void)
{
	symbols = symbolizer__new(&symbols_opts, &strings);
	ck_assert_ptr_nonnull(symbols);
}

void symbols__end(void)
{
	symbolizer__delete(symbols);
	symbols = NULL;
}

/* A module at PATH, made absolute, with its build id or that of another file. */
struct module module_of(const char *path, const char *id_of)
{
	char full[4096];
	struct build_id id = { .len = 0 };
	int fd = id_of ? open(id_of, O_RDONLY) : -1;

	ck_assert_ptr_nonnull(getcwd(full, sizeof(full)));
	snprintf(full + strlen(full), sizeof(full) - strlen(full), "/%s", path);
	if (fd >= 0) {
		build_id__read(fd, &id);
		close(fd);
	}
	return (struct module){ .path = strpool__intern(&strings, full, strlen(full)),
				.build_id = strpool__intern(&strings, (char *)id.bytes, id.len) };
}

static void add_frame(struct strbuf *out, const char *func, const char *place)
{
	strbuf__addf(out, "%s at %s\n", func, place);
}

/* "FUNCTION at FILE:LINE" for each frame, a line each. */
void symbols__ask(const struct module *m, uint64_t addr, struct strbuf *out)
{
	struct symbol sym;
	size_t i;

	ck_assert_int_ge(symbolizer__resolve(symbols, m, addr), 0);
	sym = symbolizer__get(symbols, m, addr);
	strbuf__reset(out);
	for (i = 0; i < sym.n; i++) {
		struct strbuf func = STRBUF_INIT;
		char place[4200];

		symbolizer__add_func(symbols, sym.frames[i].func, &func);
		snprintf(place, sizeof(place), "%s:%llu",
			 *sym.frames[i].file ? sym.frames[i].file : "??",
			 (unsigned long long)sym.frames[i].line);
		add_frame(out, strbuf__str(&func), place);
		strbuf__exit(&func);
	}
}

/* ---- other tools ---- */

bool have_tool(const char *tool)
{
	char cmd[200];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", tool);
	return system(cmd) == 0;
}

void run_shell(const char *cmd)
{
	char full[4096];

	snprintf(full, sizeof(full),
		 "set -e; SRC=${LJPERF_SOURCE:-.}/tests/hosts/cmod.c; "
		 "CC=${CC:-gcc}; %s",
		 cmd);
	ck_assert_msg(system(full) == 0, "failed: %s", cmd);
}

/* Each test has a folder of its own, where the cache is, too. */
void symbols__setup(void)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/symbolize.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	setenv("XDG_CACHE_HOME", dir, 1);
	unsetenv("DEBUGINFOD_URLS");
	symbols_opts = (struct symbolizer_opts){ .no_cache = true };
}

void symbols__teardown(void)
{
	char dir[4096], cmd[4200];

	symbols__end();
	strpool__exit(&strings);
	if (getcwd(dir, sizeof(dir)) && strstr(dir, "symbolize.") && !chdir("/")) {
		snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
		ck_assert_int_eq(system(cmd), 0);
	}
}

/* The functions of a file that have a size, as nm lists them. */
size_t list_functions(const char *nm, const char *file, struct function *f)
{
	char cmd[300], line[400], type;
	unsigned long long addr, size;
	size_t n = 0;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "%s -S --defined-only %s", nm, file);
	p = popen(cmd, "r");
	while (n < FUNCTIONS_MAX && fgets(line, sizeof(line), p))
		if (sscanf(line, "%llx %llx %c %199s", &addr, &size, &type, f[n].name) == 4 &&
		    (type == 't' || type == 'T') && size) {
			f[n].addr = addr;
			f[n++].size = size;
		}
	pclose(p);
	return n;
}

/* What addr2line says of ADDR, in the form of symbols__ask(). */
static void theirs(FILE *p, char *next, size_t size, struct strbuf *out)
{
	char place[4096], *cut;

	strbuf__reset(out);
	while (fgets(next, (int)size, p) && strncmp(next, "0x", 2)) {
		ck_assert_ptr_nonnull(fgets(place, sizeof(place), p));
		next[strcspn(next, "\n")] = '\0';
		place[strcspn(place, "\n")] = '\0';
		cut = strstr(place, " (discriminator");
		if (cut)
			*cut = '\0';
		cut = strrchr(place, ':');
		if (cut && !isdigit((unsigned char)cut[1]))
			snprintf(cut, sizeof(place) - (size_t)(cut - place), ":0");
		add_frame(out, next, place);
	}
}

/* Every address of every function of FILE: frames as addr2line -i has them for
 * REF, which has the debug information. */
void compare_lines(const struct module *m, const char *ref)
{
	struct function f[FUNCTIONS_MAX];
	size_t n = list_functions("nm", ref, f), i;
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	char cmd[300], next[4096];
	uint64_t addr;
	FILE *in = fopen("addresses", "w"), *p;

	ck_assert_uint_ge(n, 6);
	for (i = 0; i < n; i++)
		for (addr = f[i].addr; addr < f[i].addr + f[i].size; addr++)
			fprintf(in, "0x%llx\n", (unsigned long long)addr);
	fclose(in);
	snprintf(cmd, sizeof(cmd), "addr2line -a -f -i -C -e %s <addresses", ref);
	p = popen(cmd, "r");
	ck_assert_ptr_nonnull(fgets(next, sizeof(next), p));
	for (i = 0; i < n; i++)
		for (addr = f[i].addr; addr < f[i].addr + f[i].size; addr++) {
			theirs(p, next, sizeof(next), &want);
			symbols__ask(m, addr, &got);
			ck_assert_msg(!strcmp(strbuf__str(&want), strbuf__str(&got)),
				      "0x%llx: got\n%swanted\n%s", (unsigned long long)addr,
				      strbuf__str(&got), strbuf__str(&want));
		}
	pclose(p);
	strbuf__exit(&want);
	strbuf__exit(&got);
}

uint8_t *symbols__read(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *buf;
	struct stat st;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	*len = (size_t)st.st_size;
	buf = malloc(*len + 1);
	ck_assert_uint_eq(fread(buf, 1, *len, f), *len);
	fclose(f);
	return buf;
}

void symbols__write(const char *path, const uint8_t *buf, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(buf, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}
