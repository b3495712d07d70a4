/* protocol.h - how a process that is recorded and its collector find each
 * other, and what they say.  For record/ and the agents in backends/.
 *
 * An environment variable names the recording: two inherited descriptors, each
 * with its inode (the program may have closed them and opened something else
 * under their numbers), and, for processes that have neither, the name of an
 * abstract socket and a secret:
 *
 *   LJPERF_AGENT=socket,inode,control,inode,name,token
 *
 * Both sockets carry the messages below, one in each packet.  Control is a page
 * that the collector writes and everybody else reads.  All is in the host's
 * byte order: both ends run on one machine.
 */
#ifndef LJPERF_RECORD_PROTOCOL_H
#define LJPERF_RECORD_PROTOCOL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define AGENT_ENV "LJPERF_AGENT"
#define AGENT_NAME_MAX 64 /* of the abstract socket and of the secret */

#define CONTROL_MAGIC 0x6c7274636d6a6cULL /* "ljmctrl" */
#define PROTOCOL_VERSION 1

struct control {
	uint64_t magic;
	uint32_t version;
	uint32_t ring_bytes; /* of each VM: a power of two */
	uint32_t stacks; /* most frames of a call stack; 0: none are recorded */
	bool native; /* stacks go on below C functions */
	bool across; /* stacks go on in the thread that resumed a coroutine */
	bool oracle; /* compare the fast and the slow path on every event */
	bool drop; /* a full ring drops events instead of waiting */
	bool inherit; /* children are recorded too */
	bool memprof; /* the VM's own misc.memprof is to be used */
	bool final_gc; /* collect garbage before a VM is closed */
	char preload[4096]; /* what was added to LD_PRELOAD; "" nothing */
	/* Odd: events are wanted; even: not now.  Never 0.  The one word that
	 * changes. */
	alignas(64) _Atomic uint32_t epoch;
};

enum agent_msg {
	MSG_TOKEN = 1, /* the secret, first on a new connection; answered with control */
	MSG_LOADED, /* the agent is in a process now */
	MSG_FORKED, /* a process that has VMs of its parent */
	MSG_REFUSED, /* why a VM is not recorded */
	MSG_RING, /* struct agent_hello, with the memfd of a ring attached: a VM */
	MSG_MEMPROF, /* the same with the end of a pipe that a misc.memprof writes to */
};

/* All messages begin like this.  Strings end with a NUL and are never trusted
 * to. */
struct agent_note {
	uint32_t version;
	uint32_t kind; /* enum agent_msg */
	char text[512];
};

struct agent_hello {
	uint32_t version;
	uint32_t kind; /* MSG_RING */
	uint64_t ppid, tid;
	uint64_t start_mono_ns, start_wall_ns;
	uint64_t heap_start; /* bytes the VM had in use */
	uint64_t probe_ns;
	uint32_t stacks; /* most frames of a stack; 0: none are recorded */
	uint32_t native; /* not 0: CTL_NATIVE comes */
	char vm_version[64];
	char vm_path[4096];
	char vm_build_id[64];
	char vm_options[256];
	char thread_name[16];
	uint32_t args_len; /* of the process's arguments, a NUL behind each */
	char args[8192];
	char cwd[4096]; /* "": not known */
};

#endif
