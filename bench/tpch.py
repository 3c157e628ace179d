# SPDX-License-Identifier: Apache-2.0
"""Data of TPC-H's shape, made by hashes in SQL: the same rows for the same size on every machine, any range of keys by itself.

Orders have one to seven items, four on average; keys run from 0.  `items` names a size: 6,000,000 items are TPC-H's scale factor 1."""

SCHEMAS = {
    "region": "r_regionkey INT, r_name STRING",
    "nation": "n_nationkey INT, n_name STRING, n_regionkey INT",
    "supplier": "s_suppkey INT, s_name STRING, s_nationkey INT, s_acctbal DECIMAL(15,2)",
    "customer": "c_custkey INT, c_name STRING, c_address STRING, c_nationkey INT, c_phone STRING, c_acctbal DECIMAL(15,2), c_mktsegment STRING, c_comment STRING",
    "orders": "o_orderkey BIGINT, o_custkey INT, o_orderstatus STRING, o_totalprice DECIMAL(15,2), o_orderdate DATE, o_orderpriority STRING, "
              "o_shippriority INT, o_comment STRING",
    "lineitem": "l_orderkey BIGINT, l_partkey INT, l_suppkey INT, l_linenumber INT, l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2), "
                "l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, "
                "l_receiptdate DATE, l_shipmode STRING",
}
PARTS = 200_000


class Size:
    def __init__(self, items):
        self.orders = max(items // 4, 400)
        self.customers = max(self.orders // 10, 40)
        self.suppliers = max(self.orders // 150, 10)
        self.parts = min(PARTS, max(self.orders // 7, 10))


def pick(words, key):
    listed = ", ".join(f"'{w}'" for w in words)
    return f"([{listed}])[CAST(1 + ({key}) % {len(words)} AS INT)]"


def fixed(size):
    """Queries for the tables that do not grow."""
    regions = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
    segment = pick(("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"), "hash(i, 'cm')")
    return {
        "region": f"SELECT CAST(i AS INT), {pick(regions, 'i')} FROM range(5) t(i)",
        "nation": "SELECT CAST(i AS INT), 'NATION ' || lpad(CAST(i AS VARCHAR), 2, '0'), CAST(i % 5 AS INT) FROM range(25) t(i)",
        "supplier": f"SELECT CAST(i AS INT), 'Supplier#' || lpad(CAST(i AS VARCHAR), 9, '0'), CAST(hash(i, 's') % 25 AS INT), "
                    f"CAST((hash(i, 'sa') % 1100000)::BIGINT / 100 - 1000 AS DECIMAL(15,2)) FROM range({size.suppliers}) t(i)",
        "customer": f"SELECT CAST(i AS INT), 'Customer#' || lpad(CAST(i AS VARCHAR), 9, '0'), md5(CAST(i AS VARCHAR)), CAST(hash(i, 'c') % 25 AS INT), "
                    f"'10-' || (hash(i, 'p') % 10000000), CAST((hash(i, 'ca') % 1100000)::BIGINT / 100 - 1000 AS DECIMAL(15,2)), "
                    f"{segment}, 'comment ' || hash(i, 'cc') FROM range({size.customers}) t(i)",
    }


def orders(size, first, last):
    """Orders with keys first … last-1. A third of the customers orders nothing, as in TPC-H."""
    priorities = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
    return f"""SELECT CAST(i AS BIGINT) AS o_orderkey, CAST((hash(i, 'oc') % {size.customers * 2 // 3}) * 3 // 2 AS INT) AS o_custkey,
        {pick(('O', 'F', 'P'), "hash(i, 'os')")} AS o_orderstatus, CAST((hash(i, 'ot') % 50000000)::BIGINT / 100 AS DECIMAL(15,2)) AS o_totalprice,
        DATE '1992-01-01' + CAST(hash(i, 'od') % 2400 AS INT) AS o_orderdate, {pick(priorities, "hash(i, 'op')")} AS o_orderpriority,
        0 AS o_shippriority, 'order ' || CASE WHEN hash(i, 'os') % 97 = 0 THEN 'special requests ' ELSE '' END || hash(i, 'ox') AS o_comment
        FROM range({first}, {last}) t(i)"""


def lineitem(size, first, last):
    """The items of orders, order by order, as dbgen writes them."""
    return f"""SELECT CAST(i AS BIGINT) AS l_orderkey, CAST(hash(i, n, 'p') % {size.parts} AS INT), CAST(hash(i, n, 's') % {size.suppliers} AS INT), CAST(n AS INT),
        CAST(1 + hash(i, n, 'q') % 50 AS DECIMAL(15,2)), CAST((hash(i, n, 'e') % 10000000)::BIGINT / 100 AS DECIMAL(15,2)),
        CAST((hash(i, n, 'd') % 11)::BIGINT / 100 AS DECIMAL(15,2)), CAST((hash(i, n, 't') % 9)::BIGINT / 100 AS DECIMAL(15,2)),
        {pick(('A', 'N', 'R'), "hash(i, n, 'r')")}, {pick(('F', 'O'), "hash(i, n, 'l')")},
        DATE '1992-01-01' + CAST(hash(i, 'od') % 2400 + 1 + hash(i, n, 'sd') % 120 AS INT), DATE '1992-01-01' + CAST(hash(i, 'od') % 2400 + 30 + hash(i, n, 'cd') % 60 AS INT),
        DATE '1992-01-01' + CAST(hash(i, 'od') % 2400 + 10 + hash(i, n, 'rd') % 140 AS INT),
        {pick(('AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'), "hash(i, n, 'm')")}
        FROM range({first}, {last}) t(i), range(1, 8) u(n) WHERE n <= 1 + hash(i, 'n') % 7 ORDER BY 1, 4"""


# {c} stands before every table name.
VIEWS = {
    "Q1": """SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price,
        SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc,
        COUNT(*) AS count_order FROM {c}lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus""",
    "Q3": """SELECT l.l_orderkey, SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue, o.o_orderdate, o.o_shippriority
        FROM {c}customer c JOIN {c}orders o ON c.c_custkey = o.o_custkey JOIN {c}lineitem l ON l.l_orderkey = o.o_orderkey
        WHERE c.c_mktsegment = 'BUILDING' AND o.o_orderdate < DATE '1995-03-15' AND l.l_shipdate > DATE '1995-03-15'
        GROUP BY l.l_orderkey, o.o_orderdate, o.o_shippriority""",
    "Q5": """SELECT n.n_name, SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue
        FROM {c}customer c JOIN {c}orders o ON c.c_custkey = o.o_custkey JOIN {c}lineitem l ON l.l_orderkey = o.o_orderkey
        JOIN {c}supplier s ON l.l_suppkey = s.s_suppkey AND c.c_nationkey = s.s_nationkey JOIN {c}nation n ON s.s_nationkey = n.n_nationkey
        JOIN {c}region r ON n.n_regionkey = r.r_regionkey
        WHERE r.r_name = 'ASIA' AND o.o_orderdate >= DATE '1994-01-01' AND o.o_orderdate < DATE '1995-01-01' GROUP BY n.n_name""",
    "Q10": """SELECT c.c_custkey, c.c_name, SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue, c.c_acctbal, n.n_name, c.c_address, c.c_phone
        FROM {c}customer c JOIN {c}orders o ON c.c_custkey = o.o_custkey JOIN {c}lineitem l ON l.l_orderkey = o.o_orderkey
        JOIN {c}nation n ON c.c_nationkey = n.n_nationkey
        WHERE o.o_orderdate >= DATE '1993-10-01' AND o.o_orderdate < DATE '1994-01-01' AND l.l_returnflag = 'R'
        GROUP BY c.c_custkey, c.c_name, c.c_acctbal, c.c_phone, n.n_name, c.c_address""",
    "Q13": """SELECT c_count, COUNT(*) AS custdist FROM (SELECT c.c_custkey AS k, COUNT(o.o_orderkey) AS c_count
        FROM {c}customer c LEFT JOIN {c}orders o ON c.c_custkey = o.o_custkey AND o.o_comment NOT LIKE '%special%requests%' GROUP BY c.c_custkey) t
        GROUP BY c_count""",
    "parts": "SELECT l_partkey, SUM(l_quantity) AS qty, AVG(l_extendedprice) AS price, COUNT(*) AS n FROM {c}lineitem GROUP BY l_partkey",
}
