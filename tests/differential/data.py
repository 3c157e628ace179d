# SPDX-License-Identifier: Apache-2.0
"""Random values: few of each type, so that joins meet, groups repeat and rows are equal; NULLs; the extremes of wild columns.

A value is a Python object; literal() writes it as SQL."""
import datetime
import decimal
import math

D = decimal.Decimal
STRINGS = ("", "a", "b", "A", "ab", " a", "a ", "ä", "日本", "😀", "it's", "%_", "\\", "NULL", "0")
DATES = tuple(datetime.date(*x) for x in ((1970, 1, 1), (1969, 12, 31), (2024, 2, 29), (2024, 3, 1), (2026, 1, 1)))
FAR_DATES = (datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1582, 10, 15), datetime.date(1900, 1, 1))
TIMES = tuple(datetime.datetime(*x, tzinfo=datetime.timezone.utc) for x in (
    (1970, 1, 1), (1969, 12, 31, 23, 59, 59, 999999), (2024, 2, 29, 12), (2024, 2, 29, 12, 0, 0, 1), (2026, 1, 1)))
FAR_TIMES = tuple(datetime.datetime(*x, tzinfo=datetime.timezone.utc) for x in ((1, 1, 2), (9999, 12, 30, 23, 59, 59, 999999)))
WILD_DOUBLES = (math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1.0)


def tame(rng, c):
    match c.kind:
        case "int" | "bigint":
            return rng.randint(0, 5) if rng.random() < 0.9 else rng.randint(-3, 12)
        case "dec":
            return D(rng.randint(-20, 40)).scaleb(-min(c.scale, 1)).quantize(D(1).scaleb(-c.scale))
        case "double":
            if rng.random() < 0.08:
                return rng.choice((math.nan, -0.0, math.inf, -math.inf))
            return rng.randint(-4, 12) / 4 if c.flavour == "tame" else rng.randint(-30, 100) / 10
        case "string":
            return rng.choice(STRINGS[:5]) if rng.random() < 0.7 else rng.choice(STRINGS)
        case "date":
            return rng.choice(DATES)
        case "ts":
            return rng.choice(TIMES)
        case "bool":
            return rng.random() < 0.5


def extreme(rng, c):
    match c.kind:
        case "int":
            return rng.choice((2**31 - 1, -2**31, 0, -1))
        case "bigint":
            return rng.choice((2**63 - 1, -2**63, 2**53 + 1, 0))
        case "dec":
            top = D(10**c.precision - 1).scaleb(-c.scale, decimal.Context(prec=40))
            return rng.choice((top, top.copy_negate(), D(0).quantize(D(1).scaleb(-c.scale)), D(1).scaleb(-c.scale)))
        case "double":
            return rng.choice(WILD_DOUBLES)
        case "date":
            return rng.choice(FAR_DATES)
        case "ts":
            return rng.choice(FAR_TIMES)
    return tame(rng, c)


def value(rng, c):
    if c.nullable and rng.random() < 0.15:
        return None
    return extreme(rng, c) if c.flavour == "wild" and rng.random() < 0.5 else tame(rng, c)


def row(rng, t):
    return [value(rng, c) for c in t.columns]


def rows(rng, t, n):
    """Some rows are the same as an earlier one."""
    out = []
    for _ in range(n):
        out.append(list(rng.choice(out)) if out and rng.random() < 0.2 else row(rng, t))
    return out


def literal(c, v):
    if v is None:
        return "NULL"
    match c.kind:
        case "int" | "bigint":
            return str(v) if v > -2**31 else f"CAST('{v}' AS {c.sql_type()})"
        case "dec":
            return f"CAST('{v:f}' AS {c.sql_type()})"
        case "double":
            return f"CAST('{'NaN' if math.isnan(v) else str(v).replace('inf', 'Infinity')}' AS DOUBLE)"
        case "string":
            return "'" + v.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case "date":
            return f"DATE '{v.isoformat()}'"
        case "ts":
            return f"TIMESTAMP '{v.replace(tzinfo=None).isoformat(sep=' ')}'"
        case "bool":
            return "TRUE" if v else "FALSE"


def values(t, some):
    return ", ".join("(" + ", ".join(literal(c, v) for c, v in zip(t.columns, r)) + ")" for r in some)


def start(rng, ts, large):
    """The first rows of each table; in a large world the first table has some thousand."""
    for i, t in enumerate(ts):
        t.rows = rows(rng, t, 0 if rng.random() < 0.06 else rng.randint(1, 25))
        if large and i == 0:
            t.rows = t.rows or [row(rng, t)]
            while len(t.rows) << t.doublings < 1500:
                t.doublings += 1
