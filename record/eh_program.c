/* eh_program.c - see eh_program.h. */
#include "record/eh_program.h"

enum {
	CFA_ADVANCE_LOC = 0x40, /* these three have an operand in their low bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_OPERAND = 0x3f,
	CFA_NOP = 0,
	CFA_ADVANCE_LOC1 = 2, /* compilers write no instruction 1 */
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_GNU_ARGS_SIZE = 0x2e,
};

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70, OP_BREG31 = 0x8f };

/* Compilers nest these once; more than this is not believed. */
enum { REMEMBERED_MAX = 16 };

enum how {
	UNSAID,
	SAME,
	IN_FRAME, /* stored at the frame's address plus off */
	BY_BP, /* stored at the frame pointer plus off */
	NONE, /* the caller has no such value */
	OTHER,
};

/* The registers that matter, in an order of ours. */
enum { RA, BP, SP, N_REGS };

struct saved {
	enum how how;
	int64_t off;
};

struct state {
	bool cfa_known, cfa_deref;
	uint64_t cfa_reg;
	int64_t cfa_off;
	struct saved regs[N_REGS];
};

struct machine {
	const struct eh_program *program;
	uint64_t loc, pc;
	struct state now, initial, remembered[REMEMBERED_MAX];
	unsigned n_remembered;
	bool in_common;
};

static void save(struct machine *m, uint64_t reg, enum how how, int64_t off)
{
	struct saved s = { how, off };

	if (reg == m->program->ra_reg)
		m->now.regs[RA] = s;
	else if (reg == EH_REG_BP)
		m->now.regs[BP] = s;
	else if (reg == EH_REG_SP)
		m->now.regs[SP] = s;
}

static void restore(struct machine *m, struct cursor *c, uint64_t reg)
{
	if (m->in_common)
		cursor__fail(c, CURSOR_BAD, c->p);
	if (reg == m->program->ra_reg)
		m->now.regs[RA] = m->initial.regs[RA];
	else if (reg == EH_REG_BP)
		m->now.regs[BP] = m->initial.regs[BP];
	else if (reg == EH_REG_SP)
		m->now.regs[SP] = m->initial.regs[SP];
}

/* Factors are the file's, so they may be anything. */
static int64_t factored(const struct machine *m, uint64_t n)
{
	return (int64_t)(n * (uint64_t)m->program->data_align);
}

/* REG + OFF, the one kind of expression that compilers use to tell where
 * something is stored or, with DEREF, which place tells it. */
static bool read_expression(struct cursor *c, uint64_t *reg, int64_t *off, bool *deref)
{
	uint64_t len = cursor__uleb(c);
	const uint8_t *p = cursor__bytes(c, len);
	struct cursor ops = cursor__of(p, p ? len : 0);
	uint8_t op = cursor__u8(&ops);

	*reg = (uint64_t)op - OP_BREG0;
	*off = cursor__sleb(&ops);
	*deref = cursor__left(&ops) == 1 && cursor__u8(&ops) == OP_DEREF;
	return ops.status == CURSOR_OK && !cursor__left(&ops) && op >= OP_BREG0 && op <= OP_BREG31;
}

static void save_by_expression(struct machine *m, struct cursor *c)
{
	uint64_t reg = cursor__uleb(c), by;
	bool deref, known;
	int64_t off;

	known = read_expression(c, &by, &off, &deref) && !deref && by == EH_REG_BP;
	save(m, reg, known ? BY_BP : OTHER, off);
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa_known = true;
	m->now.cfa_deref = false;
	m->now.cfa_reg = reg;
	m->now.cfa_off = off;
}

/* These change one half of what must be a register and an offset. */
static void change_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	bool known = m->now.cfa_known && !m->now.cfa_deref;

	define_cfa(m, reg, off);
	m->now.cfa_known = known;
}

static void define_cfa_by_expression(struct machine *m, struct cursor *c)
{
	m->now.cfa_known = read_expression(c, &m->now.cfa_reg, &m->now.cfa_off, &m->now.cfa_deref);
}

static void remember(struct machine *m, struct cursor *c)
{
	if (m->n_remembered == REMEMBERED_MAX)
		cursor__fail(c, CURSOR_BAD, c->p);
	else
		m->remembered[m->n_remembered++] = m->now;
}

static void recall(struct machine *m, struct cursor *c)
{
	if (m->n_remembered == 0)
		cursor__fail(c, CURSOR_BAD, c->p);
	else
		m->now = m->remembered[--m->n_remembered];
}

/* Moves on in the code, unless the rules that hold at the place looked for are
 * complete.  What many functions have in common has no code. */
static bool advance(struct machine *m, struct cursor *c, uint64_t to)
{
	if (m->in_common || to < m->loc)
		cursor__fail(c, CURSOR_BAD, c->p);
	m->loc = to;
	return to <= m->pc;
}

static uint64_t read_delta(const struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t delta = op == CFA_ADVANCE_LOC1   ? cursor__u8(c)
			 : op == CFA_ADVANCE_LOC2 ? cursor__le16(c)
						  : cursor__le32(c);

	return m->loc + delta * m->program->code_align;
}

/* Instructions that say where a caller's register is. */
static void say_register(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg;

	if (op == CFA_EXPRESSION) {
		save_by_expression(m, c);
		return;
	}
	reg = cursor__uleb(c);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		save(m, reg, IN_FRAME, factored(m, cursor__uleb(c)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		save(m, reg, IN_FRAME, factored(m, (uint64_t)cursor__sleb(c)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(m, c, reg);
		break;
	case CFA_UNDEFINED:
		save(m, reg, NONE, 0);
		break;
	case CFA_SAME_VALUE:
		save(m, reg, SAME, 0);
		break;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
		cursor__uleb(c);
		save(m, reg, OTHER, 0);
		break;
	case CFA_VAL_OFFSET_SF:
		cursor__sleb(c);
		save(m, reg, OTHER, 0);
		break;
	case CFA_VAL_EXPRESSION:
		cursor__bytes(c, cursor__uleb(c));
		save(m, reg, OTHER, 0);
	}
}

/* Instructions that say where the frame is. */
static void say_frame(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg = m->now.cfa_reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor__uleb(c);
		define_cfa(m, reg, (int64_t)cursor__uleb(c));
		break;
	case CFA_DEF_CFA_SF:
		reg = cursor__uleb(c);
		define_cfa(m, reg, factored(m, (uint64_t)cursor__sleb(c)));
		break;
	case CFA_DEF_CFA_REGISTER:
		change_cfa(m, cursor__uleb(c), m->now.cfa_off);
		break;
	case CFA_DEF_CFA_OFFSET:
		change_cfa(m, reg, (int64_t)cursor__uleb(c));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		change_cfa(m, reg, factored(m, (uint64_t)cursor__sleb(c)));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		define_cfa_by_expression(m, c);
	}
}

/* One instruction; false when the place looked for was passed. */
static bool execute(struct machine *m, struct cursor *c)
{
	uint8_t op = cursor__u8(c), operand = op & CFA_OPERAND;

	switch (op & ~CFA_OPERAND) {
	case CFA_ADVANCE_LOC:
		return advance(m, c, m->loc + operand * m->program->code_align);
	case CFA_OFFSET:
		save(m, operand, IN_FRAME, factored(m, cursor__uleb(c)));
		return true;
	case CFA_RESTORE:
		restore(m, c, operand);
		return true;
	}
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		return advance(m, c, read_delta(m, c, op));
	case CFA_REMEMBER_STATE:
		remember(m, c);
		break;
	case CFA_RESTORE_STATE:
		recall(m, c);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		say_frame(m, c, op);
		break;
	case CFA_GNU_ARGS_SIZE:
		cursor__uleb(c);
		break;
	default:
		if (op < CFA_OFFSET_EXTENDED || op > CFA_VAL_EXPRESSION)
			cursor__fail(c, CURSOR_BAD, c->p);
		else
			say_register(m, c, op);
	}
	return true;
}

static bool run(struct machine *m, struct cursor program)
{
	while (cursor__left(&program) && execute(m, &program))
		;
	return program.status == CURSOR_OK;
}

/* The caller's stack pointer is the frame's address unless something else is
 * said; of the caller's frame pointer the ABI says that it is kept. */
static struct eh_rule rule_of(const struct machine *m)
{
	static const enum eh_bp bps[] = {
		[UNSAID] = EH_BP_SAME, [SAME] = EH_BP_SAME, [IN_FRAME] = EH_BP_IN_FRAME,
		[BY_BP] = EH_BP_BY_BP, [NONE] = EH_BP_LOST, [OTHER] = EH_BP_LOST
	};
	const struct state *s = &m->now;
	struct eh_rule r = { .cfa_reg = (uint8_t)s->cfa_reg,
			     .cfa_deref = s->cfa_deref,
			     .cfa_off = s->cfa_off,
			     .ra_off = s->regs[RA].off,
			     .bp = bps[s->regs[BP].how],
			     .bp_off = s->regs[BP].off };

	r.outermost = s->regs[RA].how == NONE;
	r.usable = s->cfa_known && (s->cfa_reg == EH_REG_SP || s->cfa_reg == EH_REG_BP) &&
		   s->regs[RA].how == IN_FRAME && s->regs[SP].how == UNSAID;
	return r;
}

struct eh_rule eh_program__run(const struct eh_program *p, uint64_t start, uint64_t pc)
{
	struct machine m = { .program = p, .pc = pc, .in_common = true };
	struct eh_rule none = { 0 };

	if (!run(&m, p->common))
		return none;
	m.in_common = false;
	m.n_remembered = 0;
	m.initial = m.now;
	m.loc = start;
	return run(&m, p->own) ? rule_of(&m) : none;
}
