/* elf_limits.h - whether an ELF file that a stranger may have written can be given
 * to libelf and libdw, which allocate what it says.  Called by those that open
 * modules.
 */
#ifndef LJPERF_UTIL_ELF_LIMITS_H
#define LJPERF_UTIL_ELF_LIMITS_H

#include <libelf.h>
#include <stdbool.h>

/* Whether FD is no ELF file, or one whose counts of sections and segments stand in its
 * header: larger ones stand in the first section, but only object files have such,
 * and libelf allocates for as many sections.  And whether it is no file of holes,
 * which is as large as its writer likes. */
bool elf_limits__file(int fd);

/* Whether what is packed in ELF (compressed sections, the symbols that a stripped
 * file carries as .gnu_debugdata) unpacks to at most 64 MiB, or to 32 times its
 * size: debug information is a fourth to a tenth when it is packed. */
bool elf_limits__packed(Elf *elf);

#endif
