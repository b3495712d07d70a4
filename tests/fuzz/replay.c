/* replay.c - a plain main() for a fuzz target: gives it the files of its corpus.
 *
 * Linked with each tests/fuzz/fuzz_*.c by "make check", so that what fuzzing
 * found once is tried by every compiler and without libFuzzer.  The corpus of
 * fuzz_X is tests/fuzz/corpus/fuzz_X; other files can be named as arguments.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly SIZE bytes on the heap, so that a sanitizer sees a read beyond. */
static uint8_t *read_whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;

	if (f && !fstat(fileno(f), &st) && S_ISREG(st.st_mode)) {
		*size = (size_t)st.st_size;
		data = malloc(*size ? *size : 1);
		if (data && fread(data, 1, *size, f) != *size) {
			free(data);
			data = NULL;
		}
	}
	if (f)
		fclose(f);
	return data;
}

static int replay_file(const char *path)
{
	size_t size;
	uint8_t *data = read_whole(path, &size);

	if (!data) {
		printf("not ok %s: cannot be read\n", path);
		return -1;
	}
	/* Seen when the target crashes. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int replay_folder(const char *folder, unsigned *n)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		printf("not ok %s: cannot be opened\n", folder);
		return -1;
	}
	while ((entry = readdir(dir))) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		(*n)++;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
			err |= replay_file(path);
		else
			err = -1;
	}
	closedir(dir);
	return err;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/'), *source = getenv("LJPERF_SOURCE");
	char folder[PATH_MAX];
	unsigned n = 0;
	int err = 0;

	name = name ? name + 1 : argv[0];
	for (int i = 1; i < argc; i++, n++)
		err |= replay_file(argv[i]);
	if (argc < 2) {
		snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source ? source : ".",
			 name);
		err = replay_folder(folder, &n);
	}
	if (err || !n) {
		printf("not ok %s: %u files, not all of them readable\n", name, n);
		return EXIT_FAILURE;
	}
	printf("ok %s: %u files\n", name, n);
	return EXIT_SUCCESS;
}
