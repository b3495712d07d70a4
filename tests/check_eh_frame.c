/* check_eh_frame.c - the rules of unwind tables: in the files that this program
 * has loaded they are at every place what libdw says; instructions that no
 * compiler here writes are made by hand, with what DWARF 5 (6.4.2) says of them;
 * and so are wrong ones.
 */
#include <check.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/eh_frame.h"
#include "tests/lib_suite.h"

/* ---- against libdw ---- */

enum { REG_RA = 16 };

struct file {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct eh_frame *tables;
	GElf_Shdr text;
	size_t rows, usable, deref, by_bp;
};

static void find_section(Elf *elf, const char *name, GElf_Shdr *sh, Elf_Data **data)
{
	Elf_Scn *scn = NULL;
	size_t names;

	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && !strcmp(elf_strptr(elf, names, sh->sh_name), name)) {
			*data = elf_rawdata(scn, NULL);
			return;
		}
	ck_abort_msg("no %s", name);
}

static void libdw_bp(Dwarf_Frame *frame, struct eh_rule *r)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	r->bp = EH_BP_LOST;
	ck_assert_int_eq(dwarf_frame_register(frame, EH_REG_BP, mem, &ops, &n), 0);
	if (n == 0) {
		r->bp = ops ? EH_BP_LOST : EH_BP_SAME;
		return;
	}
	ck_assert_uint_le(n, 3);
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return;
	if (n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst))
		r->bp = EH_BP_IN_FRAME;
	else if (n == 2 && ops[1].atom == DW_OP_breg6)
		r->bp = EH_BP_BY_BP;
	r->bp_off = r->bp != EH_BP_LOST && n == 2 ? (int64_t)ops[1].number : 0;
}

static bool libdw_cfa(Dwarf_Frame *frame, struct eh_rule *r)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n < 1 || n > 2)
		return false;
	r->cfa_deref = n == 2;
	if (n == 2 && ops[1].atom != DW_OP_deref)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		r->cfa_reg = (uint8_t)ops[0].number;
		r->cfa_off = (int64_t)ops[0].number2;
	} else {
		r->cfa_reg = (uint8_t)(ops[0].atom - DW_OP_breg0);
		r->cfa_off = (int64_t)ops[0].number;
	}
	return r->cfa_reg == EH_REG_SP || r->cfa_reg == EH_REG_BP;
}

static struct eh_rule libdw_rule(Dwarf_Frame *frame, bool signal)
{
	struct eh_rule r = { 0 };
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (signal)
		return r;
	ck_assert_int_eq(dwarf_frame_register(frame, REG_RA, mem, &ops, &n), 0);
	r.outermost = n == 0 && ops;
	if (n == 0 || ops[0].atom != DW_OP_call_frame_cfa || !libdw_cfa(frame, &r))
		return r;
	r.usable = n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst);
	r.ra_off = n == 2 ? (int64_t)ops[1].number : 0;
	libdw_bp(frame, &r);
	return r;
}

static void compare(struct file *f, uint64_t pc, const struct eh_rule *want)
{
	struct eh_rule r = eh_frame__rule(f->tables, pc);

	ck_assert_msg(r.usable == want->usable && r.outermost == want->outermost, "at %lx",
		      (long)pc);
	if (!r.usable)
		return;
	ck_assert_msg(r.cfa_reg == want->cfa_reg && r.cfa_off == want->cfa_off &&
			      r.cfa_deref == want->cfa_deref && r.ra_off == want->ra_off &&
			      r.bp == want->bp,
		      "at %lx", (long)pc);
	if (r.bp == EH_BP_IN_FRAME || r.bp == EH_BP_BY_BP)
		ck_assert_msg(r.bp_off == want->bp_off, "at %lx", (long)pc);
	f->usable++;
	f->deref += r.cfa_deref;
	f->by_bp += r.bp == EH_BP_BY_BP;
}

/* All places of the text, from where the rules change to where they change. */
static void compare_text(struct file *f)
{
	uint64_t pc = f->text.sh_addr, end = pc + f->text.sh_size;

	while (pc < end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr from, to;
		bool signal;
		struct eh_rule want = { 0 };

		if (dwarf_cfi_addrframe(f->cfi, pc, &frame) != 0) {
			compare(f, pc++, &want);
			continue;
		}
		ck_assert_int_ge(dwarf_frame_info(frame, &from, &to, &signal), 0);
		want = libdw_rule(frame, signal);
		free(frame);
		ck_assert_uint_gt(to, pc);
		compare(f, pc, &want);
		compare(f, to - 1, &want);
		f->rows++;
		pc = to;
	}
}

/* From the file itself, and with nothing else of ours. */
static void check_file(const char *path, struct file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	GElf_Shdr sh;
	Elf_Data *data;

	*f = (struct file){ .elf = elf_begin(fd, ELF_C_READ, NULL) };
	ck_assert_ptr_nonnull(f->elf);
	f->cfi = dwarf_getcfi_elf(f->elf);
	ck_assert_ptr_nonnull(f->cfi);
	find_section(f->elf, ".text", &f->text, &data);
	find_section(f->elf, ".eh_frame", &sh, &data);
	f->tables = eh_frame__new(data->d_buf, data->d_size, sh.sh_addr);
	ck_assert_ptr_nonnull(f->tables);
	compare_text(f);
	printf("  %s: %zu rules\n", path, f->rows);
	eh_frame__delete(f->tables);
	dwarf_cfi_end(f->cfi);
	elf_end(f->elf);
	close(fd);
}

struct loaded {
	size_t files, rows, usable;
};

static int check_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *all = data;
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct file f;

	(void)size;
	if (*path != '/')
		return 0; /* the vdso */
	check_file(path, &f);
	all->files++;
	all->rows += f.rows;
	all->usable += f.usable;
	return 0;
}

START_TEST(same_as_libdw)
{
	struct loaded all = { 0 };

	elf_version(EV_CURRENT);
	dl_iterate_phdr(check_loaded, &all);
	/* libc alone has thousands of functions, with some rules each. */
	ck_assert_uint_gt(all.files, 3);
	ck_assert_uint_gt(all.usable, 20000);
}
END_TEST

/* Functions that compilers give rules by an expression: their frame is aligned,
 * so its address is kept in the frame. */
START_TEST(aligned_frames)
{
	static const char source[] = "int g(void *); int f(int n) { __attribute__((aligned(64)))"
				     " char a[64]; char b[n]; return g(a) + g(b); }\n";
	char dir[] = "/tmp/ljperf-eh.XXXXXX", cmd[512], path[64];
	struct file f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(cmd, sizeof(cmd),
		 "cd %s && printf '%%s' '%s' >x.c && ${CC:-cc} -O2 -mno-avx -fPIC -shared "
		 "-fasynchronous-unwind-tables -mstackrealign -Wl,-z,undefs -o x.so x.c",
		 dir, source);
	ck_assert_int_eq(system(cmd), 0);
	snprintf(path, sizeof(path), "%s/x.so", dir);
	elf_version(EV_CURRENT);
	check_file(path, &f);
	ck_assert_uint_gt(f.usable, 0);
	printf("  %zu by a stored address, %zu with the frame pointer stored at itself\n", f.deref,
	       f.by_bp);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}
END_TEST

/* ---- by hand ---- */

/* A table of one function, from 0x1000 to 0x1100, in a section at 0.  Code
 * addresses are multiplied by 1, offsets by -8; the return address is register
 * 16.  All functions have the frame at the stack pointer plus 8, and the return
 * address just below the frame. */
struct table {
	uint8_t bytes[512];
	size_t len, entry;
};

static void put(struct table *t, const void *bytes, size_t n)
{
	ck_assert_uint_le(t->len + n, sizeof(t->bytes));
	memcpy(t->bytes + t->len, bytes, n);
	t->len += n;
}

static void put_u32(struct table *t, uint32_t v)
{
	put(t, &v, sizeof(v));
}

static void begin(struct table *t)
{
	t->entry = t->len;
	put_u32(t, 0);
}

static void end(struct table *t)
{
	uint32_t n = (uint32_t)(t->len - t->entry - 4);

	memcpy(t->bytes + t->entry, &n, sizeof(n));
}

static void put_common(struct table *t)
{
	begin(t);
	put_u32(t, 0);
	/* version 1; "zR"; 1; -8; 16; 1 byte: 4 bytes, unsigned; the rules */
	put(t, "\1zR\0\1\x78\x10\1\3", 9);
	put(t, "\x0c\7\x08\x90\1", 5);
	end(t);
}

static void put_function(struct table *t, const void *program, size_t n)
{
	begin(t);
	put_u32(t, (uint32_t)t->len);
	put_u32(t, 0x1000);
	put_u32(t, 0x100);
	put(t, "", 1);
	put(t, program, n);
	end(t);
}

static struct eh_rule rule_in(const struct table *t, uint64_t pc)
{
	struct eh_rule r;
	uint8_t *copy = malloc(t->len); /* of its own, so that a sanitizer sees its end */
	struct eh_frame *tables;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, t->bytes, t->len);
	tables = eh_frame__new(copy, t->len, 0);
	ck_assert_ptr_nonnull(tables);
	r = eh_frame__rule(tables, pc);
	eh_frame__delete(tables);
	free(copy);
	return r;
}

static struct eh_rule rule_by(const void *program, size_t n, uint64_t pc)
{
	struct table t = { .len = 0 };

	put_common(&t);
	put_function(&t, program, n);
	return rule_in(&t, pc);
}

/* What is different from the rule at the beginning of a function: the frame at
 * SP + 8, the return address at -8 from it, the frame pointer untouched. */
static const struct row {
	const char *what, *program;
	size_t n;
	uint64_t pc;
	struct eh_rule rule;
} rows[] = {
#define PROGRAM(text) (text), sizeof(text) - 1
#define RULE(reg, off, deref, ra, how, at) \
	{ \
		.usable = true, .cfa_reg = EH_REG_##reg, .cfa_off = (off), .cfa_deref = (deref), \
		.ra_off = (ra), .bp = EH_BP_##how, .bp_off = (at) \
	}
	{ "no instruction", PROGRAM(""), 0x1000, RULE(SP, 8, false, -8, SAME, 0) },
	{ "the last place", PROGRAM(""), 0x10ff, RULE(SP, 8, false, -8, SAME, 0) },
	{ "a place before", PROGRAM(""), 0xfff, { 0 } },
	{ "a place behind", PROGRAM(""), 0x1100, { 0 } },
	{ "advance, one before", PROGRAM("\x44\x0e\x10"), 0x1003, RULE(SP, 8, false, -8, SAME, 0) },
	{ "advance", PROGRAM("\x44\x0e\x10"), 0x1004, RULE(SP, 16, false, -8, SAME, 0) },
	{ "advance of 1 byte", PROGRAM("\2\x80\x0e\x10"), 0x1080,
	  RULE(SP, 16, false, -8, SAME, 0) },
	{ "advance of 1 byte, before", PROGRAM("\2\x80\x0e\x10"), 0x107f,
	  RULE(SP, 8, false, -8, SAME, 0) },
	{ "advance of 2 bytes", PROGRAM("\3\xf0\0\x0e\x10"), 0x10f0,
	  RULE(SP, 16, false, -8, SAME, 0) },
	{ "advance of 4 bytes", PROGRAM("\4\xf0\0\0\0\x0e\x10"), 0x10ef,
	  RULE(SP, 8, false, -8, SAME, 0) },
	{ "offset of 300", PROGRAM("\x0e\xac\2"), 0x1000, RULE(SP, 300, false, -8, SAME, 0) },
	{ "register", PROGRAM("\x0d\6"), 0x1000, RULE(BP, 8, false, -8, SAME, 0) },
	{ "register and offset", PROGRAM("\x0c\6\x10"), 0x1000, RULE(BP, 16, false, -8, SAME, 0) },
	/* SLEB 7e is -2, and -2 * -8 = 16 */
	{ "register and factored offset", PROGRAM("\x12\6\x7e"), 0x1000,
	  RULE(BP, 16, false, -8, SAME, 0) },
	{ "factored offset", PROGRAM("\x13\x7d"), 0x1000, RULE(SP, 24, false, -8, SAME, 0) },
	/* breg7 + 16; breg6 - 8, and what is stored there */
	{ "expression", PROGRAM("\x0f\2\x77\x10"), 0x1000, RULE(SP, 16, false, -8, SAME, 0) },
	{ "expression of a stored address", PROGRAM("\x0f\3\x76\x78\6"), 0x1000,
	  RULE(BP, -8, true, -8, SAME, 0) },
	{ "expression that adds", PROGRAM("\x0f\5\x77\x08\x80\x00\x22"), 0x1000, { 0 } },
	{ "offset after an expression", PROGRAM("\x0f\2\x77\x10\x0e\x10"), 0x1000,
	  RULE(SP, 16, false, -8, SAME, 0) },
	{ "offset after a stored address", PROGRAM("\x0f\3\x76\x78\6\x0e\x10"), 0x1000, { 0 } },
	{ "another register", PROGRAM("\x0d\3"), 0x1000, { 0 } },
	{ "register 262, which is 6 in 8 bits", PROGRAM("\x0d\x86\2"), 0x1000, { 0 } },
	{ "frame pointer stored", PROGRAM("\x86\2"), 0x1000,
	  RULE(SP, 8, false, -8, IN_FRAME, -16) },
	{ "stored, long form", PROGRAM("\5\6\3"), 0x1000, RULE(SP, 8, false, -8, IN_FRAME, -24) },
	{ "stored above the frame", PROGRAM("\x11\6\x7d"), 0x1000,
	  RULE(SP, 8, false, -8, IN_FRAME, 24) },
	{ "stored by an expression", PROGRAM("\x10\6\2\x76\x70"), 0x1000,
	  RULE(SP, 8, false, -8, BY_BP, -16) },
	{ "stored by another register", PROGRAM("\x10\6\2\x73\0"), 0x1000,
	  RULE(SP, 8, false, -8, LOST, 0) },
	{ "in a register", PROGRAM("\x09\6\3"), 0x1000, RULE(SP, 8, false, -8, LOST, 0) },
	{ "no value", PROGRAM("\7\6"), 0x1000, RULE(SP, 8, false, -8, LOST, 0) },
	{ "a value, not a place", PROGRAM("\x14\6\2"), 0x1000, RULE(SP, 8, false, -8, LOST, 0) },
	{ "the same, signed", PROGRAM("\x15\6\x7e"), 0x1000, RULE(SP, 8, false, -8, LOST, 0) },
	{ "the same, an expression", PROGRAM("\x16\6\1\x30"), 0x1000,
	  RULE(SP, 8, false, -8, LOST, 0) },
	{ "stored, then same again", PROGRAM("\x86\2\x08\6"), 0x1000,
	  RULE(SP, 8, false, -8, SAME, 0) },
	{ "stored, then restored", PROGRAM("\x86\2\xc6"), 0x1000, RULE(SP, 8, false, -8, SAME, 0) },
	{ "restored, long form", PROGRAM("\x86\2\6\6"), 0x1000, RULE(SP, 8, false, -8, SAME, 0) },
	{ "another register stored", PROGRAM("\x83\2"), 0x1000, RULE(SP, 8, false, -8, SAME, 0) },
	{ "remembered", PROGRAM("\x0a\x0e\x20\x86\2\x41\x0b"), 0x1000,
	  RULE(SP, 32, false, -8, IN_FRAME, -16) },
	{ "recalled", PROGRAM("\x0a\x0e\x20\x86\2\x41\x0b"), 0x1001,
	  RULE(SP, 8, false, -8, SAME, 0) },
	{ "arguments", PROGRAM("\x2e\x20\x0e\x10"), 0x1000, RULE(SP, 16, false, -8, SAME, 0) },
	{ "no return address", PROGRAM("\7\x10"), 0x1000, { .outermost = true } },
	{ "return address elsewhere", PROGRAM("\x90\2"), 0x1000, RULE(SP, 8, false, -16, SAME, 0) },
	{ "return address in a register", PROGRAM("\x09\x10\3"), 0x1000, { 0 } },
	{ "stack pointer elsewhere", PROGRAM("\x87\2"), 0x1000, { 0 } },
	/* What cannot be followed is no rule. */
	{ "unknown instruction", PROGRAM("\x3f"), 0x1000, { 0 } },
	{ "instruction 1", PROGRAM("\1\0\0\0\0"), 0x1000, { 0 } },
	{ "operand cut off", PROGRAM("\x0e"), 0x1000, { 0 } },
	{ "second operand cut off", PROGRAM("\x0c\6"), 0x1000, { 0 } },
	{ "advance cut off", PROGRAM("\4\0\0\0"), 0x1000, { 0 } },
	{ "expression cut off", PROGRAM("\x0f\x7f\x77\x10"), 0x1000, { 0 } },
	{ "recalled, but not remembered", PROGRAM("\x0b"), 0x1000, { 0 } },
	{ "17 remembered",
	  PROGRAM("\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa"),
	  0x1000,
	  { 0 } },
	{ "16 remembered", PROGRAM("\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa"), 0x1000,
	  RULE(SP, 8, false, -8, SAME, 0) },
	/* For such a number libdw allocates 2 GB: 0x07ffffff registers of 16 bytes. */
	{ "register 2^27 - 1", PROGRAM("\7\xff\xff\xff\x3f\xa\xa"), 0x1000,
	  RULE(SP, 8, false, -8, SAME, 0) },
	{ "register 2^64 - 1", PROGRAM("\7\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), 0x1000,
	  RULE(SP, 8, false, -8, SAME, 0) },
};

START_TEST(instructions)
{
	const struct row *w = &rows[_i];
	struct eh_rule r = rule_by(w->program, w->n, w->pc);

	ck_assert_msg(r.usable == w->rule.usable && r.outermost == w->rule.outermost, "%s",
		      w->what);
	if (!r.usable)
		return;
	ck_assert_msg(r.cfa_reg == w->rule.cfa_reg && r.cfa_off == w->rule.cfa_off &&
			      r.cfa_deref == w->rule.cfa_deref && r.ra_off == w->rule.ra_off &&
			      r.bp == w->rule.bp && r.bp_off == w->rule.bp_off,
		      "%s", w->what);
}
END_TEST

/* Each part of a good table set to each of these: a rule or none, and an end. */
START_TEST(any_bytes)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct table good = { .len = 0 }, t;
	size_t at, i;

	put_common(&good);
	put_function(&good, "\x44\x0e\x10\x86\2\x0a\x0f\3\x76\x78\6\x0b", 12);
	put_u32(&good, 0);
	for (at = 0; at < good.len; at++) {
		for (i = 0; i < sizeof(values); i++) {
			t = good;
			t.bytes[at] = values[i];
			rule_in(&t, 0x1010);
		}
		t = good;
		t.len = at;
		if (at) /* cut before its last entry's end, there is no function */
			ck_assert(at >= good.len - 4 || !rule_in(&t, 0x1010).usable);
	}
}
END_TEST

/* The second function lies behind the end of the table. */
START_TEST(end_of_table)
{
	struct table t = { .len = 0 };
	size_t at;

	put_common(&t);
	at = t.len;
	put_u32(&t, 0);
	put_function(&t, "", 0);
	ck_assert(!rule_in(&t, 0x1000).usable);
	t.len = at;
	put_function(&t, "", 0);
	ck_assert(rule_in(&t, 0x1000).usable);
}
END_TEST

/* Letters of the augmentation, each with its data: L and P have 1 and 1 + 4
 * bytes, S marks the frame of a signal. */
START_TEST(augmentations)
{
	static const struct {
		const char *kinds, *data;
		size_t n;
		bool usable;
	} rows_of[] = {
		{ "zR", "\3", 1, true },
		{ "zPLR", "\3abcd\3\3", 7, true },
		{ "zRS", "\3", 1, false },
		{ "zRX", "\3", 1, false },
		{ "zR", "\x0f", 1, false },
		{ "zR", "\x33", 1, false },
		{ "zR", "\x83", 1, false },
		{ "zPR", "\3abc", 4, false },
		{ "eh", "\3", 1, false },
		{ "zRRRRRRRRRRRRRR", "\3\3\3\3\3\3\3\3\3\3\3\3\3\3", 14, true },
		{ "zRRRRRRRRRRRRRRR", "\3\3\3\3\3\3\3\3\3\3\3\3\3\3\3", 15, false },
	};
	struct table t = { .len = 0 };
	uint8_t n = (uint8_t)rows_of[_i].n;

	begin(&t);
	put_u32(&t, 0);
	put(&t, "\1", 1);
	put(&t, rows_of[_i].kinds, strlen(rows_of[_i].kinds) + 1);
	put(&t, "\1\x78\x10", 3);
	put(&t, &n, 1);
	put(&t, rows_of[_i].data, n);
	put(&t, "\x0c\7\x08\x90\1", 5);
	end(&t);
	put_function(&t, "", 0);
	ck_assert_msg(rule_in(&t, 0x1000).usable == rows_of[_i].usable, "%s", rows_of[_i].kinds);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("eh_frame");
	TCase *t = tcase_create("eh_frame");

	tcase_add_test(t, same_as_libdw);
	tcase_add_test(t, aligned_frames);
	tcase_add_loop_test(t, instructions, 0, sizeof(rows) / sizeof(*rows));
	tcase_add_test(t, any_bytes);
	tcase_add_test(t, end_of_table);
	tcase_add_loop_test(t, augmentations, 0, 11);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
