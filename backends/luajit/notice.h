/* notice.h - one line of ours on the program's standard error, from where the
 * program must not notice: never blocks, raises no signal, and writes nowhere
 * else.  Called by agent.c and producer.c.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_NOTICE_H
#define LJPERF_BACKENDS_LUAJIT_NOTICE_H

/* Before the program starts: what standard error is now. */
void agent_notice__init(void);

/* TEXT, which ends with a newline.  Keeps errno. */
void agent_notice(const char *text);

#endif
