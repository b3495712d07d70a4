/* ljperf.c - main(), the table of commands, and the commands that are about
 * ljperf itself: config, help and version.
 *
 * A command returns the exit status.  What it printed counts only when it
 * reached its destination: main() closes stdout and reports a full disk.
 */
#include "ljperf.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "util/error.h"
#include "util/manpage.h"
#include "util/options.h"
#include "util/settings.h"
#include "util/strbuf.h"
#include "util/text.h"

static const struct command commands[] = {
	{ "record", cmd_record, "run a program and record what its Lua VM allocates" },
	{ "report", cmd_report, "show where memory was allocated, as a table" },
	{ "diff", cmd_diff, "show what changed between recordings" },
	{ "annotate", cmd_annotate, "show source lines with what they allocated" },
	{ "export", cmd_export, "write a recording in the format of another tool" },
	{ "script", cmd_script, "print every event of a recording" },
	{ "info", cmd_info, "show how and on what a recording was made" },
	{ "archive", cmd_archive, "pack a recording with the files its names come from" },
	{ "import", cmd_import, "make a recording of what misc.memprof wrote" },
	{ "list", cmd_list, "list the events and backends of this machine" },
	{ "config", cmd_config, "print the settings of the user's files" },
	{ "help", cmd_help, "show the manual page of a command" },
	{ "version", cmd_version, "print the version" },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static const char *near_command(const char *name)
{
	const char *names[N_COMMANDS];

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	return options__suggest(name, names, N_COMMANDS);
}

static int unknown_command(const char *name)
{
	const char *near = near_command(name);

	if (near)
		err__print("unknown command '%s', did you mean '%s'?", name, near);
	else
		err__print("unknown command '%s', 'ljperf help' lists them", name);
	return EXIT_LJPERF;
}

static void print_commands(void)
{
	printf("Usage: ljperf COMMAND [OPTIONS] [ARGUMENTS]\n\n"
	       "A memory profiler for LuaJIT programs.\n\nCommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("    %-10s%s\n", commands[i].name, commands[i].help);
	printf("\nTo begin:   ljperf record SCRIPT.lua   and then   ljperf report\n"
	       "Options:    ljperf COMMAND -h\nManual:     ljperf help COMMAND\n");
}

/* ---- config ---- */

/* Those that may be a section. */
static bool takes_settings(const struct command *cmd)
{
	return cmd && cmd->run != cmd_config && cmd->run != cmd_help && cmd->run != cmd_version;
}

/* Loads the settings, all of which must be for a command. */
static int load_settings(void)
{
	int err = settings__load();

	for (size_t i = 0; !err && i < settings__count(); i++) {
		const struct setting *s = settings__at(i);
		const char *near;

		if (takes_settings(find_command(s->section)))
			continue;
		near = near_command(s->section);
		err = near ? err__set(-EINVAL, "no command '%s' has settings, did you mean '%s'?",
				      s->section, near)
			   : err__set(-EINVAL, "no command '%s' has settings", s->section);
		err = setting__fail(s, err);
	}
	return err;
}

/* Each command checks its own; what is wrong it prints. */
static int check_settings(void)
{
	int status = EXIT_SUCCESS;

	for (size_t i = 0; i < N_COMMANDS && status == EXIT_SUCCESS; i++) {
		const char *argv[] = { commands[i].name, OPTIONS_CHECK_ARGUMENT, NULL };

		if (takes_settings(&commands[i]))
			status = commands[i].run(2, argv);
	}
	return status;
}

static void print_setting(const struct setting *s)
{
	char value[1024], file[4 * PATH_MAX];

	text__safe(value, sizeof(value), s->value);
	text__safe(file, sizeof(file), s->file);
	printf("%s.%s=%s\t# %s:%u\n", s->section, s->name, value, file, s->line);
}

/* The one named COMMAND.OPTION that counts, or NULL. */
static const struct setting *find_setting(const char *name)
{
	const char *dot = strchr(name, '.');
	size_t len = dot ? (size_t)(dot - name) : 0;

	for (size_t i = settings__count(); dot && i-- > 0;) {
		const struct setting *s = settings__at(i);

		if (strlen(s->section) == len && !strncmp(s->section, name, len) &&
		    !strcmp(s->name, dot + 1))
			return s;
	}
	return NULL;
}

static void print_settings(void)
{
	char name[128];

	for (size_t i = 0; i < settings__count(); i++) {
		const struct setting *s = settings__at(i);

		snprintf(name, sizeof(name), "%s.%s", s->section, s->name);
		if (find_setting(name) == s)
			print_setting(s);
	}
	if (!settings__count())
		fprintf(stderr, "ljperf: nothing is set; see ljperf-config(1)\n");
}

int cmd_config(int argc, const char **argv)
{
	static const struct option opts[] = { OPT_END() };
	int n = options__parse(argc, argv, opts, "ljperf config [COMMAND.OPTION]", 0, NULL);
	const struct setting *s;
	char value[1024]; /* a line of a file, escaped */

	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n > 1)
		n = err__set(-EINVAL, "config takes one name, not '%s' too", argv[2]);
	if (n < 0) {
		fprintf(stderr, "ljperf: %s\n", err__msg());
		return EXIT_LJPERF;
	}
	if (check_settings() != EXIT_SUCCESS)
		return EXIT_LJPERF;
	if (n == 0) {
		print_settings();
		return EXIT_SUCCESS;
	}
	s = find_setting(argv[1]);
	if (!s)
		return EXIT_FAILURE;
	text__safe(value, sizeof(value), s->value);
	puts(value);
	return EXIT_SUCCESS;
}

/* ---- help ---- */

/* help and version stand in the page of ljperf itself. */
static const char *page_of(const struct command *cmd)
{
	return cmd->run == cmd_help || cmd->run == cmd_version ? NULL : cmd->name;
}

static int help_of(const char *name)
{
	const struct command *cmd = find_command(name);
	const char *argv[] = { name, "-h", NULL };

	if (!cmd)
		return unknown_command(name);
	if (!manpage__show(page_of(cmd)))
		return EXIT_SUCCESS;
	/* No page or no program to show it: the options are better than nothing. */
	return cmd->run(2, argv);
}

int cmd_help(int argc, const char **argv)
{
	static const struct option opts[] = { OPT_END() };
	int n = options__parse(argc, argv, opts, "ljperf help [COMMAND]", 0, NULL);

	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n > 1)
		n = err__set(-EINVAL, "help takes one command, not '%s' too", argv[2]);
	if (n < 0) {
		fprintf(stderr, "ljperf: %s\n", err__msg());
		return EXIT_LJPERF;
	}
	if (n == 1)
		return help_of(argv[1]);
	print_commands();
	return EXIT_SUCCESS;
}

/* ---- version ---- */

static void print_build_options(void)
{
	printf("compiler:  %s, %s\n", BUILD_CC, __VERSION__);
	printf("sanitizer: %s\n", *BUILD_SAN ? BUILD_SAN : "none");
	printf("LuaJIT:    %s\n", BUILD_LUAJIT);
	printf("elfutils:  %s\n", BUILD_ELFUTILS);
	printf("zstd:      %s, running %s\n", ZSTD_VERSION_STRING, ZSTD_versionString());
	printf("libexec:   %s\n", LJPERF_LIBEXECDIR);
}

int cmd_version(int argc, const char **argv)
{
	static bool build_options;
	static const struct option opts[] = { OPT_BOOL(0, "build-options", &build_options,
						       "print what was compiled in as well"),
					      OPT_END() };
	int n = options__parse(argc, argv, opts, "ljperf version [--build-options]", 0, NULL);

	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n > 0)
		n = err__set(-EINVAL, "version takes no argument, not '%s'", argv[1]);
	if (n < 0) {
		fprintf(stderr, "ljperf: %s\n", err__msg());
		return EXIT_LJPERF;
	}
	printf("ljperf %s\n", LJPERF_VERSION);
	if (build_options)
		print_build_options();
	return EXIT_SUCCESS;
}

/* ---- completion of shells, see completion/ ---- */

static int list_commands(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].help);
	return EXIT_SUCCESS;
}

static int list_options(const char *name)
{
	const struct command *cmd = name ? find_command(name) : NULL;
	const char *argv[] = { name, "--ljperf-list-options", NULL };

	return cmd ? cmd->run(2, argv) : EXIT_LJPERF;
}

/* ---- the Lua module ---- */

/* What package.cpath needs for require "ljperf": in the build folder the module
 * is beside us. */
static int print_cpath(void)
{
	static const char module[] = "ljperf.so";
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(module));
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;

	if (slash) {
		memcpy(slash + 1, module, sizeof(module));
		if (access(path, R_OK) == 0) {
			printf("%.*s/?.so\n", (int)(slash - path), path);
			return EXIT_SUCCESS;
		}
	}
	puts(LJPERF_LUADIR "/?.so");
	return EXIT_SUCCESS;
}

/* ---- main ---- */

static bool asks_for_help(int argc, const char **argv)
{
	return argc == 3 && (!strcmp(argv[2], "-h") || !strcmp(argv[2], "--help"));
}

static int run(int argc, const char **argv)
{
	const struct command *cmd;

	if (argc < 2) {
		print_commands();
		return EXIT_FAILURE;
	}
	if (!strcmp(argv[1], "--list-cmds"))
		return list_commands();
	if (!strcmp(argv[1], "--list-opts"))
		return list_options(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--cpath"))
		return print_cpath();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		argv[1] = "help";
	else if (!strcmp(argv[1], "-v") || !strcmp(argv[1], "--version"))
		argv[1] = "version";
	cmd = find_command(argv[1]);
	if (!cmd)
		return unknown_command(argv[1]);
	/* Who has to mend a file still gets help. */
	if (cmd->run != cmd_help && cmd->run != cmd_version && !asks_for_help(argc, argv) &&
	    load_settings()) {
		fprintf(stderr, "ljperf: %s\n", err__msg());
		return EXIT_LJPERF;
	}
	return cmd->run(argc - 1, argv + 1);
}

/* Whoever forgot to look at a string that had no room: what was printed is not
 * the whole. */
static int check_texts(int status)
{
	if (!strbuf__any_failed() || status == EXIT_LJPERF)
		return status;
	fprintf(stderr, "ljperf: out of memory for a text\n");
	return EXIT_LJPERF;
}

static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* A full disk is a failure even of a command that thinks it went well; a
 * reader that has seen enough (| head) is none. */
static int close_stdout(int status)
{
	bool wrote = __fpending(stdout) > 0, failed = ferror(stdout);
	bool gone = reader_is_gone();

	errno = 0;
	if (!fclose(stdout) && !failed)
		return status;
	/* Without a word to say, a stdout that was closed from the start is fine. */
	if (gone || errno == EPIPE || (errno == EBADF && !wrote && !failed))
		return status;
	fprintf(stderr, "ljperf: cannot write standard output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return status ? status : EXIT_LJPERF;
}

int main(int argc, char **argv)
{
	return close_stdout(check_texts(run(argc, (const char **)argv)));
}
