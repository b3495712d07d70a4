/* spawn.h - starts a collector from inside a program that has no part in it.
 * Called by module.c.
 */
#ifndef LJPERF_BACKENDS_LUA_SPAWN_H
#define LJPERF_BACKENDS_LUA_SPAWN_H

/* Runs ARGV[0], a path, with SOCK as its descriptor 3 and nothing else of the
 * program's but its standard error output.  The program is not told when it
 * ends: it is no child of it.  0 or -errno. */
int spawn_collector(char *const argv[], int sock);

#endif
