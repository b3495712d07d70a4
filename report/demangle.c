/* demangle.c - readable names of C++ and Rust functions; see demangle.h.
 *
 * libiberty knows all manglings of both.  A symbol of a few hundred bytes can
 * stand for a name of any length (each part may repeat the ones before twice),
 * so what the library writes is cut off: its callbacks cannot stop it, hence
 * the jump, which leaks nothing because these functions work on the stack.
 */
#include "report/demangle.h"

#include <setjmp.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

enum { SYMBOL_MAX = 16 * 1024, READABLE_MAX = 64 * 1024 };

struct demangler {
	struct strbuf *out;
	size_t start; /* of the name in OUT */
	jmp_buf too_long;
};

static void demangler__add(const char *s, size_t n, void *ctx)
{
	struct demangler *d = ctx;

	if (n > READABLE_MAX || d->out->len - d->start > READABLE_MAX - n)
		longjmp(d->too_long, 1);
	strbuf__addmem(d->out, s, n);
}

static bool is_mangled(const char *name)
{
	size_t len = strnlen(name, SYMBOL_MAX);

	return len > 2 && len < SYMBOL_MAX && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static bool demangler__run(struct demangler *d, const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(d->too_long))
		return false;
	/* Older symbols of Rust are valid ones of C++, so Rust comes first. */
	if (rust_demangle_callback(name, options, demangler__add, d))
		return true;
	d->out->len = d->start;
	return cplus_demangle_v3_callback(name, options, demangler__add, d);
}

bool demangle__append(const char *name, struct strbuf *out)
{
	struct demangler d = { .out = out, .start = out->len };

	if (!is_mangled(name))
		return false;
	if (demangler__run(&d, name))
		return true;
	out->len = d.start;
	if (out->buf)
		out->buf[out->len] = '\0';
	return false;
}
