/* check_hashmap.c - the hash map: what was added is found, whatever the keys have
 * in common, and no file can be made to collide.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib_suite.h"
#include "util/hashmap.h"

enum { KEYS = 20000 };

static uint64_t keys[KEYS];
static const char *program; /* this one */

static uint32_t find(const struct hashmap *m, uint64_t key)
{
	uint64_t hash = hash__u64(key);
	uint32_t pos, id;

	for (id = hashmap__first(m, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(m, hash, &pos))
		if (keys[id] == key)
			return id;
	return HASHMAP_NONE;
}

/* Keys that differ in a few bits only, low or high: as addresses do. */
static const unsigned shifts[] = { 0, 4, 12, 20, 32, 44 };

START_TEST(all_are_found)
{
	struct hashmap m = { NULL, 0, 0 };
	uint32_t i;

	ck_assert_uint_eq(find(&m, 1), HASHMAP_NONE);
	for (i = 0; i < KEYS; i++) {
		keys[i] = (uint64_t)i << shifts[_i];
		ck_assert_int_eq(hashmap__add(&m, hash__u64(keys[i]), i), 0);
	}
	for (i = 0; i < KEYS; i++)
		if (find(&m, keys[i]) != i)
			ck_abort_msg("key %u is lost", i);
	for (i = 0; i < KEYS; i++)
		if (find(&m, (uint64_t)(KEYS + i) << shifts[_i]) != HASHMAP_NONE)
			ck_abort_msg("key %u was never added", KEYS + i);
	hashmap__clear(&m);
	ck_assert_uint_eq(find(&m, keys[1]), HASHMAP_NONE);
	hashmap__exit(&m);
}
END_TEST

/* A process that is started anew, as this one, hashes in another way. */
START_TEST(seeds_are_new)
{
	uint64_t own[2] = { hash_seed[0], hash_seed[1] }, other[2] = { 0 };
	char *argv[] = { (char[]){ "check_hashmap" }, (char[]){ "--seeds" }, NULL };
	int fds[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		execvp(program, argv);
		_exit(127);
	}
	close(fds[1]);
	ck_assert_int_eq((int)read(fds[0], other, sizeof(other)), (int)sizeof(other));
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_uint_ne(own[0], other[0]);
	ck_assert_uint_ne(own[1], other[1]);
	ck_assert_uint_eq(other[0] & other[1] & 1, 1);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("hashmap");
	TCase *t = tcase_create("hashmap");

	tcase_add_loop_test(t, all_are_found, 0, sizeof(shifts) / sizeof(*shifts));
	tcase_add_test(t, seeds_are_new);
	suite_add_tcase(s, t);
	return s;
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1) /* see above */
		return write(STDOUT_FILENO, hash_seed, sizeof(hash_seed)) !=
		       (ssize_t)sizeof(hash_seed);
	return run_suite(suite());
}
