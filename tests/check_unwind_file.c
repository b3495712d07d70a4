/* check_unwind_file.c - the file that native call stacks are walked by is the
 * one that the process has loaded, or none; here it is that of this program.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/ring.h"
#include "record/unwind_file.h"
#include "tests/lib_suite.h"

/* Names of the VM's interface: the first says that there is a VM here. */
int lua_newstate(int n);
int luaL_something(int n);

__attribute__((noinline)) int lua_newstate(int n)
{
	return n ? luaL_something(n - 1) + 1 : 0;
}

__attribute__((noinline)) int luaL_something(int n)
{
	return n ? lua_newstate(n - 1) * 3 : 1;
}

static char self[PATH_MAX];
static uint64_t bias;
static uint8_t build_id[64], head[4096];
static size_t build_id_len;

static int on_module(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *at, *end;
	unsigned i;

	(void)size, (void)data;
	bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const ElfW(Nhdr) * n;

		at = (const char *)(bias + ph->p_vaddr);
		end = at + ph->p_memsz;
		for (; ph->p_type == PT_NOTE && at + sizeof(*n) < end;
		     at += sizeof(*n) + ((n->n_namesz + 3) & ~3u) + ((n->n_descsz + 3) & ~3u)) {
			n = (const void *)at;
			if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 ||
			    n->n_descsz > sizeof(build_id))
				continue;
			build_id_len = n->n_descsz;
			memcpy(build_id, at + sizeof(*n) + 4, build_id_len);
		}
	}
	return 1; /* the first one is this program */
}

static void setup(void)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(read(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	dl_iterate_phdr(on_module, NULL);
	alarm(20); /* a file that is waited for */
}

static struct unwind_file *open_by_id(const char *path, const uint8_t *id, size_t len)
{
	struct unwind_want want = { path, id, len, 0 };

	return unwind_file__open(getpid(), &want);
}

static struct unwind_file *open_by_sum(const char *path, uint64_t sum)
{
	struct unwind_want want = { path, NULL, 0, sum };

	return unwind_file__open(getpid(), &want);
}

static void check_rules(struct unwind_file *f)
{
	uint64_t pc = (uint64_t)(uintptr_t)luaL_something - bias;

	ck_assert_ptr_nonnull(f);
	ck_assert(unwind_file__rule(f, pc + 1).usable);
	ck_assert(!unwind_file__rule(f, 0).usable);
	ck_assert(!unwind_file__rule(f, UINT64_MAX / 2).usable);
}

START_TEST(test_build_id)
{
	struct unwind_file *f;

	if (!build_id_len)
		return; /* this linker writes none */
	f = open_by_id(self, build_id, build_id_len);
	check_rules(f);
	unwind_file__delete(f);
	ck_assert_ptr_null(open_by_id(self, build_id, build_id_len - 1));
	build_id[build_id_len - 1] ^= 1;
	ck_assert_ptr_null(open_by_id(self, build_id, build_id_len));
}
END_TEST

START_TEST(test_first_page)
{
	struct unwind_file *f = open_by_sum(self, ring_head_sum(head, sizeof(head)));

	check_rules(f);
	unwind_file__delete(f);
	ck_assert_ptr_null(open_by_sum(self, 0));
	head[sizeof(head) - 1] ^= 1;
	ck_assert_ptr_null(open_by_sum(self, ring_head_sum(head, sizeof(head))));
}
END_TEST

START_TEST(test_interface)
{
	struct unwind_file *f = open_by_sum(self, ring_head_sum(head, sizeof(head)));

	ck_assert_ptr_nonnull(f);
	ck_assert(unwind_file__is_api(f, (uint64_t)(uintptr_t)lua_newstate - bias));
	ck_assert(unwind_file__is_api(f, (uint64_t)(uintptr_t)luaL_something - bias + 1));
	ck_assert(!unwind_file__is_api(f, (uint64_t)(uintptr_t)setup - bias));
	unwind_file__delete(f);
}
END_TEST

/* A copy of this program, LEN bytes of it. */
static void copy_self(char *path, off_t len)
{
	char cmd[2 * PATH_MAX];
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	snprintf(cmd, sizeof(cmd), "cp '%s' '%s'", self, path);
	ck_assert_int_eq(system(cmd), 0);
	if (len >= 0)
		ck_assert_int_eq(truncate(path, len), 0);
}

/* The process writes over the file that is open: no SIGBUS. */
START_TEST(test_file_shrinks)
{
	char path[] = "/tmp/ljperf-unwind.XXXXXX";
	struct unwind_file *f;

	copy_self(path, -1);
	f = open_by_sum(path, ring_head_sum(head, sizeof(head)));
	ck_assert_int_eq(truncate(path, 0), 0);
	check_rules(f);
	unwind_file__delete(f);
	unlink(path);
}
END_TEST

/* Whatever is left of it: rules or none. */
START_TEST(test_cut_file)
{
	static const off_t lengths[] = { 0, 1, 63, 64, 4095, 4096, 5000, 8192, 20000, 50000 };
	char path[] = "/tmp/ljperf-unwind.XXXXXX";
	struct unwind_file *f;

	copy_self(path, lengths[_i]);
	f = open_by_sum(path, ring_head_sum(head, sizeof(head)));
	if (f)
		unwind_file__rule(f, (uint64_t)(uintptr_t)luaL_something - bias);
	unwind_file__delete(f);
	f = open_by_id(path, build_id, build_id_len);
	unwind_file__delete(f);
	unlink(path);
}
END_TEST

START_TEST(test_no_file)
{
	char dir[] = "/tmp/ljperf-unwind.XXXXXX", path[64];
	uint64_t sum = ring_head_sum(head, sizeof(head));

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(open_by_sum(path, sum));
	unlink(path);
	ck_assert_ptr_null(open_by_sum(path, sum));
	ck_assert_ptr_null(open_by_sum(dir, sum));
	ck_assert_ptr_null(open_by_sum("/dev/zero", sum));
	ck_assert_ptr_null(open_by_sum("[vdso]", sum));
	ck_assert_ptr_null(open_by_sum("", sum));
	rmdir(dir);
}
END_TEST

/* kB of memory that this process has needed at most. */
static long peak_kb(void)
{
	struct rusage u;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

/* A copy of this program, changed so that nothing but its first page tells it. */
struct copy {
	char path[64];
	int fd;
	Elf64_Ehdr eh;
};

static void copy_begin(struct copy *c)
{
	snprintf(c->path, sizeof(c->path), "/tmp/ljperf-unwind.XXXXXX");
	copy_self(c->path, -1);
	c->fd = open(c->path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pread(c->fd, &c->eh, sizeof(c->eh), 0), sizeof(c->eh));
}

/* Opened by what its first page is by now. */
static struct unwind_file *copy_open(struct copy *c)
{
	uint8_t page[4096];

	ck_assert_int_eq(pwrite(c->fd, &c->eh, sizeof(c->eh), 0), sizeof(c->eh));
	ck_assert_int_eq(pread(c->fd, page, sizeof(page), 0), sizeof(page));
	return open_by_sum(c->path, ring_head_sum(page, sizeof(page)));
}

static void copy_end(struct copy *c)
{
	close(c->fd);
	unlink(c->path);
}

/* Each section is said to be 100 MiB larger, and the file is.  Whoever reads one of
 * them needs that much memory. */
START_TEST(test_large_sections)
{
	const off_t more = (off_t)100 << 20;
	struct copy c;
	struct unwind_file *f;
	Elf64_Shdr sh;
	struct stat st;
	long before;
	int i;

	copy_begin(&c);
	ck_assert_int_eq(fstat(c.fd, &st), 0);
	for (i = 1; i < c.eh.e_shnum; i++) {
		off_t at = (off_t)c.eh.e_shoff + i * (off_t)sizeof(sh);

		ck_assert_int_eq(pread(c.fd, &sh, sizeof(sh), at), sizeof(sh));
		sh.sh_size += (uint64_t)more;
		ck_assert_int_eq(pwrite(c.fd, &sh, sizeof(sh), at), sizeof(sh));
	}
	ck_assert_int_eq(posix_fallocate(c.fd, st.st_size, more), 0);
	before = peak_kb();
	f = copy_open(&c);
	ck_assert_ptr_nonnull(f);
	ck_assert(!unwind_file__rule(f, (uint64_t)(uintptr_t)luaL_something - bias).usable);
	unwind_file__delete(f);
	ck_assert_int_lt(peak_kb() - before, 64 << 10);
	copy_end(&c);
}
END_TEST

/* A file is as large as its writer likes, when it has holes. */
START_TEST(test_holes)
{
	struct copy c;

	copy_begin(&c);
	ck_assert_int_eq(ftruncate(c.fd, (off_t)1 << 30), 0);
	ck_assert_ptr_null(copy_open(&c));
	copy_end(&c);
}
END_TEST

/* More sections or segments than the header can count: their number stands in the
 * first section.  libelf allocates for as many, if the file is large enough. */
START_TEST(test_counts)
{
	struct copy c;

	copy_begin(&c);
	if (_i)
		c.eh.e_phnum = PN_XNUM;
	else
		c.eh.e_shnum = 0;
	ck_assert_ptr_null(copy_open(&c));
	copy_end(&c);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("unwind_file");
	TCase *tc = tcase_create("unwind_file");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_build_id);
	tcase_add_test(tc, test_first_page);
	tcase_add_test(tc, test_interface);
	tcase_add_test(tc, test_file_shrinks);
	tcase_add_loop_test(tc, test_cut_file, 0, 10);
	tcase_add_test(tc, test_no_file);
	tcase_add_test(tc, test_large_sections);
	tcase_add_test(tc, test_holes);
	tcase_add_loop_test(tc, test_counts, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
