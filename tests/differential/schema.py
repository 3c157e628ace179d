# SPDX-License-Identifier: Apache-2.0
"""Random table definitions: columns, formats, partitions, how rows are deleted.

Every table has the columns k INT (few values, what joins meet on), spare INT (which no view reads: it is renamed and dropped
at will) and some others.  A column's flavour says what may be done with it: "tame" values may be added and summed exactly,
"tenths" are doubles whose sum depends on the order, "wild" ones hold the extremes of the type and are only compared."""
import dataclasses

KINDS = ("int", "bigint", "dec", "double", "string", "date", "ts", "bool")
SQL_NAMES = {"int": "INT", "bigint": "BIGINT", "double": "DOUBLE", "string": "STRING", "date": "DATE", "ts": "TIMESTAMP", "bool": "BOOLEAN"}
DECIMALS = ((9, 2), (10, 2), (12, 4), (18, 3), (20, 0), (38, 6))
TRANSFORMS = {"int": ("{c}", "bucket(3, {c})", "truncate(4, {c})"), "bigint": ("bucket(3, {c})", "truncate(10, {c})"),
              "string": ("{c}", "bucket(2, {c})", "truncate(1, {c})"), "date": ("{c}", "years({c})", "months({c})"),
              "ts": ("days({c})", "months({c})"), "bool": ("{c}",), "dec": ("bucket(3, {c})",)}


@dataclasses.dataclass
class Column:
    name: str
    kind: str
    flavour: str = "tame"
    precision: int = 0
    scale: int = 0
    nullable: bool = True

    def sql_type(self):
        return f"DECIMAL({self.precision},{self.scale})" if self.kind == "dec" else SQL_NAMES[self.kind]


@dataclasses.dataclass
class Table:
    name: str
    columns: list
    partition: str = ""
    properties: dict = dataclasses.field(default_factory=dict)
    rows: list = dataclasses.field(default_factory=list)
    doublings: int = 0                       # the rows are inserted again so many times, each time over all

    def full_name(self):
        return f"glue_catalog.@NS@.{self.name}"

    def create_sql(self):
        cols = ", ".join(f"{c.name} {c.sql_type()}{'' if c.nullable else ' NOT NULL'}" for c in self.columns)
        props = ", ".join(f"'{k}' = '{v}'" for k, v in self.properties.items())
        return (f"CREATE TABLE {self.full_name()} ({cols}) USING iceberg" + (f" PARTITIONED BY ({self.partition})" if self.partition else "")
                + (f" TBLPROPERTIES ({props})" if props else ""))


def column(rng, name):
    kind = rng.choice(("int", "int", "bigint", "dec", "dec", "double", "double", "string", "string", "date", "ts", "bool"))
    c = Column(name, kind)
    if kind == "dec":
        c.precision, c.scale = rng.choice(DECIMALS)
        c.flavour = "tame" if c.precision - c.scale > 4 and rng.random() < 0.75 else "wild"
    elif kind == "double":
        c.flavour = rng.choice(("tame", "tame", "tenths", "wild"))
    elif kind in ("int", "bigint", "date", "ts"):
        c.flavour = "wild" if rng.random() < 0.3 else "tame"
    c.nullable = rng.random() < 0.9
    return c


def partition(rng, columns):
    usable = [c for c in columns if c.kind in TRANSFORMS and c.name != "spare" and c.flavour == "tame"]
    c = rng.choice(usable)
    return rng.choice(TRANSFORMS[c.kind]).format(c=c.name)


def table(rng, name):
    columns = [Column("k", "int", nullable=rng.random() < 0.85)] + [column(rng, f"{name}{c}") for c in "abcde"[:rng.randint(2, 5)]] + [Column("spare", "int")]
    t = Table(name, columns)
    if rng.random() < 0.4:
        t.partition = partition(rng, columns)
    if rng.random() < 0.35:
        t.properties["format-version"] = "3"
    if rng.random() < 0.6:
        mode = rng.choice(("merge-on-read", "copy-on-write"))
        t.properties.update({f"write.{op}.mode": mode for op in ("delete", "update", "merge")})
    return t


def tables(rng, least):
    return [table(rng, name) for name in "tuw"[:max(least, rng.choice((1, 2, 2, 3)))]]
