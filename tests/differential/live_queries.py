# SPDX-License-Identifier: Apache-2.0
"""Random view queries in the materialize dialect, out of the constructs that continuous views have (test_live_differential.py).

Every query is a function of the tables' rows: where an order decides which rows there are, it is a total one."""

TABLES = {
    "t": [("id", "int"), ("g", "int"), ("x", "int"), ("n", "numeric(10,2)"), ("s", "text"), ("arr", "int[]"), ("j", "jsonb"), ("ts", "timestamp"), ("rg", "int4range"),
          ("il", "int list"), ("pr", "record(a int, b text)")],
    "u": [("id", "int"), ("g", "int"), ("y", "int"), ("s", "text"), ("b", "boolean"), ("rg", "int4range")],
    "w": [("a", "int"), ("b", "int")],
}
KEYS = {"t": ["id"], "u": ["id"], "w": ["a", "b"]}
KIND = {"int": "int", "numeric(10,2)": "num", "text": "text", "boolean": "bool", "int[]": "list", "jsonb": "json", "timestamp": "time", "int4range": "range", "int list": "ilist", "record(a int, b text)": "pair"}


class Scope:
    """What is in sight: columns by kind, and the columns that order all rows."""
    def __init__(self):
        self.columns, self.keys = [], []

    def add(self, text, kind):
        self.columns.append((text, kind))

    def __add__(self, other):
        out = Scope()
        out.columns, out.keys = self.columns + other.columns, self.keys + other.keys
        return out


class Generator:
    def __init__(self, rng):
        self.r, self.labels, self.aliases, self.ctes = rng, set(), 0, []

    def chance(self, p):
        return self.r.random() < p

    def alias(self, prefix="x"):
        self.aliases += 1
        return f"{prefix}{self.aliases}"

    def col(self, scope, kind="int"):
        some = [c for c, k in scope.columns if k == kind]
        return self.r.choice(some) if some else {"int": "1", "text": "'a'", "num": "1.5", "bool": "true", "list": "ARRAY[1,2]", "json": "'{}'::jsonb", "time": "timestamp '2030-01-01'",
                                                   "range": "'[1,3)'::int4range", "ilist": "LIST[1]", "pair": "ROW(1, 'a')::record(a int, b text)"}[kind]

    def expr(self, scope, kind="int"):
        c = self.col(scope, kind)
        if self.chance(0.6):
            return c
        if kind == "int":
            return self.r.choice((f"({c} + {self.r.randint(0, 3)})", f"coalesce({c}, 0)", f"CASE WHEN {self.pred(scope)} THEN {c} ELSE 2 END", f"abs({c})"))
        if kind == "text":
            return self.r.choice((f"upper({c})", f"coalesce({c}, 'z')", f"({c} || 'q')"))
        if kind == "range":
            return self.r.choice((f"({c} * '[1,4)')", f"coalesce({c}, 'empty')", f"int4range({self.col(scope)}, NULL)"))
        if kind == "ilist":
            return self.r.choice((f"({c} || 7)", f"list_append({c}, 1)", f"coalesce({c}, LIST[0])"))
        return c

    def pred(self, scope):
        c = self.col(scope)
        return self.r.choice((f"{c} {self.r.choice(('=', '<>', '<', '>='))} {self.r.randint(0, 4)}", f"{c} IS NOT NULL", f"{self.col(scope, 'text')} = '{self.r.choice('abc')}'",
                              f"({c} > 1 OR {self.col(scope)} < 3)", f"{c} IN (1, 2, {self.r.randint(0, 5)})", f"{c} BETWEEN 0 AND 3",
                              f"{self.col(scope, 'range')} @> {self.r.randint(0, 4)}", f"{self.col(scope, 'range')} && '[1,3)'"))

    def order(self, scope):
        """A total order of the scope's rows."""
        head = [f"{self.col(scope, self.r.choice(('int', 'int', 'text', 'num')))}{self.r.choice(('', ' DESC', ' DESC NULLS LAST', ' NULLS FIRST'))}" for _ in range(self.r.randint(0, 2))]
        head = [h for h in head if not h[0].isdigit() and h[0] != "'"]
        return ", ".join(head + scope.keys)

    # -- FROM

    def leaf(self, depth=1):
        a = self.alias()
        s = Scope()
        if self.ctes and self.chance(0.4):
            name, kinds = self.r.choice(self.ctes)
            for i, k in enumerate(kinds):
                s.add(f"{a}.o{i}", k)
            s.keys = [c for c, _ in s.columns]
            return f"{name} {a}", s
        if depth > 0 and self.chance(0.15):
            self.labels.add("derived table")
            kinds = [self.r.choice(("int", "text")) for _ in range(2)]
            q = self.grouped(kinds) if self.chance(0.4) else self.plain(kinds, 0)
            for i, k in enumerate(kinds):
                s.add(f"{a}.o{i}", k)
            s.keys = [c for c, _ in s.columns]
            return f"({q}) {a}", s
        t = self.r.choice(("t", "t", "u", "u", "w"))
        for c, ty in TABLES[t]:
            s.add(f"{a}.{c}", KIND[ty])
        s.keys = [f"{a}.{k}" for k in KEYS[t]]
        return f"{t} {a}", s

    def from_(self, depth=1, joins=None):
        text, s = self.leaf(depth)
        for _ in range(self.r.choice((0, 0, 1, 1, 2)) if joins is None else joins):
            right, rs = self.leaf(depth - 1)
            kind = self.r.choice(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            self.labels.add(kind.lower() if kind != "JOIN" else "inner join")
            k = self.r.choice(("int", "int", "int", "text", "text", "range"))
            text = f"{text} {kind} {right} ON {self.col(s, k)} = {self.col(rs, k)}"
            s = s + rs
        return text, s

    def where(self, s, p=0.35):
        return f" WHERE {self.pred(s)}" if self.chance(p) else ""

    # -- plain parts

    def plain(self, kinds, depth=1):
        f, s = self.from_(depth)
        items = ", ".join(f"{self.expr(s, k)} AS o{i}" for i, k in enumerate(kinds))
        return f"SELECT {'DISTINCT ' if self.chance(0.15) else ''}{items} FROM {f}{self.where(s)}"

    def aggregate(self, s, kind="int"):
        if kind in ("text", "range"):
            return f"{self.r.choice(('min', 'max'))}({self.expr(s, kind)})"
        f = f" FILTER (WHERE {self.pred(s)})" if self.chance(0.2) else ""
        if f:
            self.labels.add("FILTER")
        if self.chance(0.2):
            self.labels.add("DISTINCT in an aggregate")
            return f"count(DISTINCT {self.col(s, self.r.choice(('int', 'text')))}){f}::int"
        fn = self.r.choice(("count", "sum", "min", "max"))
        return f"{fn}({self.expr(s)}){f}::int"

    def grouped(self, kinds, depth=0):
        f, s = self.from_(depth)
        by = [self.expr(s, k) for k in kinds[:1]]
        by = [b if not b[0].isdigit() and b[0] != "'" else f"coalesce({b}, {b})" for b in by]
        items = [f"{b} AS o{i}" for i, b in enumerate(by)] + [f"{self.aggregate(s, k)} AS o{i + 1}" for i, k in enumerate(kinds[1:])]
        self.labels.add("GROUP BY")
        having = f" HAVING count(*) > {self.r.randint(0, 2)}" if self.chance(0.2) else ""
        if having:
            self.labels.add("HAVING")
        return f"SELECT {', '.join(items)} FROM {f}{self.where(s)} GROUP BY {', '.join(by)}{having}"

    # -- the constructs of their own

    def window(self):
        f, s = self.from_(1)
        part = f"PARTITION BY {self.expr(s)}" + (f", {self.col(s, 'text')}" if self.chance(0.3) else "")
        o = self.order(s)
        frame = self.r.choice(("", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"))
        c = self.col(s)
        fns = {"row_number": "row_number()", "rank": "rank()", "dense_rank": "dense_rank()", "ntile": "ntile(3)", "lag": f"lag({c})", "lag with default": f"lag({c}, 2, -1)", "lead": f"lead({c})",
               "first_value": f"first_value({c})", "last_value": f"last_value({c})", "sum": f"sum({c})", "count": "count(*)", "max": f"max({c})", "avg": f"avg({c})"}
        items = [f"{c} AS o0"]
        for i in range(self.r.randint(1, 3)):
            name = self.r.choice(list(fns))
            self.labels.add(f"{name.split(' ')[0]}() OVER")
            framed = frame if name in ("first_value", "last_value", "sum", "count", "max", "avg") else ""
            over = f"{part} ORDER BY {o if name not in ('rank', 'dense_rank') or self.chance(0.3) else c if not c[0].isdigit() else o}{framed}"
            items.append(f"{fns[name]} OVER ({over}) AS o{i + 1}")
        self.labels.add("window")
        return f"SELECT {', '.join(items)} FROM {f}{self.where(s)}"

    def top_k(self):
        f, s = self.from_(1)
        g, o, k = self.expr(s), self.order(s), self.r.randint(1, 3)
        way = self.r.choice(("row_number", "distinct on", "lateral"))
        self.labels.add(f"top-k by {way}")
        c, d = self.col(s), self.col(s, "text")
        if way == "row_number":
            return f"SELECT o0, o1 FROM (SELECT {c} AS o0, {d} AS o1, row_number() OVER (PARTITION BY {g} ORDER BY {o}) AS rn FROM {f}{self.where(s)}) q WHERE rn <= {k}"
        if way == "distinct on":
            return f"SELECT DISTINCT ON ({g}) {c} AS o0, {d} AS o1 FROM {f}{self.where(s)} ORDER BY {g}, {o}"
        outer, os = self.leaf(0)
        a = self.alias()
        return (f"SELECT {self.col(os)} AS o0, {a}.o1 FROM {outer}{self.r.choice((' CROSS JOIN', ' LEFT JOIN'))} LATERAL (SELECT {d} AS o1 FROM {f} WHERE {self.col(s)} = {self.col(os)} "
                f"ORDER BY {o} LIMIT {k}) {a} ON true").replace("CROSS JOIN LATERAL", "JOIN LATERAL")

    def limit(self):
        f, s = self.from_(1)
        self.labels.add("ORDER BY … LIMIT")
        q = f"SELECT {self.col(s)} AS o0, {self.col(s, 'text')} AS o1 FROM {f}{self.where(s)} ORDER BY {self.order(s)} LIMIT {self.r.randint(1, 4)}{' OFFSET 1' if self.chance(0.2) else ''}"
        return q if self.chance(0.6) else f"SELECT q.o0, count(*) AS n FROM ({q}) q JOIN u ON u.g = q.o0 GROUP BY q.o0"

    def lateral(self):
        f, s = self.from_(0, joins=self.r.choice((0, 0, 1)))
        inner, ins = self.leaf(0)
        a = self.alias()
        on = f"{self.col(ins)} = {self.col(s)}"
        body = self.r.choice((f"SELECT max({self.col(ins)}) AS o1, count(*) AS o2 FROM {inner} WHERE {on}",
                              f"SELECT {self.col(ins)} AS o1, {self.col(s)} AS o2 FROM {inner} WHERE {on}",
                              f"SELECT {self.col(ins, 'text')} AS o1, sum({self.col(ins)}) AS o2 FROM {inner} WHERE {on} GROUP BY 1",
                              f"VALUES ({self.col(s)}, 'a'), ({self.col(s)} + 1, 'b')"))
        self.labels.add("lateral join" if not body.startswith("V") else "lateral VALUES")
        left = self.chance(0.4) and not body.startswith("V")
        names = "(o1, o2)"
        return f"SELECT {self.col(s)} AS o0, {a}.o1, {a}.o2 FROM {f}{' LEFT JOIN' if left else ' JOIN'} LATERAL ({body}) {a}{names} ON true{self.where(s)}"

    def table_function(self):
        a = self.alias()
        f = {"unnest": f"unnest(t.arr) {{o}}AS {a}(o1{{n}})", "generate_series": f"generate_series(1, t.g) {{o}}AS {a}(o1{{n}})", "generate_series of time": f"generate_series(t.ts, t.ts + interval '2 days', interval '1 day') AS {a}(o1)",
             "jsonb_array_elements": f"jsonb_array_elements(t.j -> 'l') {{o}}AS {a}(o1{{n}})", "jsonb_array_elements_text": f"jsonb_array_elements_text(t.j -> 'l') {{o}}AS {a}(o1{{n}})",
             "jsonb_object_keys": f"jsonb_object_keys(t.j) AS {a}(o1)", "jsonb_each": f"jsonb_each(t.j) AS {a}(o1, o2)", "jsonb_each_text": f"jsonb_each_text(t.j) AS {a}(o1, o2)",
             "regexp_split_to_table": f"regexp_split_to_table(t.s, 'b') {{o}}AS {a}(o1{{n}})", "generate_subscripts": f"generate_subscripts(t.arr, 1) AS {a}(o1)"}
        name = self.r.choice(list(f))
        ordinality = self.chance(0.35) and "{n}" in f[name]
        call = f[name].replace("{o}", "WITH ORDINALITY " if ordinality else "").replace("{n}", ", o2" if ordinality else "")
        self.labels |= {"table function", f"{name.split(' ')[0]}()"} | ({"WITH ORDINALITY"} if ordinality else set())
        cols = f"t.id, {a}.o1" + (f", {a}.o2" if ordinality or "each" in name else "")
        s = Scope()
        for c, ty in TABLES["t"]:
            s.add(f"t.{c}", KIND[ty])
        if self.chance(0.25):
            return f"SELECT {a}.o1, count(*) AS n FROM t, {call}{self.where(s)} GROUP BY 1"
        return f"SELECT {cols} FROM t{self.r.choice((', ', ' LEFT JOIN LATERAL '))}{call} ON true{self.where(s)}".replace("t, " + call + " ON true", "t, " + call)

    def in_select_list(self):
        self.labels.add("table function in the select list")
        call = self.r.choice(("unnest(arr)", "generate_series(1, g)", "jsonb_object_keys(j)", "regexp_split_to_table(s, 'b')"))
        return f"SELECT id, {call} AS o1 FROM t{' WHERE x > 1' if self.chance(0.3) else ''}"

    def correlated(self):
        f, s = self.from_(0, joins=self.r.choice((0, 0, 1)))
        items = [f"{self.col(s)} AS o0"]
        for i in range(self.r.randint(1, 2)):
            inner, ins = self.leaf(0)
            on = f"{self.col(ins)} = {self.col(s)}"
            c = self.col(ins)
            items.append(self.r.choice((f"(SELECT max({c}) FROM {inner} WHERE {on})", f"(SELECT count(*) FROM {inner} WHERE {on} AND {self.pred(ins)})", f"(SELECT sum({c}) + 1 FROM {inner} WHERE {on})",
                                        f"(SELECT {c} FROM {inner} WHERE {on} ORDER BY {self.order(ins)} LIMIT 1)", f"(SELECT max({c}) FROM {inner})")) + f" AS o{i + 1}")
        self.labels.add("scalar subquery")
        if self.chance(0.3):
            inner, ins = self.leaf(0)
            self.labels.add("scalar subquery in WHERE")
            return f"SELECT {', '.join(items)} FROM {f} WHERE {self.col(s)} >= (SELECT min({self.col(ins)}) FROM {inner} WHERE {self.col(ins)} = {self.col(s)})"
        return f"SELECT {', '.join(items)} FROM {f}{self.where(s)}"

    def truth(self, s):
        inner, ins = self.leaf(0)
        on = f"{self.col(ins)} = {self.col(s)}" if self.chance(0.6) else self.pred(ins)
        return self.r.choice((f"EXISTS (SELECT 1 FROM {inner} WHERE {on})", f"NOT EXISTS (SELECT 1 FROM {inner} WHERE {on})", f"{self.col(s)} IN (SELECT {self.col(ins)} FROM {inner} WHERE {on})",
                              f"{self.col(s)} NOT IN (SELECT {self.col(ins)} FROM {inner} WHERE {on})", f"{self.col(s)} > ANY (SELECT {self.col(ins)} FROM {inner})", f"{self.col(s)} <= ALL (SELECT {self.col(ins)} FROM {inner})"))

    def subquery(self):
        f, s = self.from_(0, joins=0)
        way = self.r.choice(("under OR", "in the select list", "as a conjunct"))
        self.labels.add(f"subquery {way}")
        if way == "in the select list":
            return f"SELECT {self.col(s)} AS o0, {self.truth(s)} AS o1 FROM {f}{self.where(s)}"
        return f"SELECT {self.col(s)} AS o0, {self.col(s, 'text')} AS o1 FROM {f} WHERE {self.pred(s)} {'OR' if way == 'under OR' else 'AND'} {self.truth(s)}"

    def grouping_sets(self):
        f, s = self.from_(0)
        a, b = self.col(s), self.col(s, "text")
        if a[0].isdigit() or b[0] == "'":
            a, b = "x.g", "x.s"
            f, s = "t x", Scope()
            s.add("x.x", "int"), s.add("x.g", "int"), s.add("x.s", "text")
        by = self.r.choice((f"ROLLUP ({a}, {b})", f"CUBE ({a}, {b})", f"GROUPING SETS (({a}), ({b}), ())", f"GROUPING SETS (({a}, {b}), ({b}))"))
        self.labels.add(by.split(" (")[0])
        g = f", grouping({a}) AS gr" if self.chance(0.4) else ""
        return f"SELECT {a} AS o0, {b} AS o1{g}, count(*) AS n, {self.aggregate(s)} AS m FROM {f}{self.where(s)} GROUP BY {by}"

    def ordered_aggregate(self):
        f, s = self.from_(0)
        g, o = self.col(s), self.order(s)
        if g[0].isdigit():
            g = f"coalesce({g}, {g})"
        c, d = self.col(s), self.col(s, "text")
        name, call = self.r.choice((("array_agg", f"array_agg({c} ORDER BY {o})"), ("string_agg", f"string_agg({d}, ',' ORDER BY {o})"), ("jsonb_agg", f"jsonb_agg({c} ORDER BY {o})"),
                                    ("array_agg", f"array_agg(DISTINCT {c} ORDER BY {c})"), ("array_agg", f"array_agg({d} ORDER BY {o}) FILTER (WHERE {self.pred(s)})")))
        self.labels.add(f"{name} with ORDER BY")
        return f"SELECT {g} AS o0, {call} AS o1, count(*) AS n FROM {f}{self.where(s)} GROUP BY {g}"

    def set_operation(self):
        op = self.r.choice(("UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"))
        self.labels.add(op)
        kinds = ["int", "text"]
        return f"{self.plain(kinds, 0)} {op} {self.grouped(kinds) if self.chance(0.3) else self.plain(kinds, 0)}"

    def recursive(self):
        self.labels.add("WITH MUTUALLY RECURSIVE")
        return self.r.choice((
            "WITH MUTUALLY RECURSIVE reach (a int, b int) AS (SELECT a, b FROM w WHERE a IS NOT NULL UNION SELECT r.a, w.b FROM reach r JOIN w ON r.b = w.a) SELECT a, count(*) AS n FROM reach GROUP BY a",
            "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 5) c (n int, s text) AS (SELECT g, s FROM u UNION SELECT n + 1, s FROM c WHERE n < 4) SELECT * FROM c",
            "WITH MUTUALLY RECURSIVE ev (n int) AS (SELECT 0 UNION SELECT n + 1 FROM od WHERE n < 6), od (n int) AS (SELECT n + 1 FROM ev WHERE n < 6) SELECT ev.n, t.s FROM ev JOIN t ON t.g = ev.n"))

    def temporal(self):
        f, s = "t x", Scope()
        for c, ty in TABLES["t"]:
            s.add(f"x.{c}", KIND[ty])
        self.labels.add("temporal filter")
        cond = self.r.choice(("mz_now() < x.ts", "mz_now() >= x.ts", "mz_now() BETWEEN x.ts AND x.ts + interval '8 years'", "mz_now() <= x.ts + interval '1 day' AND mz_now() > timestamp '2000-01-01'"))
        if self.chance(0.4):
            f += self.r.choice(("", " JOIN u y ON y.g = x.g", " JOIN u y ON y.g = x.g JOIN w z ON z.a = y.y", " LEFT JOIN u y ON y.g = x.g"))
        if self.chance(0.4):
            return f"SELECT x.g AS o0, count(*) AS n FROM {f} WHERE {cond} GROUP BY x.g"
        return f"SELECT x.id, {self.expr(s)} AS o1 FROM {f} WHERE {cond} AND {self.pred(s)}"

    def nested_types(self):
        """Ranges, lists and records as keys, values and in DISTINCT."""
        self.labels.add("ranges, lists, records")
        kinds = [self.r.choice(("range", "range", "ilist", "pair")), self.r.choice(("int", "range")), "int"]
        return self.grouped(kinds, 1) if self.chance(0.6) else self.plain(kinds, 1)

    def view(self):
        ways = [self.window] * 3 + [self.top_k] * 3 + [self.limit, self.lateral, self.lateral, self.table_function, self.table_function, self.in_select_list, self.correlated, self.correlated, self.subquery, self.subquery,
                self.grouping_sets, self.ordered_aggregate, self.set_operation, self.recursive, self.temporal, lambda: self.grouped(["int", "text", "int"], 1), lambda: self.plain(["int", "text"], 1), self.nested_types]
        if self.chance(0.12):
            kinds = ["int", "text"]
            q = self.plain(kinds, 0)
            self.ctes = [("cte0", kinds)]
            self.labels.add("CTE")
            body = self.r.choice([self.window, self.lateral, self.subquery, lambda: self.grouped(kinds, 0)])()
            return f"WITH cte0 AS ({q}) {body}"
        return self.r.choice(ways)()


# ---- rows and changes --------------------------------------------------------------------------------------------------------


def value(r, kind):
    if r.random() < 0.15:
        return "NULL"
    if kind == "int":
        return str(r.randint(0, 4))
    if kind == "num":
        return f"{r.randint(0, 3)}.{r.randint(0, 9)}"
    if kind == "text":
        return r.choice(("'a'", "'b'", "'c'", "'abc'"))
    if kind == "bool":
        return r.choice(("true", "false"))
    if kind == "list":
        return r.choice(("ARRAY[1,2]", "ARRAY[3]", "'{}'", "ARRAY[2,NULL,2]"))
    if kind == "range":
        return r.choice(("'[1,3]'", "'empty'", "'(,2]'", "'[0,)'", "'[2,5)'", "'[1,4)'"))
    if kind == "ilist":
        return r.choice(("'{1,2}'", "LIST[2]", "'{}'", "LIST[1,NULL]"))
    if kind == "pair":
        return r.choice(("ROW(1, 'a')", "ROW(NULL, 'b')", "'(2,)'", "ROW(NULL, NULL)"))
    if kind == "json":
        return r.choice(("'{\"k\": 1}'", "'{\"l\": [1, \"x\", null], \"m\": {}}'", "'[1, 2]'", "'{}'", "'{\"l\": []}'"))
    return r.choice(("'2020-01-01'", "'2031-05-05 10:00'", "'2024-02-29'"))


class Rows:
    def __init__(self, rng):
        self.r, self.next = rng, 0

    def row(self, table):
        out = []
        for c, ty in TABLES[table]:
            if c == "id":
                self.next += 1
                out.append(str(self.next))
            else:
                out.append(value(self.r, KIND[ty]))
        return "(" + ", ".join(out) + ")"

    def insert(self, table, n):
        return f"INSERT INTO {table} VALUES " + ", ".join(self.row(table) for _ in range(n))

    def change(self, table):
        c, ty = self.r.choice([x for x in TABLES[table] if x[0] != "id"])
        cond = self.r.choice((f"{KEYS[table][0]} % 3 = {self.r.randint(0, 2)}", f"{TABLES[table][1][0]} = {self.r.randint(0, 4)}", f"{TABLES[table][1][0]} IS NULL"))
        p = self.r.random()
        if p < 0.4:
            return self.insert(table, self.r.randint(1, 5))
        if p < 0.65:
            return f"UPDATE {table} SET {c} = {value(self.r, KIND[ty])} WHERE {cond}"
        if p < 0.93:
            return f"DELETE FROM {table} WHERE {cond}"
        return f"TRUNCATE {table}" if p < 0.96 else f"DELETE FROM {table}"
