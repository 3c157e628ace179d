# SPDX-License-Identifier: Apache-2.0
"""Rows as bags, and an independent recomputation by the DuckDB of the Python package."""
import collections
import datetime
import decimal
import math

import duckdb
import pyarrow as pa

D = decimal.Decimal
ARROW = {"int4": pa.int32(), "int8": pa.int64(), "float8": pa.float64(), "float4": pa.float32(), "text": pa.string(), "varchar": pa.string(), "date": pa.date32(),
         "timestamptz": pa.timestamp("us"), "timestamp": pa.timestamp("us"), "bool": pa.bool_()}


def plain(v):
    """One form for each value: -0.0 is 0.0 (equal in keys and set operations, either may stand for a group), NaN a word, times without a zone."""
    if isinstance(v, bool):
        return v
    if isinstance(v, float):
        return "NaN" if math.isnan(v) else v + 0.0 if v else 0.0
    if isinstance(v, D):
        return v.normalize(decimal.Context(prec=60)) if v else D(0)
    if isinstance(v, datetime.datetime) and v.tzinfo:
        return v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return v


def order(row):
    return tuple((v is None, isinstance(v, str), type(v).__name__ if not isinstance(v, (int, float, D)) else "", str(v) if not isinstance(v, (int, float)) else v) for v in row)


def same(x, y):
    if isinstance(x, (float, D)) and isinstance(y, (float, D)) and not (isinstance(x, D) and isinstance(y, D)):
        x, y = float(x), float(y)
        return x == y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-7)
    return x == y


def loosely_equal(a, b):
    """Both sides in one order, floats up to rounding; where rounding changed the order, by looking for a partner."""
    if len(a) != len(b):
        return False
    rest = list(b)
    for r in a:
        for i, other in enumerate(rest):
            if all(same(x, y) for x, y in zip(r, other)):
                del rest[i]
                break
        else:
            return False
    return True


def difference(stored, wanted, loose):
    """Empty when the bags are equal, else the rows on one side only."""
    a, b = ([tuple(plain(v) for v in r) for r in side] for side in (stored, wanted))
    more, less = collections.Counter(a), collections.Counter(b)
    more, less = list((more - less).elements()), list((less - more).elements())
    if not more and not less:
        return ""
    if loose and loosely_equal(more, less):
        return ""
    return f"stored only ({len(more)}): {more[:6]}; wanted only ({len(less)}): {less[:6]}; {len(a)} rows stored, {len(b)} wanted"


class Duck:
    def __init__(self):
        self.con = duckdb.connect(config={"threads": 1})

    def close(self):
        self.con.close()

    def mirror(self, name, rows, columns):
        """columns: (name, PostgreSQL type, precision, scale)."""
        types = [pa.decimal128(p, s) if t == "numeric" else ARROW[t] for _, t, p, s in columns]
        arrays = [pa.array([plain_time(r[i]) for r in rows], type=t) for i, t in enumerate(types)]
        mirrored = pa.table(arrays, names=[c[0] for c in columns])      # found by name in the statement
        self.con.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM mirrored")

    def rows(self, sql):
        try:
            return self.con.execute(sql).fetchall(), ""
        except duckdb.Error as e:
            return [], str(e).splitlines()[0]


def plain_time(v):
    return v.replace(tzinfo=None) if isinstance(v, datetime.datetime) else v
