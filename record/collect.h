/* collect.h - the recorder that a program starts for itself.  Called by
 * cmd_record.c.
 */
#ifndef LJPERF_RECORD_COLLECT_H
#define LJPERF_RECORD_COLLECT_H

/* "ljperf record --collect PID OUTPUT KIND FRAMES", with the program's socket
 * as descriptor 3; for the Lua module only.  An exit status. */
int collect__run(int argc, const char **argv);

#endif
