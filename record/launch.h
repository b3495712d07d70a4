/* launch.h - starts the target with the agent in it.  Called by cmd_record.c
 * and cmd_list.c.
 */
#ifndef LJPERF_RECORD_LAUNCH_H
#define LJPERF_RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct launch {
	const char *program; /* path, or a name to be looked for in PATH */
	const char *const *argv; /* of the program, NULL at the end */
	const char *spec; /* for LJPERF_AGENT */
	const char *preload; /* path of the agent; NULL: it is in the program */
	int fds[2]; /* that the program inherits */
	bool stdout_to_stderr; /* our stdout takes the recording */
	sigset_t mask; /* signal mask of the target */
};

/* A file of ours, next to our own program when that is in the build folder,
 * else the one installed.  NULL with err__msg(). */
const char *launch__runner(void);
const char *launch__agent(void);

/* Whether COMMAND is something to execute: a path, or a name in PATH. */
bool launch__is_program(const char *command);

/* Whether NAME, which is to be a script, is none: a file of machine code, or no
 * file but a command that can be found. */
bool launch__is_no_script(const char *name);

/* Whether the agent can be preloaded into what COMMAND runs.  0, or a negative
 * errno with the reason in err__msg(). */
int launch__check(const char *command);

/* Starts it.  A process id, or a negative errno with err__msg(): also when the
 * program could not be executed. */
pid_t launch__start(const struct launch *l);

#endif
