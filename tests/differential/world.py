# SPDX-License-Identifier: Apache-2.0
"""A world: tables, the views over them, and rounds of changes; made from a seed, run on a server, compared after each refresh."""
import dataclasses
import random
import re

import psycopg

import changes
import compare
import data
import queries
import schema

VIEWS, ROUNDS = 20, 4
# The engine cannot run every query as it was written, where the plan of the kept view can be run: nothing to compare with.
ENGINE_LIMITS = ("Unsupported join type for flattening correlated subquery", "Failed to bind column reference",
                 "Correlated IN/ANY/ALL with multiple columns not yet supported")
ALLOWED = {"cost": "cost", "the view's rows were changed by another writer": "another writer", "has expired": "expired snapshot", "first refresh": "first",
           "the sources did not change": "nothing changed", "was created anew": "source created anew", "the type of a result column was widened": "widened"}


@dataclasses.dataclass
class View:
    name: str
    managed: bool
    query: object
    columns: list
    labels: set
    flags: set
    partition: str = ""
    properties: str = ""

    def full_name(self):
        return f"glue_catalog.@NS@.{self.name}"

    def create_sql(self):
        return (f"CREATE {'MANAGED ' if self.managed else ''}MATERIALIZED VIEW {self.full_name()}" + (f" PARTITIONED BY ({self.partition})" if self.partition else "")
                + (f" TBLPROPERTIES ({self.properties})" if self.properties else "") + f" AS {self.query.sql()}")

    def refresh_sql(self):
        return f"REFRESH MATERIALIZED VIEW {self.full_name()}"

    def parents(self):
        return set(re.findall(r"glue_catalog\.@NS@\.(v\d+)", self.query.sql()))


@dataclasses.dataclass
class World:
    seed: int
    tables: list
    views: list
    rounds: list                 # (changes, names of the views refreshed after them)
    large: bool = False


@dataclasses.dataclass
class Mismatch:
    view: View
    round: int
    what: str
    sides: str = ""


@dataclasses.dataclass
class Refresh:
    view: View
    type: str
    reason: str
    changed: str = "0"           # rows, as the notice says


@dataclasses.dataclass
class Outcome:
    mismatches: list = dataclasses.field(default_factory=list)
    refreshes: list = dataclasses.field(default_factory=list)
    refused_views: list = dataclasses.field(default_factory=list)      # (view, why)
    refused_changes: list = dataclasses.field(default_factory=list)
    changes: int = 0
    by_duck: int = 0                                                   # comparisons with DuckDB's recomputation
    duck_refused: list = dataclasses.field(default_factory=list)
    unchecked: int = 0                                                 # comparisons with a query that the engine cannot run
    errors: int = 0                                                    # refreshes that failed as the query does

    def add(self, other):
        for f in dataclasses.fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))


# ---- making ------------------------------------------------------------------------------------------------------------------


def view(rng, i, relations, heavy):
    g = queries.Generator(rng, relations, heavy)
    q, cols = g.view()
    v = View(f"v{i}", rng.random() < 0.55, q, cols, g.labels or {"projection"}, g.flags)
    if rng.random() < 0.08 and cols[0].kind in ("int", "string", "date"):
        v.partition = rng.choice(("o1", "bucket(3, o1)"))
    if rng.random() < 0.15:
        v.properties = "'format-version' = '3'"
    return v


def make(seed, large=False, views=VIEWS):
    rng = random.Random(seed)
    ts = schema.tables(rng, 2 if large else 1)
    data.start(rng, ts, large)
    relations = {t.full_name(): [queries.Item(c.name, c.kind, c.flavour, c.precision, c.scale) for c in t.columns if c.name != "spare"] for t in ts}
    heavy = {ts[0].full_name()} if large else set()
    vs = []
    for i in range(views):
        v = view(rng, i, relations, heavy)
        vs.append(v)
        if rng.random() < 0.15 and not large:
            relations[v.full_name()] = v.columns
    changer = changes.Changer(rng, ts, vs)
    rounds = []
    for n in range(ROUNDS):
        names = [v.name for v in vs if n == ROUNDS - 1 or rng.random() < 0.8]
        rounds.append((changer.several(), names))
    return World(seed, ts, vs, rounds, large)


# ---- running -----------------------------------------------------------------------------------------------------------------


class Run:
    """One world on one server, in a namespace of its own."""

    def __init__(self, world, place, ns, with_duck=True):
        self.w, self.place, self.ns, self.duck = world, place, ns, compare.Duck() if with_duck else None
        self.out, self.live = Outcome(), []

    def sql(self, text):
        return self.place.sql(text.replace("@NS@", self.ns))

    def go(self):
        try:
            self.start()
            for n, (some, names) in enumerate(self.w.rounds):
                for c in some:
                    self.out.changes += 1
                    why = changes.apply(c, self.place.sql, self.place.pyiceberg, self.ns)
                    if why:
                        self.out.refused_changes.append(why)
                self.refresh_all(n + 1, names)
        finally:
            if self.duck:
                self.duck.close()
        return self.out

    def start(self):
        self.sql(f"CREATE NAMESPACE glue_catalog.{self.ns}")
        for t in self.w.tables:
            self.sql(t.create_sql())
            if t.rows:
                self.sql(f"INSERT INTO {t.full_name()} VALUES {data.values(t, t.rows)}")
            for _ in range(t.doublings):
                self.sql(f"INSERT INTO {t.full_name()} SELECT * FROM {t.full_name()}")
        for v in self.w.views:
            self.create(v)
        self.mirror()
        for v in self.live:
            self.check(v, 0)

    def create(self, v):
        if v.parents() - {x.name for x in self.live}:
            self.out.refused_views.append((v, "a view that it reads was refused"))
            return
        error = self.place.attempt(v.create_sql().replace("@NS@", self.ns))
        if error:
            self.out.refused_views.append((v, error))
        else:
            self.live.append(v)

    def mirror(self):
        if not self.duck:
            return
        for t in self.w.tables:
            self.mirror_one(t.name, t.full_name())

    def mirror_one(self, name, full):
        self.duck.mirror(name, *self.place.rows_and_types(f"SELECT * FROM {full}".replace("@NS@", self.ns)))

    def refresh_all(self, n, names):
        self.mirror()
        for v in [v for v in self.live if v.name in names]:
            error, note = self.place.refresh(v.refresh_sql().replace("@NS@", self.ns))
            if error:
                self.failed(v, n, error)
                continue
            self.out.refreshes.append(Refresh(v, *note))
            self.check(v, n)

    def failed(self, v, n, error):
        """A refresh may fail where the query itself does, and then in the same way."""
        if self.place.attempt(v.query.sql().replace("@NS@", self.ns)):
            self.out.errors += 1
        else:
            self.out.mismatches.append(Mismatch(v, n, f"the refresh failed, the query does not: {error}"))
        self.live = [x for x in self.live if x is not v and v.name not in x.parents()]

    def check(self, v, n):
        if self.duck and any(v.name in x.parents() for x in self.w.views):
            self.mirror_one(v.name, v.full_name())
        stored = self.place.sql(f"SELECT * FROM {v.full_name()}".replace("@NS@", self.ns))
        try:
            wanted = self.place.sql(v.query.sql().replace("@NS@", self.ns))
        except psycopg.Error as e:
            if any(words in str(e) for words in ENGINE_LIMITS):
                self.out.unchecked += 1
                return
            self.out.mismatches.append(Mismatch(v, n, f"the view was kept, the query fails: {str(e).splitlines()[0]}"))
            return
        how = self.out.refreshes[-1] if n else Refresh(v, "CREATE", "")
        loose = "float" in v.flags
        why = compare.difference(stored, wanted, loose)
        if why:
            self.out.mismatches.append(Mismatch(v, n, f"after {how.type} ({how.reason}) the view differs from its query", why))
        elif self.duck:
            self.check_by_duck(v, n, stored)

    def check_by_duck(self, v, n, stored):
        if v.flags & {"decimal average", "rows not in"}:
            return
        wanted, error = self.duck.rows(queries.to_duck(v.query.sql()))
        if error:
            self.out.duck_refused.append(error)
            return
        self.out.by_duck += 1
        why = compare.difference(stored, wanted, bool(v.flags))
        if why:
            self.out.mismatches.append(Mismatch(v, n, "the view differs from DuckDB's own recomputation", why))


def reason_class(refresh):
    """One of ALLOWED's, or empty for a reason that a construct of the list may not have."""
    for words, name in ALLOWED.items():
        if refresh.reason.startswith(words) or words in refresh.reason and words != "cost":
            return name
    return ""
