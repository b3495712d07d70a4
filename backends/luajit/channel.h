/* channel.h - the agent's way to the collector: joins the recording that an
 * environment variable names, and sends messages (record/protocol.h).
 *
 * Sending works from inside the hook: no memory is allocated, no lock taken,
 * and nothing waits for longer than a stopped collector is believed in.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_CHANNEL_H
#define LJPERF_BACKENDS_LUAJIT_CHANNEL_H

#include <stddef.h>
#include <sys/types.h>

#include "record/protocol.h"

struct channel {
	_Atomic int fd; /* socket; -1: none */
	_Atomic ino_t inode; /* of it, to know it from a later file */
	int control_fd; /* as inherited, -1: none */
	const struct control *control;
	char name[AGENT_NAME_MAX], token[AGENT_NAME_MAX]; /* to connect anew */
};

/* Joins the recording of SPEC.  0, or -errno: there is none any more. */
int channel__open(struct channel *ch, const char *spec);

/* Joins the recording whose collector is at the other end of SOCK, which has
 * sent its answer or will: 0, or -errno, its own included.  SOCK stays open. */
int channel__adopt(struct channel *ch, int sock);
void channel__hang_up(struct channel *ch); /* inside the hook, too */
void channel__close(struct channel *ch);

/* Sends LEN bytes at MSG, with descriptor FD unless that is -1.  0 or -errno. */
int channel__send(struct channel *ch, const void *msg, size_t len, int fd);
int channel__note(struct channel *ch, enum agent_msg kind, const char *text);

/* Children that exec get the descriptors, or not. */
void channel__set_inherit(struct channel *ch, bool inherit);

#endif
