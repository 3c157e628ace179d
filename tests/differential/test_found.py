# SPDX-License-Identifier: Apache-2.0
"""What the random differential test has found, as small cases: each view equals its query after each change, kept incrementally."""
import pytest

import compare
from place import Place

T = "CREATE TABLE @.t (k INT, s STRING); INSERT INTO @.t VALUES (1, 'a'), (2, 'b'), (NULL, NULL)"
U = "CREATE TABLE @.u (k INT, b BOOLEAN); INSERT INTO @.u VALUES (1, true), (3, NULL)"

FOUND = {
    "a source of a CTE that nobody reads changes": ((T, U), "WITH c AS (SELECT k FROM @.u x) SELECT k, count(*) AS n FROM @.t y GROUP BY k", ("INSERT INTO @.u VALUES (9, NULL)",)),
    "a subquery's column has no name and another type": ((T, U), "SELECT k FROM @.t x WHERE k IN (SELECT b.k + 0.5 - 0.5 FROM @.u b) UNION ALL SELECT 0.5 FROM @.u c",
                                                         ("INSERT INTO @.u VALUES (2, NULL)", "DELETE FROM @.u WHERE k = 1")),
    "several columns NOT IN, with NULLs": ((T, U), "SELECT k, s FROM @.t x WHERE (k, s) NOT IN (SELECT y.k, CAST(NULL AS STRING) FROM @.u y WHERE y.k <> x.k + 7 OR y.b)",
                                           ("INSERT INTO @.u VALUES (8, false), (NULL, false)", "DELETE FROM @.u WHERE k IS NULL", "INSERT INTO @.t VALUES (8, 'a'), (3, 'b')")),
    "rows are written again as they were": ((T,), "SELECT count(*) AS n FROM @.t x", ("INSERT OVERWRITE @.t SELECT * FROM @.t",)),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(server, ns, name):
    place = Place(server)
    before, query, changes = ([s.replace("@", f"glue_catalog.{ns}") for s in part] if isinstance(part, tuple) else part.replace("@", f"glue_catalog.{ns}") for part in FOUND[name])
    for some in before:
        for statement in some.split("; "):
            place.sql(statement)
    view = f"glue_catalog.{ns}.v"
    place.sql(f"CREATE MATERIALIZED VIEW {view} AS {query}")
    for change in changes:
        place.sql(change)
        error, (how, reason, _) = place.refresh(f"REFRESH MATERIALIZED VIEW {view}")
        assert error == ""
        assert how == "INCREMENTAL", reason
        assert compare.difference(place.sql(f"SELECT * FROM {view}"), place.sql(query), False) == ""


def test_rows_in_a_subquery_compare_column_by_column(server):
    """The engine alone makes every one of these unknown."""
    rows = "(1, 4), (2, 4), (2, 5), (NULL, 4), (2, NULL), (9, NULL)"
    got = server.sql(f"""SELECT (a, b) NOT IN (SELECT c, d FROM VALUES (2, NULL), (2, 5), (9, 9) AS u(c, d)), NOT ((a, b) IN (SELECT c, d FROM VALUES (2, NULL), (2, 5), (9, 9) AS u(c, d)))
        FROM VALUES {rows} AS t(a, b)""")
    assert got == [(True, True), (None, None), (False, False), (None, None), (None, None), (None, None)]
