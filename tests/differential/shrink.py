# SPDX-License-Identifier: Apache-2.0
"""A failing world made smaller: fewer views, changes and rows, then fewer clauses; whatever still fails is kept.

A candidate that the server refuses does not fail the way that we look for, and is dropped like one that is right."""
import copy
import dataclasses
import time

import queries


def relevant(world, view):
    """The world with this view and those below it."""
    names, by_name = {view.name}, {v.name: v for v in world.views}
    todo = [view]
    while todo:
        for p in todo.pop().parents() - names:
            names.add(p)
            todo.append(by_name[p])
    text = " ".join(v.query.sql() for v in world.views if v.name in names)
    w = dataclasses.replace(world, views=[v for v in world.views if v.name in names], tables=[t for t in world.tables if t.full_name() in text])
    kept = {t.name for t in w.tables} | {v.full_name() for v in w.views}
    w.rounds = [([c for c in cs if c.table in kept], [n for n in ns if n in names]) for cs, ns in world.rounds]
    return w


def fewer_changes(w):
    for n in range(len(w.rounds)):
        if len(w.rounds) > 1:
            yield dataclasses.replace(w, rounds=w.rounds[:n] + w.rounds[n + 1:])
    for n, (cs, names) in enumerate(w.rounds):
        for i in range(len(cs)):
            yield dataclasses.replace(w, rounds=w.rounds[:n] + [(cs[:i] + cs[i + 1:], names)] + w.rounds[n + 1:])
    for n in range(len(w.rounds) - 1):
        both = (w.rounds[n][0] + w.rounds[n + 1][0], w.rounds[n + 1][1])
        yield dataclasses.replace(w, rounds=w.rounds[:n] + [both] + w.rounds[n + 2:])


def fewer_rows(w):
    for i, t in enumerate(w.tables):
        def put(**more):
            return dataclasses.replace(w, tables=w.tables[:i] + [dataclasses.replace(t, **more)] + w.tables[i + 1:])
        if t.doublings:
            yield put(doublings=0)
            yield put(doublings=t.doublings - 1)
        step = len(t.rows) // 2
        while step:
            for at in range(0, len(t.rows), step):
                yield put(rows=t.rows[:at] + t.rows[at + step:])
            step //= 2
        if t.partition:
            yield put(partition="")
        if t.properties:
            yield put(properties={})


# ---- queries -----------------------------------------------------------------------------------------------------------------


def without(some):
    return [some[:i] + some[i + 1:] for i in range(len(some))]


def smaller(q):
    """Queries with one thing less."""
    if isinstance(q, queries.With):
        yield q.body
        for some in without(q.ctes):
            yield queries.With(some, q.body)
        for b in smaller(q.body):
            yield queries.With(q.ctes, b)
        for i, (n, c) in enumerate(q.ctes):
            for s in smaller(c):
                yield queries.With(q.ctes[:i] + [[n, s]] + q.ctes[i + 1:], q.body)
    elif isinstance(q, queries.SetOp):
        yield q.left
        yield q.right
        for s in smaller(q.left):
            yield queries.SetOp(q.op, s, q.right)
        for s in smaller(q.right):
            yield queries.SetOp(q.op, q.left, s)
        for i in range(items_of(q) if items_of(q) > 1 else 0):
            yield drop_item(q, i)
    elif isinstance(q, queries.Select):
        yield from smaller_select(q)


def items_of(q):
    return len(q.items) if isinstance(q, queries.Select) else items_of(q.left if isinstance(q, queries.SetOp) else q.body)


def drop_item(q, i):
    if isinstance(q, queries.SetOp):
        return queries.SetOp(q.op, drop_item(q.left, i), drop_item(q.right, i))
    if isinstance(q, queries.With):
        return queries.With(q.ctes, drop_item(q.body, i))
    return dataclasses.replace(q, items=q.items[:i] + q.items[i + 1:])


def smaller_select(q):
    for field in ("having", "where", "group", "joins"):
        for some in without(getattr(q, field)):
            yield dataclasses.replace(q, **{field: some})
    if len(q.items) > 1:
        for some in without(q.items):
            yield dataclasses.replace(q, items=some)
    if q.distinct:
        yield dataclasses.replace(q, distinct=False)
    for i, j in enumerate(q.joins):
        def put(new):
            return dataclasses.replace(q, joins=q.joins[:i] + [new] + q.joins[i + 1:])
        if len(j.on) > 1:
            for some in without(j.on):
                yield put(dataclasses.replace(j, on=some))
        for leaf in smaller_leaf(j.right):
            yield put(dataclasses.replace(j, right=leaf))
    for leaf in smaller_leaf(q.first):
        yield dataclasses.replace(q, first=leaf)
    if q.joins:
        yield dataclasses.replace(q, first=q.joins[0].right, joins=q.joins[1:])
    for i, p in enumerate(q.where):
        if isinstance(p, queries.Sub):
            for s in smaller(p.query):
                yield dataclasses.replace(q, where=q.where[:i] + [queries.Sub(p.head, s)] + q.where[i + 1:])


def smaller_leaf(leaf):
    if isinstance(leaf.what, str):
        return
    for s in smaller(leaf.what):
        yield queries.Leaf(s, leaf.alias)


def smaller_queries(w):
    for i, v in enumerate(w.views):
        for q in smaller(v.query):
            yield dataclasses.replace(w, views=w.views[:i] + [dataclasses.replace(v, query=q)] + w.views[i + 1:])
        if v.partition or v.properties:
            yield dataclasses.replace(w, views=w.views[:i] + [dataclasses.replace(v, partition="", properties="")] + w.views[i + 1:])


# ---- the loop ----------------------------------------------------------------------------------------------------------------


def shrink(world, mismatch, fails, seconds=60):
    """The smallest world found on which fails(world) still gives a mismatch, and that mismatch."""
    end = time.monotonic() + seconds
    best, found = world, mismatch
    w = relevant(world, mismatch.view)
    w.rounds = copy.deepcopy(w.rounds[:max(1, mismatch.round)])
    again = fails(w)
    if again:
        best, found = w, again
    progress = bool(again)
    while progress and time.monotonic() < end:
        progress = False
        for candidates in (fewer_changes, smaller_queries, fewer_rows):
            more = True
            while more and time.monotonic() < end:
                more = False
                for c in candidates(best):
                    if time.monotonic() > end:
                        break
                    again = fails(c)
                    if again:
                        best, found, more, progress = c, again, True, True
                        break
    return best, found


def script(world, mismatch):
    """The reproduction, as SQL."""
    import data
    lines = [f"-- seed {world.seed}, round {mismatch.round}: {mismatch.what}", f"-- {mismatch.sides}", "SET spark.sql.mv.managed.enabled = true;",
             "CREATE NAMESPACE glue_catalog.n;"]
    for t in world.tables:
        lines.append(t.create_sql() + ";")
        if t.rows:
            lines.append(f"INSERT INTO {t.full_name()} VALUES {data.values(t, t.rows)};")
        lines += [f"INSERT INTO {t.full_name()} SELECT * FROM {t.full_name()};"] * t.doublings
    lines += [v.create_sql() + ";" for v in world.views]
    for cs, names in world.rounds:
        lines += [c.text() for c in cs] + [v.refresh_sql() + ";" for v in world.views if v.name in names]
    lines.append(f"SELECT * FROM {mismatch.view.full_name()};")
    lines.append(next((v.query.sql() for v in world.views if v.name == mismatch.view.name), mismatch.view.query.sql()) + ";")
    return "\n".join(lines).replace("@NS@", "n")
