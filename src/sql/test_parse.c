/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse.c - the shape of parsed expressions and queries, in both dialects, as a short prefix notation. */
#include "sql/parse_int.h"
#include "test.h"

static Arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroyp(&arena);
    return 0;
}

/* ---- expressions as text: (+ a (* b 2)) --------------------------------------------------------------------- */

static void dump(StrBuf *b, const Expr *e);

static void dump_args(StrBuf *b, const ExprVec *v)
{
    for (size_t i = 0; i < v->n; i++) {
        sb_byte(b, ' ');
        dump(b, v->p[i]);
    }
    sb_byte(b, ')');
}

static void dump_literal(StrBuf *b, const Value *v)
{
    switch (v->kind) {
    case DT_NULL: sb_addc(b, "null"); break;
    case DT_BOOL: sb_addc(b, v->boolean ? "true" : "false"); break;
    case DT_STRING: sb_fmt(b, "'" STR_FMT "'", STR_ARG(v->string)); break;
    case DT_BINARY: sb_fmt(b, "x'" STR_FMT "'", STR_ARG(hex_encode(arena, v->string))); break;
    case DT_DOUBLE: case DT_FLOAT: sb_fmt(b, "%g%s", v->real, v->kind == DT_FLOAT ? "f" : "d"); break;
    case DT_DECIMAL: sb_fmt(b, "%lld:%d,%d", (long long)v->wide, v->type->precision, v->type->scale); break;
    case DT_INTERVAL: sb_fmt(b, "[%dm %dd %lldus]", v->interval.months, v->interval.days, (long long)v->interval.micros); break;
    case DT_INT64: sb_fmt(b, "%lldL", (long long)v->integer); break;
    case DT_INT16: sb_fmt(b, "%lldS", (long long)v->integer); break;
    case DT_INT8: sb_fmt(b, "%lldY", (long long)v->integer); break;
    case DT_DATE: sb_fmt(b, "date:%lld", (long long)v->integer); break;
    case DT_TIMESTAMP: sb_fmt(b, "ntz:%lld", (long long)v->integer); break;
    case DT_TIMESTAMPTZ: sb_fmt(b, "ts:%lld", (long long)v->integer); break;
    default: sb_fmt(b, "%lld", (long long)v->integer);
    }
}

static const char *const OPS[] = {
    "?", "+", "-", "*", "/", "div", "%", "pow", "||", "&", "|", "^", "<<", ">>", "=", "<>", "<", "<=", ">", ">=", "<=>", "and", "or", "not",
    "neg", "pos", "~", "like", "ilike", "rlike", "similar", "~m", "~i", "null", "true", "false", "unknown", "distinct", "->", "->>", "#>", "#>>",
    "@>", "<@", "&&", "other",
};

static void dump_call(StrBuf *b, const Expr *e)
{
    const FuncCall *f = e->func;
    sb_fmt(b, "(" STR_FMT "%s%s", STR_ARG(str_join(arena, &f->name, S("."))), f->distinct ? "!" : "", f->star ? " *" : "");
    if (f->filter) {
        sb_addc(b, " filter:");
        dump(b, f->filter);
    }
    if (f->over)
        sb_fmt(b, " over:" STR_FMT "[%zu,%zu," STR_FMT "]", STR_ARG(f->over->base), f->over->partition.n, f->over->order.n, STR_ARG(f->over->frame.mode));
    if (f->ignore_nulls)
        sb_addc(b, " ignore");
    if (f->order.n)
        sb_fmt(b, " order:%zu", f->order.n);
    dump_args(b, &e->args);
}

static void head(StrBuf *b, const char *name, const Expr *e) { sb_fmt(b, "(%s%s", e->negated ? "not-" : "", name); }

static void dump(StrBuf *b, const Expr *e)
{
    static const char *const KINDS[] = { "literal", "column", "star", "param", "unary", "binary", "function", "cast", "case", "between", "in",
        "in-query", "exists", "subquery", "quantified", "like", "is", "field", "index", "array", "struct", "lambda" };
    Str name = str_join(arena, &e->name, S("."));

    switch (e->kind) {
    case EX_LITERAL: dump_literal(b, &e->value); return;
    case EX_COLUMN: sb_add(b, name); return;
    case EX_PARAM: sb_fmt(b, "$%d", e->param); return;
    case EX_FUNCTION: dump_call(b, e); return;
    case EX_STAR: sb_fmt(b, STR_FMT "*", STR_ARG(name)); return;
    case EX_UNARY: case EX_BINARY: head(b, OPS[e->op], e); break;
    case EX_LIKE: case EX_IS: head(b, OPS[e->op], e); break;
    case EX_QUANTIFIED: head(b, OPS[e->op], e); sb_addc(b, e->all ? "-all" : "-any"); break;
    case EX_CAST: sb_fmt(b, "(%scast:" STR_FMT, e->try_cast ? "try" : "", STR_ARG(sql_type_name(arena, DIALECT_SPARK, &e->type))); break;
    case EX_FIELD: case EX_STRUCT: case EX_LAMBDA: sb_fmt(b, "(%s:" STR_FMT, KINDS[e->kind], STR_ARG(name)); break;
    default: head(b, KINDS[e->kind], e); break;
    }
    if (e->else_) {
        sb_addc(b, " else:");
        dump(b, e->else_);
    }
    if (e->query)
        sb_addc(b, " query");
    dump_args(b, &e->args);
}

static Str expr_text(Dialect d, const char *sql)
{
    Error err;
    Expr *e = NULL;
    StrBuf b = sb_new(arena);

    if (sql_parse_expr(arena, d, str_c(sql), &e, &err) != OK)
        return str_fmt(arena, "error %d: %s", err.position, err.message);
    dump(&b, e);
    return sb_str(&b);
}

#define SPARK(sql, want) assert_str(expr_text(DIALECT_SPARK, sql), want)
#define PG(sql, want) assert_str(expr_text(DIALECT_POSTGRES, sql), want)

/* ---- expressions ------------------------------------------------------------------------------------------------ */

static void precedence_spark(void **state)
{
    (void)state;
    SPARK("a + b * c", "(+ a (* b c))");
    SPARK("a - b - c", "(- (- a b) c)");
    SPARK("a OR b AND NOT c = d", "(or a (and b (not (= c d))))");
    SPARK("a || b + c", "(+ (|| a b) c)");
    SPARK("a DIV b % c", "(% (div a b) c)");
    SPARK("a | b & c ^ d", "(| a (^ (& b c) d))");
    SPARK("a == b AND c <=> d", "(and (= a b) (<=> c d))");
    SPARK("a = b IS NULL", "(null (= a b))");
    SPARK("NOT a BETWEEN 1 AND 2 OR b", "(or (not (between a 1 2)) b)");
    SPARK("a NOT BETWEEN 1 AND 2 + 3", "(not-between a 1 (+ 2 3))");
    SPARK("-a.b * +c", "(* (neg a.b) (pos c))");
    SPARK("a IS NOT DISTINCT FROM b", "(not-distinct a b)");
    SPARK("! a = b", "(not (= a b))");
    SPARK("a -- note\n + /* x /* y */ */ b", "(+ a b)");
}

static void precedence_postgres(void **state)
{
    (void)state;
    PG("a || b + c", "(|| a (+ b c))");
    PG("2 ^ 3 * 4", "(* (pow 2 3) 4)");
    PG("a = b IS NULL", "(null (= a b))");
    PG("a LIKE b || c", "(like a (|| b c))");
    PG("a < b < c", "error 7: syntax error at or near \"<\"");
    PG("-x::int", "(neg (cast:int x))");
    PG("a.b::text || 'x'", "(|| (cast:string a.b) 'x')");
    PG("a -> 'b' ->> 'c' = 'd'", "(= (->> (-> a 'b') 'c') 'd')");
    PG("a !~ '^pg' AND b ~* 'x'", "(and (not-~m a '^pg') (~i b 'x'))");
    PG("a OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default", "(~m a '^(t)$')");
    PG("a OPERATOR(pg_catalog.+) 1", "(+ a 1)");
    PG("x = ANY (y) OR x <> ALL (ARRAY[1, 2])", "(or (=-any x y) (<>-all x (array 1 2)))");
    PG("a AT TIME ZONE 'UTC' + b", "(+ (timezone 'UTC' a) b)");
    PG("x*-1", "(* x -1)");
    PG("a ISNULL", "(null a)");
    PG("'{}'::jsonb @> b", "(@> (cast:string '{}') b)");
    PG("a ? 'k'", "(other a 'k')");
}

static void literals_spark(void **state)
{
    (void)state;
    SPARK("1", "1");
    SPARK("2147483648", "2147483648L");
    SPARK("-2147483648", "-2147483648");
    SPARK("1000000000000000000000000L IS NULL", "error 1: [INVALID_NUMERIC_LITERAL_RANGE] Numeric literal 1000000000000000000000000L is outside the valid "
          "range for bigint with minimum value of -9223372036854775808 and maximum value of 9223372036854775807. Adjust the value "
          "accordingly. SQLSTATE: 22003");
    SPARK("-9223372036854775808", "-9223372036854775808L");
    SPARK("1L", "1L");
    SPARK("-128Y", "-128Y");
    SPARK("7S", "7S");
    SPARK("1.50", "150:3,2");
    SPARK("0.05", "5:2,2");
    SPARK(".5", "5:1,1");
    SPARK("1e3", "1000d");
    SPARK("1.5D", "1.5d");
    SPARK("2F", "2f");
    SPARK("10BD", "10:2,0");
    SPARK("300Y", "error 1: [INVALID_NUMERIC_LITERAL_RANGE] Numeric literal 300Y is outside the valid range for tinyint with minimum "
                  "value of -128 and maximum value of 127. Adjust the value accordingly. SQLSTATE: 22003");
    SPARK("'a\\'b' \"c\"", "'a'bc'");
    SPARK("'it''s'", "'it's'");
    SPARK("'\\u0041\\x\\t%\\%'", "'Ax\t%\\%'");
    SPARK("r'a\\nb'", "'a\\nb'");
    SPARK("X'1F'", "x'1f'");
    SPARK("DATE'1970-01-02'", "date:1");
    SPARK("DATE '2024-2-29'", "date:19782");
    SPARK("DATE'2023-02-29'", "error 1: [INVALID_TYPED_LITERAL] The value of the typed literal \"DATE\" is invalid: '2023-02-29'. SQLSTATE: 42604");
    SPARK("TIMESTAMP'1970-01-01 00:00:01.5'", "ts:1500000");
    SPARK("TIMESTAMP'1970-01-01T01:00:00+01:00'", "ts:0");
    SPARK("TIMESTAMP_NTZ'1970-01-01 00:00:01'", "ntz:1000000");
    SPARK("date", "date");
    SPARK("true AND NULL", "(and true null)");
}

static void literals_postgres(void **state)
{
    (void)state;
    PG("1.5", "15:2,1");
    PG("1e3", "1000:4,0");
    PG("-2147483648", "-2147483648");
    PG("E'a\\nb\\'c\\u00e9'", "'a\nb'cé'");
    PG("'a\\n''b'", "'a\\n'b'");
    PG("$$it's$$", "'it's'");
    PG("$x$a$$b$x$", "'a$$b'");
    PG("'a'\n'b'", "'ab'");
    PG("'a' 'b'", "error 5: syntax error at or near \"'b'\"");
    PG("date '2020-01-01'", "(cast:date '2020-01-01')");
    PG("timestamp with time zone '2020-01-01'", "(cast:timestamp '2020-01-01')");
    PG("\"A\"\"b\" = $2", "(= A\"b $2)");
    PG("Foo.BAR", "foo.bar");
    PG("~1 + 1", "(~ (+ 1 1))");
    PG("~1 | 2", "(| (~ 1) 2)");
    PG("2 * ~1 + 1", "(* 2 (~ (+ 1 1)))");
    PG("1a", "error 1: trailing junk after numeric literal at or near \"1a\"");
}

static void intervals(void **state)
{
    (void)state;
    SPARK("INTERVAL 3 DAYS 2 HOURS", "[0m 3d 7200000000us]");
    SPARK("INTERVAL '90' day", "[0m 90d 0us]");
    SPARK("INTERVAL '-1-2' YEAR TO MONTH", "[-14m 0d 0us]");
    SPARK("INTERVAL '1 02:03:04.5' DAY TO SECOND", "[0m 1d 7384500000us]");
    SPARK("INTERVAL '10:20' MINUTE TO SECOND", "[0m 0d 620000000us]");
    SPARK("INTERVAL -2 WEEKS", "[0m -14d 0us]");
    SPARK("INTERVAL '3 months 1 day'", "[3m 1d 0us]");
    SPARK("current_date - interval '90' day", "(- (current_date) [0m 90d 0us])");
    SPARK("interval - 1", "(- interval 1)");
    PG("INTERVAL '1 year 2 mons 3 days 04:05:06.7'", "[14m 3d 14706700000us]");
    PG("INTERVAL '1 day ago'", "[0m -1d 0us]");
    PG("INTERVAL '5' MINUTE", "[0m 0d 300000000us]");
    PG("INTERVAL 'P1Y2M3DT4H5M6S'", "[14m 3d 14706000000us]");
    PG("INTERVAL 'soon'", "error 1: invalid input syntax for type interval: \"soon\"");
    PG("INTERVAL '99999999999 years'", "error 1: interval field value out of range: \"99999999999 years\"");
    PG("INTERVAL '1-2 3 4:5:6.7'", "[14m 3d 14706700000us]");
    PG("INTERVAL '1-2 3 4:5:6.7' DAY TO HOUR", "[0m 3d 14400000000us]");
    PG("INTERVAL '1.239' SECOND(2)", "[0m 0d 1240000us]");
    PG("INTERVAL(1) '1.29'", "[0m 0d 1300000us]");
    PG("INTERVAL '1 year 2 years'", "error 1: invalid input syntax for type interval: \"1 year 2 years\"");
    PG("INTERVAL '1' HOUR TO DAY", "error 22: syntax error at or near \"DAY\"");
}

static void predicates(void **state)
{
    (void)state;
    SPARK("a NOT IN (1, 2)", "(not-in a 1 2)");
    SPARK("(a, b) IN (SELECT 1, 2)", "(in-query query a b)");
    SPARK("a IN ((SELECT 1), 2)", "(in a (subquery query) 2)");
    SPARK("NOT EXISTS (SELECT 1)", "(not-exists query)");
    SPARK("exists(arr, x -> x > 1)", "(exists arr (lambda:x (> x 1)))");
    SPARK("a LIKE ANY ('x', 'y')", "(or (like a 'x') (like a 'y'))");
    SPARK("a NOT LIKE ALL ('x', 'y')", "(and (not-like a 'x') (not-like a 'y'))");
    SPARK("a LIKE 'x!%' ESCAPE '!'", "(like a 'x!%' '!')");
    SPARK("a RLIKE 'x' AND b NOT REGEXP 'y'", "(and (rlike a 'x') (not-rlike b 'y'))");
    PG("a ILIKE 'x' AND b NOT SIMILAR TO 'y'", "(and (ilike a 'x') (not-similar b 'y'))");
    PG("a IS NOT TRUE", "(not-true a)");
    PG("x LIKE ANY (ARRAY['a'])", "(like-any x (array 'a'))");
    PG("((SELECT 1) + 2) * (((3)))", "(* (+ (subquery query) 2) 3)");
    PG("((SELECT 1) UNION (SELECT 2))", "(subquery query)");
    PG("((SELECT 1), 2)", "(struct:. (subquery query) 2)");
}

static void calls(void **state)
{
    (void)state;
    SPARK("count(*)", "(count *)");
    SPARK("COUNT(DISTINCT a, b)", "(COUNT! a b)");
    SPARK("sum(x) FILTER (WHERE y > 0)", "(sum filter:(> y 0) x)");
    SPARK("row_number() OVER (PARTITION BY a ORDER BY b DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "(row_number over:[1,1,rows])");
    SPARK("first(x) IGNORE NULLS OVER w", "(first over:w[0,0,] ignore x)");
    SPARK("transform(a, (x, i) -> x + i)", "(transform a (lambda:x.i (+ x i)))");
    SPARK("struct(a.b, 1, c AS d)", "(struct:b.col2.d a.b 1 c)");
    SPARK("named_struct('x', 1, 'y', 2)", "(struct:x.y 1 2)");
    SPARK("array(1, 2)[0]", "(index (array 1 2) 0)");
    SPARK("f(x).y.z", "(field:z (field:y (f x)))");
    SPARK("CAST(a AS DECIMAL(10, 2))", "(cast:decimal(10,2) a)");
    SPARK("TRY_CAST(a AS array<struct<x: int, y: map<string, array<bigint>>>>)", "(trycast:array<struct<x:int,y:map<string,array<bigint>>>> a)");
    SPARK("extract(YEAR FROM d)", "(extract 'year' d)");
    SPARK("substring(a FROM 2 FOR 3)", "(substring a 2 3)");
    SPARK("trim(BOTH 'x' FROM a)", "(trim_both a 'x')");
    SPARK("trim(a)", "(trim a)");
    SPARK("position('a' IN b)", "(position 'a' b)");
    SPARK("overlay(a PLACING b FROM 3 FOR 1)", "(overlay a b 3 1)");
    SPARK("dateadd(DAY, 1, x)", "(dateadd 'day' 1 x)");
    SPARK("CASE a WHEN 1 THEN 'x' ELSE 'y' END", "(case else:'y' a 1 'x')");
    SPARK("left(a, 1)", "(left a 1)");
    SPARK("like(a, 'b')", "(like a 'b')");
    SPARK("a::string", "(cast:string a)");
    PG("string_agg(x, ',' ORDER BY y)", "(string_agg order:1 x ',')");
    PG("percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "(percentile_cont order:1 5:1,1)");
    PG("pg_catalog.array_to_string(ARRAY(SELECT 1), E'\\n')", "(pg_catalog.array_to_string (array query) '\n')");
    PG("ROW(1, 2)", "(struct:. 1 2)");
    PG("current_user", "(current_user)");
    PG("(x).y", "(field:y x)");
    PG("a[1:2]", "(index a 1 2)");
    PG("'x'::pg_catalog.regclass::oid", "(cast:bigint (cast:bigint 'x'))");
    PG("'{1}'::int4[]", "(cast:array<int> '{1}')");
    PG("x::\"char\"", "(cast:string x)");
    PG("x::character varying(10)", "(cast:varchar(10) x)");
    PG("f(a => 1)", "error 3: named arguments are not supported here");
    PG("x::nosuch", "(cast:unknown x)");                          /* looked up when it is bound */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(precedence_spark, setup, teardown),
        cmocka_unit_test_setup_teardown(precedence_postgres, setup, teardown),
        cmocka_unit_test_setup_teardown(literals_spark, setup, teardown),
        cmocka_unit_test_setup_teardown(literals_postgres, setup, teardown),
        cmocka_unit_test_setup_teardown(intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(predicates, setup, teardown),
        cmocka_unit_test_setup_teardown(calls, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
