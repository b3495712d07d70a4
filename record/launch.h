/* launch.h - starts the target with the agent in it.  Called by cmd_record.c. */
#ifndef LJPERF_RECORD_LAUNCH_H
#define LJPERF_RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	const char *runner; /* path of ljperf-luajit */
	const char *const *agent_args; /* of the runner, n_agent_args of them */
	int n_agent_args;
	const char *const *args; /* script and its arguments, n_args of them */
	int n_args;
	bool stdout_to_stderr; /* our stdout takes the recording */
	sigset_t mask;	       /* signal mask of the target */
};

/* The program next to ours when run from the build folder, else the one
 * installed.  NULL with err__msg(). */
const char *launch__runner(void);

/* Starts it with SOCK as the agent's socket.  A process id, or a negative
 * errno with err__msg(): also when the program could not be executed. */
pid_t launch__start(const struct launch *l, int sock);

#endif
