/* wire.h - the collector's sockets and its control page; see protocol.h for
 * what goes over them.  Called by collector.c.
 */
#ifndef LJPERF_RECORD_WIRE_H
#define LJPERF_RECORD_WIRE_H

#include <sys/types.h>

#include "record/protocol.h"

struct wire {
	struct control *control; /* ours to write */
	int control_fd; /* memfd of it, for the target to inherit */
	int sock, target_sock; /* a pair: ours, and the target's to inherit */
	int listener; /* abstract socket; -1: none could be made */
	char name[AGENT_NAME_MAX], token[AGENT_NAME_MAX];
};

struct wire_msg {
	enum agent_msg kind;
	pid_t pid; /* of the sender, from the kernel */
	int fd; /* attached, to be closed by the receiver; -1: none, or none could be had */
	union {
		struct agent_note note;
		struct agent_hello hello;
	} u;
};

/* Opens all of it.  0 or a negative errno with err__msg(). */
int wire__open(struct wire *w);
/* The same for one program that has the other end of SOCK already. */
int wire__open_at(struct wire *w, int sock);
void wire__close(struct wire *w);

/* Value of LJPERF_AGENT for a process that inherits the two descriptors. */
void wire__spec(const struct wire *w, char *buf, size_t len);

/* Takes one message.  1; 0 when there is none now; -1 when there never will be
 * one again. */
int wire__receive(int sock, struct wire_msg *msg);

/* Answers the program at FD: 0 with the control page, or why there is no
 * recording. */
bool wire__answer(const struct wire *w, int fd, int errnum);

/* The next connection to the listener, which has not shown its secret yet. */
int wire__accept(const struct wire *w);
/* Whether MSG, the first on connection FD, has it; if so, it is answered. */
bool wire__admit(const struct wire *w, int fd, const struct wire_msg *msg);

#endif
