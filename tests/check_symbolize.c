/* check_symbolize.c - names and lines of C functions, compared with what
 * binutils say of the same file; files that are not what they should be; and
 * the cache of answers.
 */
#include <check.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/demangle.h"
#include "report/symbolize.h"
#include "report/symbolize_files.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- a symbolizer and what it is asked ---- */

static struct strpool strings;
static struct symbolizer *s;
static struct symbolizer_opts opts;

static void begin(void)
{
	s = symbolizer__new(&opts, &strings);
	ck_assert_ptr_nonnull(s);
}

static void end(void)
{
	symbolizer__delete(s);
	s = NULL;
}

/* A module at PATH, made absolute, with its build id or that of another file. */
static struct module module_of(const char *path, const char *id_of)
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
static void ours(const struct module *m, uint64_t addr, struct strbuf *out)
{
	struct symbol sym;
	size_t i;

	ck_assert_int_ge(symbolizer__resolve(s, m, addr), 0);
	sym = symbolizer__get(s, m, addr);
	strbuf__reset(out);
	for (i = 0; i < sym.n; i++) {
		struct strbuf func = STRBUF_INIT;
		char place[4200];

		symbolizer__add_func(s, sym.frames[i].func, &func);
		snprintf(place, sizeof(place), "%s:%llu", *sym.frames[i].file ? sym.frames[i].file : "??",
			 (unsigned long long)sym.frames[i].line);
		add_frame(out, strbuf__str(&func), place);
		strbuf__exit(&func);
	}
}

/* ---- other tools ---- */

static bool have(const char *tool)
{
	char cmd[200];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", tool);
	return system(cmd) == 0;
}

static void shell(const char *cmd)
{
	char full[4096];

	snprintf(full, sizeof(full), "set -e; SRC=${LJPERF_SOURCE:-.}/tests/hosts/cmod.c; "
				     "CC=${CC:-gcc}; %s", cmd);
	ck_assert_msg(system(full) == 0, "failed: %s", cmd);
}

/* Each test has a folder of its own, where the cache is, too. */
static void setup(void)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/symbolize.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	setenv("XDG_CACHE_HOME", dir, 1);
	unsetenv("DEBUGINFOD_URLS");
	opts = (struct symbolizer_opts){ .no_cache = true };
}

static void teardown(void)
{
	char dir[4096], cmd[4200];

	end();
	strpool__exit(&strings);
	if (getcwd(dir, sizeof(dir)) && strstr(dir, "symbolize.") && !chdir("/")) {
		snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
		ck_assert_int_eq(system(cmd), 0);
	}
}

struct function {
	uint64_t addr, size;
	char name[200];
};

enum { FUNCTIONS_MAX = 64 };

/* The functions of a file that have a size, as nm lists them. */
static size_t list_functions(const char *nm, const char *file, struct function *f)
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

/* What addr2line says of ADDR, in the form of ours(). */
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
static void compare_lines(const struct module *m, const char *ref)
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
			ours(m, addr, &got);
			ck_assert_msg(!strcmp(strbuf__str(&want), strbuf__str(&got)),
				      "0x%llx: got\n%swanted\n%s", (unsigned long long)addr,
				      strbuf__str(&got), strbuf__str(&want));
		}
	pclose(p);
	strbuf__exit(&want);
	strbuf__exit(&got);
}

/* The functions that nm lists for REF have these names, and no line. */
static size_t compare_names(const struct module *m, const char *nm, const char *ref)
{
	struct function f[FUNCTIONS_MAX];
	size_t n = list_functions(nm, ref, f), i;
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

	for (i = 0; i < n; i++) {
		strbuf__reset(&want);
		if (!demangle__append(f[i].name, &want))
			strbuf__addstr(&want, f[i].name);
		strbuf__addstr(&want, " at ??:0\n");
		ours(m, f[i].addr, &got);
		ck_assert_str_eq(strbuf__str(&got), strbuf__str(&want));
		ours(m, f[i].addr + f[i].size - 1, &got); /* its last byte */
		ck_assert_str_eq(strbuf__str(&got), strbuf__str(&want));
	}
	strbuf__exit(&want);
	strbuf__exit(&got);
	return n;
}

/* ---- ways to build ---- */

#define SO "$CC -shared -fPIC -Wl,--build-id "
#define EXE "$CC -nostdlib -Wl,-e,cmod_make -Wl,--unresolved-symbols=ignore-all -Wl,--build-id "

static const struct {
	const char *name, *build, *needs;
} with_lines[] = {
	{ "optimised", SO "-g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "not optimised", SO "-g -O0 $SRC -o x.so; cp x.so ref", NULL },
	{ "DWARF 4", SO "-gdwarf-4 -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "compressed", SO "-g -gz -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "no index by address", "clang -shared -fPIC -g -O2 $SRC -o x.so; cp x.so ref", "clang" },
	{ "PIE", EXE "-pie -fPIE -g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "not PIE", EXE "-no-pie -g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "first segment not at 0", SO "-g -O2 -Wl,-Ttext-segment=0x200000 $SRC -o x.so; cp x.so ref",
	  NULL },
	{ "segments apart", SO "-g -O2 -Wl,-z,separate-code -Wl,-z,max-page-size=0x200000 $SRC -o x.so; "
			    "cp x.so ref", NULL },
	{ "segments together", SO "-g -O2 -Wl,-z,noseparate-code $SRC -o x.so; cp x.so ref", NULL },
	{ "debug file by build id, --debug-dir",
	  SO "-g -O2 $SRC -o x.so; cp x.so ref; id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); "
	     "rest=${id#??}; mkdir -p debug/.build-id/${id%$rest}; "
	     "objcopy --only-keep-debug x.so debug/.build-id/${id%$rest}/$rest.debug; strip x.so", NULL },
	{ "debug link in the folder",
	  SO "-g -O2 $SRC -o x.so; cp x.so ref; objcopy --only-keep-debug x.so x.debug; "
	     "strip x.so; objcopy --add-gnu-debuglink=x.debug x.so", NULL },
	{ "debug link in .debug, no build id: by CRC",
	  "$CC -shared -fPIC -Wl,--build-id=none -g -O2 $SRC -o x.so; cp x.so ref; "
	  "objcopy --only-keep-debug x.so x.debug; strip x.so; "
	  "objcopy --add-gnu-debuglink=x.debug x.so; mkdir .debug; mv x.debug .debug/", NULL },
	{ "debug link in a tree of debug files",
	  SO "-g -O2 $SRC -o x.so; cp x.so ref; objcopy --only-keep-debug x.so x.debug; "
	     "strip x.so; objcopy --add-gnu-debuglink=x.debug x.so; "
	     "mkdir -p debug$PWD; mv x.debug debug$PWD/", NULL },
	{ "supplementary debug file", SO "-g -O2 $SRC -o x.so; cp x.so ref; "
				      "cp x.so y.so; dwz -m common x.so y.so", "dwz" },
};

START_TEST(test_with_lines)
{
	struct module m;

	if (with_lines[_i].needs && !have(with_lines[_i].needs)) {
		printf("skip %s %s is not installed\n", with_lines[_i].name, with_lines[_i].needs);
		return;
	}
	shell(with_lines[_i].build);
	opts.debug_dir = "debug";
	m = module_of("x.so", "x.so");
	begin();
	compare_lines(&m, "ref");
}
END_TEST

static const struct {
	const char *name, *build, *nm, *needs;
	size_t least; /* functions */
} without_lines[] = {
	{ "symbol table", SO "-O2 $SRC -o x.so; cp x.so ref", "nm", NULL, 8 },
	{ "dynamic symbols", SO "-O2 $SRC -o x.so; strip x.so; cp x.so ref", "nm -D", NULL, 4 },
	{ "mini debug information",
	  SO "-O2 -ffunction-sections $SRC -o x.so; cp x.so ref; objcopy -S --keep-symbol=hidden "
	     "--keep-symbol=closure --keep-symbol=nameless x.so mini; xz -z mini; strip x.so; "
	     "objcopy --add-section .gnu_debugdata=mini.xz x.so; xz -d mini.xz; mv mini ref", "nm", "xz",
	  3 },
};

START_TEST(test_without_lines)
{
	struct module m;

	if (without_lines[_i].needs && !have(without_lines[_i].needs)) {
		printf("skip %s %s is not installed\n", without_lines[_i].name, without_lines[_i].needs);
		return;
	}
	shell(without_lines[_i].build);
	m = module_of("x.so", "x.so");
	begin();
	ck_assert_uint_ge(compare_names(&m, without_lines[_i].nm, "ref"), without_lines[_i].least);
}
END_TEST

/* The static functions of a stripped library have no name: not that of the
 * exported one before them. */
START_TEST(test_no_name)
{
	struct function f[FUNCTIONS_MAX];
	struct strbuf got = STRBUF_INIT;
	struct module m;
	size_t i, n, tried = 0;

	shell(SO "-O2 $SRC -o ref; cp ref x.so; strip x.so");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	begin();
	for (i = 0; i < n; i++) {
		if (strcmp(f[i].name, "hidden") && strcmp(f[i].name, "nameless"))
			continue;
		ours(&m, f[i].addr, &got);
		ck_assert_str_eq(strbuf__str(&got), "");
		tried++;
	}
	ck_assert_uint_eq(tried, 2);
	strbuf__exit(&got);
}
END_TEST

START_TEST(test_mangled)
{
	struct strbuf got = STRBUF_INIT;
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t i, n;

	shell(SO "-O2 $SRC -o x.so");
	n = list_functions("nm -D", "x.so", f);
	opts.mangled = true;
	m = module_of("x.so", "x.so");
	begin();
	for (i = 0; i < n; i++) {
		ours(&m, f[i].addr, &got);
		ck_assert_int_eq(strncmp(strbuf__str(&got), f[i].name, strlen(f[i].name)), 0);
	}
	strbuf__exit(&got);
}
END_TEST

/* ---- files that are not what they should be ---- */

static const struct {
	const char *name, *make;
} no_files[] = {
	{ "not there", ":" },
	{ "a folder", "mkdir x.so" },
	{ "a FIFO", "mkfifo x.so" },
	{ "a device", "ln -s /dev/zero x.so" },
	{ "a socket's end", "ln -s /proc/self/fd/0 x.so" },
	{ "a link to itself", "ln -s x.so x.so" },
	{ "empty", ": >x.so" },
	{ "text", "echo hello >x.so" },
	{ "a head only", "head -c 64 ref >x.so" },
	{ "four bytes", "printf '\\177ELF' >x.so" },
	{ "another file", SO "-O1 $SRC -o x.so" },
	{ "no build id", "$CC -shared -fPIC -Wl,--build-id=none $SRC -o x.so" },
	{ "an object file", "$CC -c -fPIC $SRC -o x.so" },
};

START_TEST(test_no_file)
{
	struct function f[FUNCTIONS_MAX];
	struct strbuf got = STRBUF_INIT;
	struct module m;

	shell(SO "-g -O2 $SRC -o ref");
	shell(no_files[_i].make);
	m = module_of("x.so", "ref");
	ck_assert_uint_gt(list_functions("nm", "ref", f), 0);
	begin();
	ours(&m, f[0].addr, &got);
	ck_assert_str_eq(strbuf__str(&got), "");
	strbuf__exit(&got);
}
END_TEST

/* A debug file that is a FIFO, and a link to one. */
START_TEST(test_debug_fifo)
{
	struct strbuf got = STRBUF_INIT;
	struct module m;

	shell(SO "-g -O2 $SRC -o x.so; objcopy --only-keep-debug x.so x.debug; strip x.so; "
		 "objcopy --add-gnu-debuglink=x.debug x.so; rm x.debug; mkfifo x.debug; "
		 "id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); rest=${id#??}; "
		 "mkdir -p debug/.build-id/${id%$rest}; mkfifo debug/.build-id/${id%$rest}/$rest.debug");
	opts.debug_dir = "debug";
	m = module_of("x.so", "x.so");
	begin();
	ck_assert_uint_ge(compare_names(&m, "nm -D", "x.so"), 4);
	strbuf__exit(&got);
}
END_TEST

static uint8_t *read_file(const char *path, size_t *len)
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

static void write_file(const char *path, const uint8_t *buf, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(buf, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

/* Asks of a damaged file; any answer is good that comes. */
static void ask_damaged(const struct function *f, size_t n)
{
	struct module m = module_of("x.so", NULL);
	struct strbuf got = STRBUF_INIT;
	size_t i;

	begin();
	for (i = 0; i < n; i++)
		ours(&m, f[i].addr, &got);
	ours(&m, UINT64_MAX, &got);
	end();
	strbuf__exit(&got);
}

START_TEST(test_truncated)
{
	struct function f[FUNCTIONS_MAX];
	size_t n, len, cut;
	uint8_t *buf;

	shell(SO "-g -O2 $SRC -o ref");
	n = list_functions("nm", "ref", f);
	buf = read_file("ref", &len);
	for (cut = 0; cut < len; cut += 101) {
		write_file("x.so", buf, cut);
		ask_damaged(f, n);
	}
	free(buf);
}
END_TEST

/* One byte in two hundred is another one. */
START_TEST(test_corrupt)
{
	struct function f[FUNCTIONS_MAX];
	size_t n, len, i;
	uint32_t seed = (uint32_t)_i * 7919 + 1;
	uint8_t *buf;
	int round;

	shell(SO "-g -O2 $SRC -o ref");
	n = list_functions("nm", "ref", f);
	for (round = 0; round < 20; round++) {
		buf = read_file("ref", &len);
		for (i = 64; i < len; i++) {
			seed = seed * 1103515245 + 12345;
			if (seed >> 16 < 65536 / 200)
				buf[i] = (uint8_t)(seed >> 8);
		}
		write_file("x.so", buf, len);
		ask_damaged(f, n);
		free(buf);
	}
}
END_TEST

/* ---- the cache ---- */

static char cache[4096 + 200];

/* The one file of the cache. */
static void find_cache(void)
{
	FILE *p = popen("ls ljperf/symbols", "r");
	char name[200] = "";

	ck_assert_ptr_nonnull(fgets(name, sizeof(name), p));
	name[strcspn(name, "\n")] = '\0';
	pclose(p);
	snprintf(cache, sizeof(cache), "ljperf/symbols/%s", name);
}

static void fill_cache(const struct module *m, const struct function *f, size_t n)
{
	struct strbuf got = STRBUF_INIT;
	size_t i;

	opts.no_cache = false;
	begin();
	for (i = 0; i < n; i++)
		ours(m, f[i].addr, &got);
	symbolizer__save(s);
	end();
	strbuf__exit(&got);
}

/* How many of the functions have a name. */
static size_t count_named(const struct module *m, const struct function *f, size_t n)
{
	struct strbuf got = STRBUF_INIT;
	size_t i, named = 0;

	begin();
	for (i = 0; i < n; i++) {
		ours(m, f[i].addr, &got);
		named += got.len > 0;
	}
	end();
	strbuf__exit(&got);
	return named;
}

START_TEST(test_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	struct stat st;
	size_t n;

	shell(SO "-g -O2 $SRC -o x.so; cp x.so ref");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	fill_cache(&m, f, n);
	find_cache();
	ck_assert_int_eq(stat(cache, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	shell("rm x.so");
	ck_assert_uint_eq(count_named(&m, f, n), n);
	begin();
	opts.no_cache = true;
	end();
	ck_assert_uint_eq(count_named(&m, f, n), 0);
	/* With the file there, the answers are the same as without the cache. */
	opts.no_cache = false;
	begin();
	shell("cp ref x.so");
	compare_lines(&m, "ref");
}
END_TEST

/* Each byte another one, and each length: it is not believed.  The name of the
 * file stands for all that could be wrong with the module. */
START_TEST(test_bad_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t n, len, i;
	uint8_t *buf;

	shell(SO "-g -O2 $SRC -o x.so; cp x.so ref");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	fill_cache(&m, f, n);
	find_cache();
	buf = read_file(cache, &len);
	shell("rm x.so");
	for (i = 0; i < len; i++) {
		buf[i] ^= 0x20;
		write_file(cache, buf, len);
		buf[i] ^= 0x20;
		ck_assert_uint_eq(count_named(&m, f, n), 0);
		write_file(cache, buf, i);
		ck_assert_uint_eq(count_named(&m, f, n), 0);
	}
	write_file(cache, buf, len);
	ck_assert_uint_eq(count_named(&m, f, n), n);
	ck_assert_int_eq(chmod(cache, 0622), 0); /* others may have written it */
	ck_assert_uint_eq(count_named(&m, f, n), 0);
	free(buf);
}
END_TEST

/* A debug file that comes later is better than what is remembered. */
START_TEST(test_stale_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t n;

	shell(SO "-g -O2 $SRC -o ref; cp ref x.so; strip x.so");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	opts.debug_dir = "debug";
	fill_cache(&m, f, n);
	ck_assert_uint_lt(count_named(&m, f, n), n);
	shell("id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); rest=${id#??}; "
	      "mkdir -p debug/.build-id/${id%$rest}; "
	      "objcopy --only-keep-debug ref debug/.build-id/${id%$rest}/$rest.debug");
	begin();
	compare_lines(&m, "ref");
}
END_TEST

/* ---- readable names ---- */

static const struct {
	const char *symbol, *name; /* by the rules of the Itanium ABI and of Rust */
} manglings[] = {
	{ "_ZN3foo3barEi", "foo::bar(int)" },
	{ "_ZN5words5Table4fillEPKci", "words::Table::fill(char const*, int)" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ "_RNvC7mycrate3foo", "mycrate::foo" },
	{ "_RNvNtC3std3mem8align_of", "std::mem::align_of" },
	{ "main", NULL }, { "_Z", NULL }, { "_ZN", NULL }, { "_Zfoo", NULL }, { "", NULL },
	{ "_R", NULL }, { "lj_cf_string_format", NULL },
};

START_TEST(test_manglings)
{
	struct strbuf out = STRBUF_INIT;
	bool mangled;

	strbuf__addstr(&out, "<");
	mangled = demangle__append(manglings[_i].symbol, &out);
	ck_assert_int_eq(mangled, manglings[_i].name != NULL);
	ck_assert_str_eq(strbuf__str(&out) + 1, mangled ? manglings[_i].name : "");
	ck_assert_int_eq(out.buf[0], '<');
	strbuf__exit(&out);
}
END_TEST

/* S_IS0_S0_E is a pair of two of the pair before: N of them are 2^N long. */
START_TEST(test_endless_name)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct strbuf symbol = STRBUF_INIT, out = STRBUF_INIT;
	int i, levels = _i ? 34 : 8;

	strbuf__addstr(&symbol, "_Z1fSt4pairIiiE");
	for (i = 0; i < levels; i++)
		strbuf__addf(&symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	ck_assert_int_eq(demangle__append(strbuf__str(&symbol), &out), levels == 8);
	ck_assert_uint_le(out.len, 64 * 1024);
	if (levels == 8) /* 2^8 pairs of two "int" in it, and all the smaller ones */
		ck_assert_uint_gt(out.len, 256 * strlen("pair<int, int>"));
	else
		ck_assert_uint_eq(out.len, 0);
	strbuf__exit(&symbol);
	strbuf__exit(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbolize");
	TCase *tc = tcase_create("files"), *names = tcase_create("names");
	SRunner *sr = srunner_create(suite);
	int failed;

	setbuf(stdout, NULL); /* "skip" of a test that runs in a child */
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_with_lines, 0, COUNT(with_lines));
	tcase_add_loop_test(tc, test_without_lines, 0, COUNT(without_lines));
	tcase_add_test(tc, test_no_name);
	tcase_add_test(tc, test_mangled);
	tcase_add_loop_test(tc, test_no_file, 0, COUNT(no_files));
	tcase_add_test(tc, test_debug_fifo);
	tcase_add_test(tc, test_truncated);
	tcase_add_loop_test(tc, test_corrupt, 0, 5);
	tcase_add_test(tc, test_cache);
	tcase_add_test(tc, test_bad_cache);
	tcase_add_test(tc, test_stale_cache);
	tcase_add_loop_test(names, test_manglings, 0, COUNT(manglings));
	tcase_add_loop_test(names, test_endless_name, 0, 2);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, names);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
