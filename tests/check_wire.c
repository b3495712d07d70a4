/* check_wire.c - what a program sends to the collector in place of a ring: it is
 * refused, and only what can be a ring is written to.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/stream.h"
#include "tests/lib_suite.h"
#include "util/error.h"

static struct stream *offer(int fd)
{
	static struct agent_hello hello = { .version = PROTOCOL_VERSION, .kind = MSG_RING };
	struct stream_vm vm = { &hello, getpid(), 1, true };
	struct stream_opts opts = { .output = "/nonexistent/file", .output_fd = -1 };

	return stream__new(&opts, &vm, dup(fd));
}

/* As large as a ring, and it holds what a ring begins with. */
static void fill(int fd)
{
	struct ring head = { .magic = RING_MAGIC, .version = RING_VERSION };

	ck_assert_int_eq(ftruncate(fd, RING_HEADER_BYTES + RING_MIN_BYTES), 0);
	ck_assert_int_eq((int)pwrite(fd, &head, sizeof(head), 0), (int)sizeof(head));
}

static struct ring head_of(int fd)
{
	struct ring head;

	ck_assert_int_eq((int)pread(fd, &head, sizeof(head), 0), (int)sizeof(head));
	return head;
}

START_TEST(file_is_not_written)
{
	FILE *f = tmpfile();
	struct ring head;

	fill(fileno(f));
	ck_assert_ptr_null(offer(fileno(f)));
	ck_assert_ptr_nonnull(strstr(err__msg(), "cannot use the ring"));
	head = head_of(fileno(f));
	ck_assert_uint_eq(atomic_load(&head.refused), 0);
	fclose(f);
}
END_TEST

/* Its owner is told not to wait; no output is made. */
static void check_refused(int fd)
{
	struct ring head;

	ck_assert_ptr_null(offer(fd));
	head = head_of(fd);
	ck_assert_uint_eq(atomic_load(&head.refused), 1);
	close(fd);
}

static int memory(unsigned flags, off_t len)
{
	int fd = memfd_create("ring", flags);

	ck_assert_int_ge(fd, 0);
	fill(fd);
	ck_assert_int_eq(ftruncate(fd, len), 0);
	return fd;
}

START_TEST(wrong_sizes)
{
	static const off_t sizes[] = { RING_HEADER_BYTES, RING_HEADER_BYTES + RING_MIN_BYTES - 8,
				       RING_HEADER_BYTES + RING_MIN_BYTES + 8,
				       RING_HEADER_BYTES + 3 * (off_t)RING_MIN_BYTES,
				       RING_HEADER_BYTES + (off_t)RING_MAX_BYTES + 8 };

	check_refused(memory(MFD_ALLOW_SEALING, sizes[_i]));
}
END_TEST

/* One that could shrink under us. */
START_TEST(unsealed)
{
	check_refused(memory(0, RING_HEADER_BYTES + RING_MIN_BYTES));
}
END_TEST

/* A ring that may not be written cannot be used, and says nothing. */
START_TEST(read_only)
{
	int fd = memory(MFD_ALLOW_SEALING, RING_HEADER_BYTES + RING_MIN_BYTES);

	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	ck_assert_ptr_null(offer(fd));
	close(fd);
}
END_TEST

START_TEST(another_version)
{
	int fd = memory(MFD_ALLOW_SEALING, RING_HEADER_BYTES + RING_MIN_BYTES);
	struct ring head = head_of(fd);

	head.version++;
	ck_assert_int_eq((int)pwrite(fd, &head, sizeof(head), 0), (int)sizeof(head));
	check_refused(fd);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("wire");
	TCase *t = tcase_create("wire");

	tcase_add_test(t, file_is_not_written);
	tcase_add_loop_test(t, wrong_sizes, 0, 5);
	tcase_add_test(t, unsealed);
	tcase_add_test(t, read_only);
	tcase_add_test(t, another_version);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
