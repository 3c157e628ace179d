/* SPDX-License-Identifier: Apache-2.0 */
/* bind_text.c - an unbound expression as text: the name that Spark gives an item without an alias ("sum(x)", "(a + 1)"). */
#include "sql/bind_int.h"

static void put(Bind *b, StrBuf *o, const Expr *e);

static void put_list(Bind *b, StrBuf *o, const ExprVec *v, size_t from)
{
    for (size_t i = from; i < v->n; i++) {
        if (i != from)
            sb_addc(o, ", ");
        put(b, o, v->p[i]);
    }
}

static const char *op_text(Op op)
{
    static const char *const names[] = {
        [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_INT_DIV] = "div", [OP_MOD] = "%", [OP_POW] = "^",
        [OP_BIT_AND] = "&", [OP_BIT_OR] = "|", [OP_BIT_XOR] = "^", [OP_SHL] = "<<", [OP_SHR] = ">>", [OP_EQ] = "=", [OP_NE] = "<>",
        [OP_LT] = "<", [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">=", [OP_NULLSAFE_EQ] = "<=>", [OP_AND] = "AND", [OP_OR] = "OR",
        [OP_LIKE] = "LIKE", [OP_ILIKE] = "ILIKE", [OP_RLIKE] = "RLIKE",
    };
    return (size_t)op < COUNT_OF(names) && names[op] ? names[op] : "?";
}

static void put_literal(StrBuf *o, const Expr *e)
{
    Value v = e->value;

    if (v.kind == DT_STRING) {
        sb_add(o, v.string);
        return;
    }
    if (v.kind == DT_NULL) {
        sb_addc(o, "NULL");
        return;
    }
    if (v.kind == DT_DATE || v.kind == DT_TIMESTAMPTZ || v.kind == DT_TIMESTAMP) {
        Str t = time_iso8601(o->a, v.kind == DT_DATE ? v.integer * 86400000 : v.integer / 1000);
        sb_addc(o, v.kind == DT_DATE ? "DATE '" : v.kind == DT_TIMESTAMP ? "TIMESTAMP_NTZ '" : "TIMESTAMP '");
        sb_add(o, str_sub(t, 0, 10));
        if (v.kind != DT_DATE) {
            sb_byte(o, ' ');
            sb_add(o, str_sub(t, 11, 19));
        }
        sb_byte(o, '\'');
        return;
    }
    v.type = &e->type;
    StrBuf text = sb_new(o->a);
    sql_value(&text, &v);
    Str s = sb_str(&text);
    ptrdiff_t end = str_rchr(s, '\'');
    sb_add(o, s.n > 1 && s.p[0] == '\'' && end > 0 ? str_sub(s, 1, (size_t)end) : s);
}

static void put_case(Bind *b, StrBuf *o, const Expr *e)
{
    size_t i = 0;

    sb_addc(o, "CASE");
    if (e->has_operand) {
        sb_byte(o, ' ');
        put(b, o, e->args.p[i++]);
    }
    for (; i + 1 < e->args.n; i += 2) {
        sb_addc(o, " WHEN ");
        put(b, o, e->args.p[i]);
        sb_addc(o, " THEN ");
        put(b, o, e->args.p[i + 1]);
    }
    if (e->else_) {
        sb_addc(o, " ELSE ");
        put(b, o, e->else_);
    }
    sb_addc(o, " END");
}

static void put_call(Bind *b, StrBuf *o, const Expr *e)
{
    Str name = str_lower(b->a, vec_last(&e->func->name));

    if (str_eq(name, S("trim_both")))
        name = S("trim");
    sb_add(o, name);
    sb_addc(o, e->func->distinct ? "(DISTINCT " : "(");
    if (e->func->star)
        sb_byte(o, '1');
    put_list(b, o, &e->args, 0);
    sb_byte(o, ')');
    if (e->func->over)
        sb_addc(o, " OVER (...)");
}

static void put_is(Bind *b, StrBuf *o, const Expr *e)
{
    sb_byte(o, '(');
    put(b, o, e->args.p[0]);
    sb_addc(o, e->negated ? " IS NOT " : " IS ");
    sb_addc(o, e->op == OP_IS_NULL ? "NULL)" : e->op == OP_IS_TRUE ? "TRUE)" : e->op == OP_IS_FALSE ? "FALSE)" : "…)");
}

static void put(Bind *b, StrBuf *o, const Expr *e)
{
    switch (e->kind) {
    case EX_LITERAL: put_literal(o, e); return;
    case EX_COLUMN: sb_add(o, e->name.n ? vec_last(&e->name) : S("")); return;
    case EX_STAR: sb_byte(o, '*'); return;
    case EX_PARAM: sb_fmt(o, "$%d", e->param); return;
    case EX_FUNCTION: put_call(b, o, e); return;
    case EX_CASE: put_case(b, o, e); return;
    case EX_IS: put_is(b, o, e); return;
    case EX_CAST:
        sb_addc(o, e->try_cast ? "TRY_CAST(" : "CAST(");
        put(b, o, e->args.p[0]);
        sb_fmt(o, " AS " STR_FMT ")", STR_ARG(bind_type_name(b, &e->type)));
        return;
    case EX_UNARY:
        sb_addc(o, e->op == OP_NOT ? "(NOT " : e->op == OP_NEG ? "(- " : e->op == OP_BIT_NOT ? "(~ " : "(+ ");
        put(b, o, e->args.p[0]);
        sb_byte(o, ')');
        return;
    case EX_BINARY:
        if (e->op == OP_CONCAT) {
            sb_addc(o, "concat(");
            put_list(b, o, &e->args, 0);
            sb_byte(o, ')');
            return;
        }
        sb_byte(o, '(');
        put(b, o, e->args.p[0]);
        sb_fmt(o, " %s ", op_text(e->op));
        put(b, o, e->args.p[1]);
        sb_byte(o, ')');
        return;
    case EX_LIKE:
        put(b, o, e->args.p[0]);
        sb_fmt(o, " %s%s ", e->negated ? "NOT " : "", op_text(e->op));
        put(b, o, e->args.p[1]);
        return;
    case EX_BETWEEN:
        sb_addc(o, e->negated ? "(NOT between(" : "between(");
        put_list(b, o, &e->args, 0);
        sb_addc(o, e->negated ? "))" : ")");
        return;
    case EX_IN_LIST:
        sb_addc(o, e->negated ? "(NOT (" : "(");
        put(b, o, e->args.p[0]);
        sb_addc(o, " IN (");
        put_list(b, o, &e->args, 1);
        sb_addc(o, e->negated ? ")))" : "))");
        return;
    case EX_FIELD: put(b, o, e->args.p[0]); sb_fmt(o, "." STR_FMT, STR_ARG(e->name.p[0])); return;
    case EX_INDEX:
        put(b, o, e->args.p[0]);
        sb_byte(o, '[');
        put_list(b, o, &e->args, 1);
        sb_byte(o, ']');
        return;
    case EX_ARRAY: sb_addc(o, "array("); put_list(b, o, &e->args, 0); sb_byte(o, ')'); return;
    case EX_STRUCT: sb_addc(o, "struct("); put_list(b, o, &e->args, 0); sb_byte(o, ')'); return;
    case EX_EXISTS: sb_addc(o, "exists()"); return;
    case EX_SUBQUERY: sb_addc(o, "scalarsubquery()"); return;
    case EX_IN_QUERY: put(b, o, e->args.p[0]); sb_addc(o, " IN (listquery())"); return;
    case EX_LAMBDA: sb_addc(o, "lambdafunction()"); return;
    case EX_QUANTIFIED: sb_addc(o, "any()"); return;
    }
}

Str bind_text_name(Bind *b, const Expr *e)
{
    StrBuf o = sb_new(b->a);

    put(b, &o, e);
    return str_sub(sb_str(&o), 0, 500);
}
