# SPDX-License-Identifier: Apache-2.0
"""Random view queries out of the constructs that are maintained incrementally (the list in test_differential.py).

A query is a small tree, so that shrink.py can take clauses away; expressions are text.  `labels` collects the constructs met
while it was made.  Results that depend on the order of a float sum are shown at the top only; nothing is compared with them."""
import dataclasses
import re

import data
from schema import KINDS

# ---- the tree --------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Leaf:
    what: object                 # a table's name or a query
    alias: str

    def sql(self):
        return f"{self.what if isinstance(self.what, str) else '(' + self.what.sql() + ')'} {self.alias}"


@dataclasses.dataclass
class Join:
    kind: str                    # "JOIN", "LEFT JOIN", …; "," is a cross join
    right: Leaf
    on: list
    using: str = ""

    def sql(self):
        tail = f" USING ({self.using})" if self.using else " ON " + " AND ".join(self.on) if self.on else ""
        return f"{self.kind if self.kind == ',' else ' ' + self.kind} {self.right.sql()}{tail}"


@dataclasses.dataclass
class Sub:
    """A condition on a subquery: `x NOT IN`, `EXISTS`."""
    head: str
    query: object

    def sql(self):
        return f"{self.head} ({self.query.sql()})"


@dataclasses.dataclass
class Select:
    items: list                  # [expression, alias]
    first: Leaf
    joins: list
    where: list
    group: list
    having: list
    distinct: bool = False

    def sql(self):
        def conjuncts(word, some):
            return f" {word} " + " AND ".join(x if isinstance(x, str) else x.sql() for x in some) if some else ""
        return (f"SELECT {'DISTINCT ' if self.distinct else ''}" + ", ".join(e + (f" AS {a}" if a else "") for e, a in self.items)
                + f" FROM {self.first.sql()}" + "".join(j.sql() for j in self.joins) + conjuncts("WHERE", self.where)
                + (" GROUP BY " + ", ".join(self.group) if self.group else "") + conjuncts("HAVING", self.having))


@dataclasses.dataclass
class SetOp:
    op: str
    left: object
    right: object

    def sql(self):
        def side(q):
            return f"({q.sql()})" if isinstance(q, SetOp) else q.sql()
        return f"{side(self.left)} {self.op} {side(self.right)}"


@dataclasses.dataclass
class With:
    ctes: list                   # [name, query]
    body: object

    def sql(self):
        return "WITH " + ", ".join(f"{n} AS ({q.sql()})" for n, q in self.ctes) + " " + self.body.sql() if self.ctes else self.body.sql()


@dataclasses.dataclass
class Item:
    """A column in scope: its text, and what may be done with it."""
    text: str
    kind: str
    flavour: str = "tame"
    precision: int = 0
    scale: int = 0

    def plain(self):
        return self.flavour in ("tame", "tenths")


# ---- the generator ---------------------------------------------------------------------------------------------------------

COMPARE = ("=", "<>", "<>", "<", "<=", "<=", ">", ">=", ">=")
LITERALS = {"int": lambda r: str(r.randint(0, 5)), "bigint": lambda r: f"CAST({r.randint(0, 5)} AS BIGINT)", "dec": lambda r: f"{r.randint(0, 3)}.{r.randint(0, 9)}",
            "double": lambda r: f"CAST('{r.randint(0, 8) / 4}' AS DOUBLE)", "string": lambda r: data.literal(Item("", "string"), r.choice(data.STRINGS[:8])),
            "date": lambda r: f"DATE '{r.choice(data.DATES)}'", "ts": lambda r: f"TIMESTAMP '{r.choice(data.TIMES).replace(tzinfo=None)}'",
            "bool": lambda r: r.choice(("TRUE", "FALSE"))}
CASTS = {"int": "INT", "bigint": "BIGINT", "dec": "DECIMAL(38,6)", "double": "DOUBLE", "string": "STRING", "date": "DATE", "ts": "TIMESTAMP", "bool": "BOOLEAN"}
SET_OPS = ("UNION ALL", "UNION ALL", "UNION ALL", "UNION", "UNION", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
JOINS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "FULL JOIN", "CROSS JOIN", ",", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


class Generator:
    def __init__(self, rng, relations, heavy):
        """relations: name in the catalog to its Items, whose text is the bare column name; heavy: those too large for joins without a key."""
        self.r, self.relations, self.heavy = rng, relations, heavy
        self.labels, self.flags, self.aliases, self.crosses, self.ctes, self.correlated, self.light = set(), set(), 0, 0, {}, 0, 0

    def chance(self, p):
        return self.r.random() < p

    def alias(self):
        self.aliases += 1
        return f"x{self.aliases}"

    # -- expressions

    def column(self, scope, kind, flavours=("tame", "tenths", "wild")):
        some = [c for c in scope if c.kind == kind and c.flavour in flavours]
        return self.r.choice(some).text if some else LITERALS[kind](self.r)

    def expr(self, scope, kind, depth=1):
        if depth <= 0 or self.chance(0.55):
            return self.column(scope, kind) if self.chance(0.96) else LITERALS[kind](self.r)
        self.labels.add("expression")
        x = lambda k=kind: self.expr(scope, k, depth - 1)
        if self.chance(0.2):
            return f"coalesce({x()}, {x()})"
        if self.chance(0.2):
            return f"CASE WHEN {self.pred(scope, 0)} THEN {x()}{'' if self.chance(0.4) else ' ELSE ' + x()} END"
        if self.chance(0.1):
            return f"nullif({x()}, {x()})"
        c = self.column(scope, kind, ("tame", "tenths"))
        r = self.r
        match kind:
            case "int":
                return r.choice((f"({c} + {r.randint(1, 3)})", f"({c} - {self.column(scope, kind, ('tame',))})", f"({c} % 3)", f"abs({c})", f"length({self.column(scope, 'string')})",
                                 f"year({self.column(scope, 'date')})", f"CAST({self.column(scope, 'bool')} AS INT)", f"(-{c})"))
            case "bigint":
                return r.choice((f"CAST({self.column(scope, 'int')} AS BIGINT)", f"({c} * 2)", f"({c} + {self.column(scope, 'int', ('tame',))})"))
            case "dec":
                return r.choice((f"({c} + {c})", f"({c} * 2)", f"(-{c})", f"abs({c})"))
            case "double":
                return r.choice((f"({c} * 2)", f"({c} + {self.column(scope, 'int', ('tame',))})", f"CAST({self.column(scope, 'int')} AS DOUBLE)", f"({c} / 4)", f"(-{c})"))
            case "string":
                return r.choice((f"upper({c})", f"({c} || '-')", f"({c} || {self.column(scope, 'string')})", f"substring({c}, 1, 1)", f"CAST({self.column(scope, 'int')} AS STRING)", f"trim({c})"))
            case "bool":
                return f"({self.pred(scope, depth - 1)})"
        return c

    def pred(self, scope, depth=1):
        if depth > 0 and self.chance(0.3):
            return f"({self.pred(scope, depth - 1)} {self.r.choice(('AND', 'OR'))} {self.pred(scope, depth - 1)})"
        if depth > 0 and self.chance(0.07):
            return f"NOT ({self.pred(scope, depth - 1)})"
        here = [c.kind for c in scope if c.flavour != "fuzzy"] or ["int"]
        kind = self.r.choice(here)
        x = self.expr(scope, kind, depth)
        p = self.r.random()
        if p < 0.18:
            return f"{x} IS {self.r.choice(('', 'NOT ', 'NOT '))}NULL"
        if p < 0.24:
            return f"{x} BETWEEN {LITERALS[kind](self.r)} AND {LITERALS[kind](self.r)}"
        if p < 0.32:
            return f"{x} {self.r.choice(('', 'NOT '))}IN ({LITERALS[kind](self.r)}, {LITERALS[kind](self.r)}{', NULL' if self.chance(0.1) else ''})"
        if p < 0.37:
            return f"{x} IS {self.r.choice(('', 'NOT '))}DISTINCT FROM {self.expr(scope, kind, 0)}"
        if p < 0.41 and kind == "string":
            return f"{x} LIKE {self.r.choice(('%a%', 'a%', '_', '%'))!r}"
        return f"{x} {self.r.choice(COMPARE)} {self.expr(scope, kind, 0) if self.chance(0.4) else LITERALS[kind](self.r)}"

    # -- FROM

    def light_leaf(self, depth):
        """One beside which a large table may stand."""
        self.light += bool(self.heavy)
        out = self.leaf(depth)
        self.light -= bool(self.heavy)
        return out

    def leaf(self, depth):
        """A table, a view, a CTE or a derived table: (Leaf, its scope)."""
        alias = self.alias()
        if depth > 0 and self.chance(0.22):
            self.labels.add("derived table")
            q, cols = self.query(self.kinds(), depth - 1)
            return Leaf(q, alias), self.scope(cols, alias)
        if depth > 0 and self.chance(0.03):
            self.labels.add("inline table")
            rows = ", ".join(f"({self.r.choice(('1', '2', '3', 'NULL'))}, {LITERALS['string'](self.r)})" for _ in range(self.r.randint(1, 3)))
            return Leaf(f"(VALUES (0, 'a'), {rows})", f"{alias}(a, b)"), [Item(f"{alias}.a", "int", "wild"), Item(f"{alias}.b", "string", "wild")]
        if self.ctes and not self.light and self.chance(0.4):
            name = self.r.choice(sorted(self.ctes))
            return Leaf(name, alias), self.scope(self.ctes[name], alias)
        views = [n for n in self.relations if "@.v" in n]
        if views and self.chance(0.12):
            self.labels.add("view over view")
            name = self.r.choice(views)
        else:
            tables = [n for n in self.relations if n not in views]
            name = self.r.choice([n for n in tables if not (self.light and n in self.heavy)] or tables)
        return Leaf(name, alias), self.scope(self.relations[name], alias)

    def scope(self, cols, alias):
        return [dataclasses.replace(c, text=f"{alias}.{c.text}") for c in cols if c.flavour != "fuzzy"]

    def on(self, left, right, more):
        common = sorted({c.kind for c in left} & {c.kind for c in right})
        kind = "int" if "int" in common and self.chance(0.6) or not common else self.r.choice(common)
        out = [f"{self.column(left, kind)} = {self.column(right, kind)}"]
        keys = [[c for c in side if c.text.endswith(".k")] for side in (left, right)]
        if all(keys) and self.chance(0.7):
            out = [f"{self.r.choice(keys[0]).text} = {self.r.choice(keys[1]).text}"]
        elif not common:
            out = [f"{self.expr(left, 'int', 1)} = {self.expr(right, 'int', 1)}"]
        if self.chance(0.08):
            k2 = self.r.choice(common or ["int"])
            out.append(f"{self.column(left, k2)} {self.r.choice(('=', 'IS NOT DISTINCT FROM'))} {self.column(right, k2)}")
        if more and self.chance(0.2):
            out.append(self.pred(left + right, 0))
        return out

    def from_(self, depth):
        first, scope = self.leaf(depth)
        joins, used = [], {first.what} if isinstance(first.what, str) else set()
        for _ in range(self.r.choice((0, 0, 0, 1, 1, 1, 2))):
            if self.aliases > 8:                   # enough: results multiply
                break
            kind = self.r.choice(JOINS[:-2] if self.correlated else JOINS)
            if kind in ("CROSS JOIN", ","):
                self.crosses += 1
                kind = kind if self.crosses == 1 else "JOIN"
            right, rs = self.light_leaf(depth - 1)
            if kind == "," and joins:
                kind = "CROSS JOIN"
            j = Join(kind, right, [])
            if isinstance(right.what, str):
                if right.what in used:
                    self.labels.add("self join")
                used.add(right.what)
            self.labels.add({"JOIN": "inner join", ",": "cross join"}.get(kind, kind.lower().replace("left semi", "semi").replace("left anti", "anti")))
            if kind in ("CROSS JOIN", ","):
                scope = scope + rs
            elif "SEMI" in kind or "ANTI" in kind:
                j.on = self.on(scope, rs, True)
            elif not joins and self.chance(0.1) and self.has_k(scope) and self.has_k(rs):
                j.using = "k"
                self.labels.add("using")
                scope = [c for c in scope + rs if not c.text.endswith(".k")] + [Item("k", "int")]
            else:
                j.on = self.on(scope, rs, kind != "FULL JOIN" or self.chance(0.15))
                scope = scope + rs
            joins.append(j)
            if j.using or kind == ",":              # a comma binds less than JOIN: what stood before would be out of reach
                break
        return first, joins, scope

    @staticmethod
    def has_k(scope):
        return sum(c.text.endswith(".k") for c in scope) == 1

    # -- WHERE

    def subquery(self, outer, depth):
        self.correlated += 1
        self.light += bool(self.heavy)
        first, joins, scope = self.from_(depth - 1)
        self.light -= bool(self.heavy)
        self.correlated -= 1
        have = [c for c in outer if c.kind in {x.kind for x in scope} & {"int", "string", "dec", "date", "bigint"}] or outer
        kind = self.r.choice(have).kind
        x = self.expr(outer, kind, 0)
        q = Select([], first, joins, [self.pred(scope, 1)] if self.chance(0.4) else [], [], [])
        in_ = self.chance(0.55)
        not_ = "NOT " if self.chance(0.5) else ""
        if not in_ and self.chance(0.92) or in_ and self.chance(0.2):
            q.where += self.on(outer, scope, True)
            self.labels.add("correlated subquery")
        if in_ and self.chance(0.12):
            k2 = self.r.choice(have).kind
            q.items = [[self.expr(scope, kind, 0), ""], [self.expr(scope, k2, 0), ""]]
            self.labels.add(f"{not_}IN of two columns".lower())
            if not_:
                self.flags.add("rows not in")      # DuckDB's own answer is wrong where NULLs are (sql/print_in.c)
            return Sub(f"({x}, {self.expr(outer, k2, 0)}) {not_}IN", q)
        if in_:
            q.items = [[self.expr(scope, kind, 0), ""]]
            self.labels.add(f"{not_}IN".lower())
            return Sub(f"{x} {not_}IN", q)
        q.items = [["1", ""]]
        self.labels.add(f"{not_}EXISTS".lower())
        return Sub(f"{not_}EXISTS", q)

    def where(self, scope, depth):
        out = []
        if self.chance(0.35):
            out.append(self.pred(scope, 1))
            self.labels.add("filter")
        if depth > 0 and self.chance(0.28):
            out.append(self.subquery(scope, depth))
        return out

    # -- SELECT

    def kinds(self):
        return [self.r.choice(KINDS if self.chance(0.4) else ("int", "int", "string", "dec", "bigint")) for _ in range(self.r.randint(1, 3))]

    def items(self, exprs, kinds, flavours=None):
        """Cast to the kind's widest type, so that both sides of a set operation have one type."""
        cols, items = [], []
        for i, (e, k) in enumerate(zip(exprs, kinds)):
            name = f"o{i + 1}"
            items.append([f"CAST({e} AS {CASTS[k]})" if k in ("dec", "bigint") or e[0] in "0123456789'" else e, name])
            cols.append(Item(name, k, (flavours or ["wild"] * len(kinds))[i]))
        return items, cols

    def known(self, kinds, scope, free):
        """Where nothing else depends on the kinds, those that the scope has."""
        here = [c.kind for c in scope]
        return [k if k in here or not free or not here else self.r.choice(here) for k in kinds]

    def plain(self, kinds, depth, free):
        first, joins, scope = self.from_(depth)
        kinds = self.known(kinds, scope, free)
        where = self.where(scope, depth)
        exprs, flavours = [], []
        for k in kinds:
            some = [c for c in scope if c.kind == k]
            if some and self.chance(0.6):
                c = self.r.choice(some)
                exprs.append(c.text)
                flavours.append(c.flavour)
            else:
                exprs.append(self.expr(scope, k, 2))
                flavours.append("wild")
        items, cols = self.items(exprs, kinds, flavours)
        q = Select(items, first, joins, where, [], [], self.chance(0.15))
        if q.distinct:
            self.labels.add("distinct")
        return q, cols

    def filter_clause(self, scope):
        if self.chance(0.1):
            self.labels.add("filter clause")
            return f" FILTER (WHERE {self.pred(scope, 0)})"
        return ""

    def argument(self, scope, kind, flavours):
        some = [c for c in scope if c.kind == kind and c.flavour in flavours]
        if not some:
            return None
        c = self.r.choice(some).text
        p = self.r.random()
        if p < 0.1:
            return f"CASE WHEN {self.pred(scope, 0)} THEN {c} END"
        if p < 0.18:
            return f"coalesce({c}, {LITERALS[kind](self.r)})"
        if p < 0.26 and kind in ("int", "double"):
            return f"({c} + {self.r.randint(1, 3)})"
        return c

    def aggregate(self, scope, top):
        """(text, kind, flavour) of one aggregate."""
        p, r = self.r.random(), self.r
        f = self.filter_clause(scope)
        if p < 0.2:
            self.labels.add("count")
            return f"count({'*' if self.chance(0.7) else self.expr(scope, r.choice(scope).kind if scope else 'int', 1)}){f}", "bigint", "tame"
        if p < 0.3 and scope:
            self.labels.add("count distinct")
            kind = r.choice(scope).kind
            return f"count(DISTINCT {self.expr(scope, kind, 1 if self.chance(0.3) else 0)}){f}", "bigint", "tame"
        if p < 0.62:
            fn = r.choice(("sum", "sum", "avg"))
            flavours = ("tame", "tenths") if top else ("tame",)
            kind = r.choice([c.kind for c in scope if c.kind in ("int", "bigint", "dec", "double") and c.flavour in flavours] or ["int"])
            x = self.argument(scope, kind, flavours)
            if x is not None:
                self.labels.add(fn)
                if kind == "double":
                    self.flags.add("float")
                    self.labels.add("float sum")
                if kind == "dec" and fn == "avg":
                    self.flags.add("decimal average")
                d = "DISTINCT " if self.chance(0.08) else ""
                if d:
                    self.labels.add(f"{fn} distinct")
                out = kind if kind in ("dec", "double") else "bigint"
                if fn == "avg":
                    self.flags.add("average")
                    out = "dec" if kind == "dec" else "double"
                return f"{fn}({d}{x}){f}", out, "fuzzy" if out == "double" else "wild"
        if p < 0.75:
            fn = r.choice(("bool_and", "bool_or", "every", "some"))
            self.labels.add("bool_and/or")
            return f"{fn}({self.pred(scope, 0) if self.chance(0.5) else self.column(scope, 'bool')}){f}", "bool", "tame"
        kind = r.choice([c.kind for c in scope if c.kind != "bool"] or ["int"])
        fn = r.choice(("min", "max"))
        self.labels.add("min/max")
        return f"{fn}({self.expr(scope, kind, 1 if self.chance(0.3) else 0)}){f}", kind, "wild"

    def key(self, scope):
        kind = self.r.choice(scope).kind if scope else "int"
        e = self.expr(scope, kind, 1 if self.chance(0.3) else 0)
        if re.match(r"[\d']|TRUE|FALSE|NULL|CAST\('?[\d.]+'? AS|DATE|TIMESTAMP", e):
            e = f"coalesce({e}, {e})"
        return e, kind

    def having(self, scope):
        self.labels.add("having")
        p = self.r.random()
        if p < 0.4:
            return f"count(*) {self.r.choice(('>', '<=', '=', '<>'))} {self.r.randint(0, 3)}"
        for _ in range(8):
            text, kind, flavour = self.aggregate(scope, False)
            if flavour != "fuzzy":
                break
        else:
            return "count(*) > 1"
        return f"{text} IS {self.r.choice(('', 'NOT '))}NULL" if p < 0.55 else f"{text} {self.r.choice(COMPARE)} {LITERALS[kind](self.r)}"

    def grouped(self, depth, top, count=None):
        first, joins, scope = self.from_(depth)
        where = self.where(scope, depth)
        nkeys = 0 if self.chance(0.13) else self.r.randint(1, 3)
        keys = [self.key(scope) for _ in range(nkeys)]
        self.labels.add("group by" if nkeys else "aggregate without keys")
        q = Select([], first, joins, where, [k for k, _ in keys], [])
        cols = []
        for e, kind in keys:
            if self.chance(0.8):
                cols.append(Item(f"o{len(q.items) + 1}", kind, "wild"))
                q.items.append([e, cols[-1].text])
        for _ in range(self.r.randint(0 if q.items and self.chance(0.1) else 1, 4)):
            text, kind, flavour = self.aggregate(scope, top)
            if kind in ("bigint", "double") and self.chance(0.12):
                text = f"coalesce({text}, {LITERALS[kind](self.r)}) + count(*)"
                flavour = "fuzzy" if kind == "double" else "wild"
            elif self.chance(0.07):
                text = f"CASE WHEN count(*) > 1 THEN {text} END"
            cols.append(Item(f"o{len(q.items) + 1}", kind, flavour if flavour == "fuzzy" else "tame" if text.startswith("count") and flavour == "tame" else "wild"))
            q.items.append([text, cols[-1].text])
        if self.chance(0.2) and (nkeys or self.chance(0.3)):
            q.having.append(self.having(scope))
        if self.chance(0.08) and all(c.flavour != "fuzzy" for c in cols):
            q.distinct = True
            self.labels.add("distinct over group by")
        if q.group and self.chance(0.1):
            shown = {e: i + 1 for i, (e, _) in enumerate(q.items)}
            q.group = [str(shown.get(e, e)) for e in q.group]
            self.labels.add("group by position")
        if not top:
            self.labels.add("nested aggregate")
        return q, cols

    def select_of(self, kinds, depth, free=False):
        """A SELECT whose columns have these kinds."""
        if self.chance(0.75):
            return self.plain(kinds, depth, free)
        first, joins, scope = self.from_(depth)
        kinds = self.known(kinds, scope, free)
        where = self.where(scope, depth)
        q, group, exprs = Select([], first, joins, where, [], []), [], []
        for k in kinds:
            if self.chance(0.6):
                e = self.expr(scope, k, 0)
                if re.match(r"[\d']|TRUE|FALSE|CAST\('?[\d.]+'? AS|DATE|TIMESTAMP", e):
                    e = f"coalesce({e}, {e})"
                group.append(e)
                exprs.append(e)
                continue
            fn = "count(*)" if k in ("int", "bigint") and self.chance(0.4) else f"{self.r.choice(('min', 'max') if k != 'bool' else ('bool_and', 'bool_or'))}({self.expr(scope, k, 0)})"
            exprs.append(f"CAST({fn} AS INT)" if k == "int" and fn == "count(*)" else fn)
        q.group = group
        q.items, cols = self.items(exprs, kinds)
        self.labels |= {"group by" if group else "aggregate without keys", "nested aggregate"}
        if group and self.chance(0.25):
            q.having.append(self.having(scope))
        return q, cols

    def query(self, kinds, depth, top=False):
        if not top and depth >= 0 and self.chance(0.3):
            return self.grouped(depth, False)
        more = self.chance(0.2 if not top else 0.4)
        q, cols = self.select_of(kinds, depth, True)
        kinds = [c.kind for c in cols]
        if more:
            for _ in range(1 + self.chance(0.2)):
                op = self.r.choice(SET_OPS)
                self.labels.add(op.lower())
                right, others = self.select_of(kinds, depth - 1)
                q = SetOp(op, q, right)
                cols = [dataclasses.replace(c, flavour="wild" if c.flavour != m.flavour else c.flavour) for c, m in zip(cols, others)]
        return q, cols

    def view(self):
        ctes = []
        for i in range(self.r.choice((0, 0, 0, 0, 1, 2))):
            q, cols = self.query(self.kinds(), 1)
            ctes.append([f"cte{i}", q])
            self.ctes[f"cte{i}"] = cols
            self.labels.add("cte")
        q, cols = self.grouped(2, True) if self.chance(0.5) else self.query(self.kinds(), 2, True)
        return (With(ctes, q) if ctes else q), cols


def to_duck(sql):
    """The same query in DuckDB's words, over tables of the bare names."""
    sql = sql.replace("glue_catalog.@NS@.", "")
    for a, b in (("LEFT SEMI JOIN", "SEMI JOIN"), ("LEFT ANTI JOIN", "ANTI JOIN"), ("every(", "bool_and("), ("some(", "bool_or("), ("\\\\", "\\"), ("\\'", "''")):
        sql = sql.replace(a, b)
    return sql
