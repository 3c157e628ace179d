# SPDX-License-Identifier: Apache-2.0
"""Random changes of tables by SQL and by PyIceberg, and maintenance that changes no row.

A change is data: the same one can be applied again in a smaller world.  One that its client or the server refuses changes
nothing and is counted; whatever it did, views are compared with what the tables then hold."""
import dataclasses
import datetime

import psycopg

import data
import queries
import schema

NS = "@NS@"
PYICEBERG = ("py append", "py delete", "py overwrite", "py upsert", "py expire")


@dataclasses.dataclass
class Change:
    kind: str
    table: str
    sql: tuple = ()              # statements, in order
    rows: tuple = ()             # for PyIceberg: dicts
    where: str = ""
    step: int = 0                # snapshots back

    def text(self):
        if self.sql:
            return ";\n".join(self.sql) + ";"
        return f"-- {self.kind} {self.table}: {self.where} {list(self.rows)} {self.step or ''}"


def named_rows(t, rows):
    return tuple({c.name: v for c, v in zip(t.columns, r) if c.name != "spare"} for r in rows)


class Changer:
    def __init__(self, rng, ts, views):
        self.r, self.tables, self.views, self.added = rng, ts, views, 0

    def pred(self, t):
        scope = [queries.Item(c.name, c.kind, c.flavour) for c in t.columns if c.name != "spare"]
        g = queries.Generator(self.r, {}, set())
        return f"k = {self.r.randint(0, 5)}" if self.r.random() < 0.4 else g.pred(scope, 1)

    def named(self, t, alias=""):
        return [c for c in t.columns if c.name != "spare"]

    def insert(self, t):
        cols = self.named(t)
        t2 = schema.Table(t.name, cols)
        rows = data.rows(self.r, t2, self.r.randint(1, 8))
        return Change("insert", t.name, (f"INSERT INTO {t.full_name()} ({', '.join(c.name for c in cols)}) VALUES {data.values(t2, rows)}",))

    def insert_select(self, t):
        return Change("insert select", t.name, (f"INSERT INTO {t.full_name()} SELECT * FROM {t.full_name()} WHERE {self.pred(t)}",))

    def delete(self, t):
        return Change("delete", t.name, (f"DELETE FROM {t.full_name()} WHERE {self.pred(t)}",))

    def update(self, t):
        sets = []
        for c in self.r.sample(self.named(t), self.r.choice((1, 1, 2))):
            sets.append(f"{c.name} = {data.literal(c, data.value(self.r, c))}" if c.kind not in ("int",) or c.flavour == "wild" or self.r.random() < 0.5 else f"{c.name} = {c.name} + 1")
        return Change("update", t.name, (f"UPDATE {t.full_name()} SET {', '.join(sets)} WHERE {self.pred(t)}",))

    def update_unread(self, t):
        return Change("update of an unread column", t.name, (f"UPDATE {t.full_name()} SET spare = {self.r.randint(0, 9)} WHERE {self.pred(t)}",))

    def merge(self, t):
        cols = self.named(t)
        keys = self.r.sample(range(-1, 8), self.r.randint(1, 4))
        c = self.r.choice([x for x in cols if x.name != "k"] or cols)
        source = " UNION ALL ".join(f"SELECT {k} AS k, CAST({data.literal(c, data.value(self.r, c))} AS {c.sql_type()}) AS v" for k in keys)
        when = []
        if self.r.random() < 0.5:
            when.append(f"WHEN MATCHED AND s.k > {self.r.randint(0, 5)} THEN DELETE")
        if self.r.random() < 0.8:
            when.append(f"WHEN MATCHED THEN UPDATE SET {c.name} = s.v")
        if self.r.random() < 0.8 or not when:
            row = [data.value(self.r, x) for x in cols]
            when.append(f"WHEN NOT MATCHED THEN INSERT ({', '.join(x.name for x in cols)}) VALUES ("
                        + ", ".join("s.k" if x.name == "k" else data.literal(x, v) for x, v in zip(cols, row)) + ")")
        return Change("merge", t.name, (f"MERGE INTO {t.full_name()} d USING ({source}) s ON d.k = s.k {' '.join(when)}",))

    def overwrite(self, t):
        return Change("insert overwrite", t.name, (f"INSERT OVERWRITE {t.full_name()} SELECT * FROM {t.full_name()} WHERE {self.pred(t)}",))

    def truncate(self, t):
        return Change("truncate", t.name, (f"TRUNCATE TABLE {t.full_name()}" if self.r.random() < 0.5 else f"DELETE FROM {t.full_name()}",))

    def py(self, t):
        kind = self.r.choice(PYICEBERG[:4])
        k = self.r.randint(0, 5)
        where = self.r.choice((f"k = {k}", f"k in ({k}, {k + 1})", "k is null", f"k > {k}"))
        rows = data.rows(self.r, t, self.r.randint(1, 4)) if kind != "py delete" else []
        if kind == "py upsert":
            rows = list({r[0]: r for r in rows if r[0] is not None}.values())
        return Change(kind, t.name, rows=named_rows(t, rows), where=where)

    def evolve(self, t):
        self.added += 1
        p, name = self.r.random(), f"n{self.added}"
        widening = [c for c in t.columns if c.kind == "int" or c.kind == "dec" and c.precision < 38]
        if p < 0.35:
            return Change("add column", t.name, (f"ALTER TABLE {t.full_name()} ADD COLUMN {name} {self.r.choice(('INT', 'STRING', 'DOUBLE'))}",))
        if p < 0.55:
            return Change("rename unread column", t.name, (f"ALTER TABLE {t.full_name()} RENAME COLUMN spare TO {name}",))
        if p < 0.65:
            return Change("drop unread column", t.name, (f"ALTER TABLE {t.full_name()} DROP COLUMN spare",))
        if p < 0.75:
            return Change("partition field", t.name, (f"ALTER TABLE {t.full_name()} ADD PARTITION FIELD bucket({self.r.randint(2, 5)}, k)",))
        c = self.r.choice(widening)
        return Change("widen", t.name, (f"ALTER TABLE {t.full_name()} ALTER COLUMN {c.name} TYPE {'BIGINT' if c.kind == 'int' else f'DECIMAL({min(38, c.precision + 3)},{c.scale})'}",))

    def maintain(self, t):
        call = self.r.choice(("rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))", "rewrite_data_files('{t}')", "rewrite_manifests('{t}')",
                              "rewrite_position_delete_files(table => '{t}', options => map('rewrite-all', 'true'))")).format(t=f"{NS}.{t.name}")
        return Change("rewrite", t.name, (f"CALL glue_catalog.system.{call}",))

    def rollback(self, t):
        return Change("rollback", t.name, step=self.r.randint(1, 3))

    def expire(self, t):
        if self.r.random() < 0.5:
            return Change("py expire", t.name)
        return Change("expire", t.name, (f"CALL glue_catalog.system.expire_snapshots('{NS}.{t.name}', current_timestamp(), 1)",))

    def recreate(self, t):
        rows = data.rows(self.r, t, self.r.randint(1, 8))
        return Change("recreate", t.name, (f"DROP TABLE {t.full_name()}", t.create_sql(), f"INSERT INTO {t.full_name()} VALUES {data.values(t, rows)}"))

    def tamper(self, t):
        some = [v for v in self.views if not v.managed]
        if not some:
            return self.insert(t)
        v = self.r.choice(some).full_name()
        return Change("tamper", v, (self.r.choice((f"INSERT INTO {v} SELECT * FROM {v}", f"DELETE FROM {v}")),))

    def one(self):
        t = self.r.choice(self.tables)
        how = self.r.choices((self.insert, self.insert_select, self.delete, self.update, self.update_unread, self.merge, self.overwrite, self.truncate, self.py,
                              self.evolve, self.maintain, self.rollback, self.expire, self.recreate, self.tamper),
                             (30, 6, 18, 20, 3, 10, 3, 2, 12, 5, 5, 3, 1.5, 0.7, 1.5))[0]
        return how(t)

    def several(self):
        return [self.one() for _ in range(self.r.choice((1, 2, 2, 3, 3, 4, 6)))]


# ---- applying ----------------------------------------------------------------------------------------------------------------


def arrow_of(table, rows):
    import pyarrow as pa
    wanted = table.schema().as_arrow()
    return pa.Table.from_pylist([{f.name: r.get(f.name) for f in wanted} for r in rows], schema=wanted)


def by_pyiceberg(change, table):
    match change.kind:
        case "py append":
            table.append(arrow_of(table, change.rows))
        case "py delete":
            table.delete(change.where)
        case "py overwrite":
            table.overwrite(arrow_of(table, change.rows), overwrite_filter=change.where)
        case "py upsert":
            table.upsert(arrow_of(table, change.rows), join_cols=["k"])
        case "py expire":
            table.maintenance.expire_snapshots().older_than(datetime.datetime(2999, 1, 1)).commit()


def roll_back(change, run, ns):
    t = f"{ns}.{change.table}"
    past = [r[0] for r in run(f"SELECT snapshot_id FROM glue_catalog.{t}.history WHERE is_current_ancestor ORDER BY made_current_at")]
    if len(past) > change.step:
        run(f"CALL glue_catalog.system.rollback_to_snapshot('{t}', {past[-1 - change.step]})")


def apply(change, run, catalog, ns):
    """Empty when it went through, else why it did not. `run` runs SQL; `catalog()` gives PyIceberg's."""
    try:
        if change.kind == "rollback":
            roll_back(change, run, ns)
        elif change.kind in PYICEBERG:
            by_pyiceberg(change, catalog().load_table(f"{ns}.{change.table}"))
        for statement in change.sql:
            run(statement.replace(NS, ns))
    except psycopg.Error as e:
        return f"{change.kind}: {str(e).splitlines()[0]}"
    except Exception as e:                      # PyIceberg has no common base of its errors
        if change.kind not in PYICEBERG:
            raise
        return f"{change.kind}: {type(e).__name__}: {str(e)[:160]}"
    return ""
