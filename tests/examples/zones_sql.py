#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the queries about events, on lines of JSON and on Parquet, with made events: from_to.sql, visits_by_hour.sql, stays.sql,
and cameras_now.sql.

usage: zones_sql.py FOLDER_OF_BATCH FOLDER    (Python with DuckDB and pyarrow)
"""
import json
import os
import pathlib
import re
import sys

import duckdb

batch, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(batch))
import parquet  # noqa: E402

SECOND, HOUR = 10**9, 3600 * 10**9


def line(source, frame, when, *events, **more):
    made = [{"event": kind, "name": name, "id": number, "running-time": when} | ({"duration": duration * SECOND // 10} if duration else {})
            for kind, name, number, duration in events]
    return {"source": source, "frame": frame, "pts": when, "running-time": when, "width": 64, "height": 48, "regions": [], "events": made,
            "tensors": [], **more}


def write(name, lines):
    (folder / "results" / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    parquet.convert(folder / "results" / f"{name}.jsonl", folder / "results" / f"{name}.parquet")


(folder / "results").mkdir(parents=True)
write("a.1", [line("a", 0, 0), line("a", 1, SECOND, ("enter", "door", 1, None), ("enter", "hall", 2, None), ("cross", "line", 1, None)),
            line("a", 2, 2 * SECOND, ("leave", "door", 1, 10), ("enter", "hall", 1, None)), line("a", 3, 5 * SECOND, ("leave", "hall", 1, 30)),
            line("a", 4, HOUR + SECOND, ("enter", "door", 3, None), ("crowd", "hall", None, None)), line("a", 5, HOUR + 9 * SECOND, ("leave", "door", 3, 80))])
# the camera is connected again: the ids begin anew
write("a.2", [line("a", 0, 0, ("enter", "door", 1, None)), line("a", 1, SECOND, ("leave", "door", 1, 10))])
write("b.1", [line("b", 0, 0, ("enter", "hall", 1, None), utc="2026-11-30T23:59:59.000000000Z")])
write("b.2", [line("b", 1, 2 * SECOND, ("leave", "hall", 1, 20), ("enter", "door", 1, None), utc="2026-12-01T00:00:01.000000000Z")])
check = [line("c", n, n * SECOND, utc=f"2026-12-01T08:00:0{n}.500000000Z") for n in range(4)]
for frame, *events in (1, ("lost", "begin"), ("lost", "end")), (2, ("covered", "begin"), ("dark", "begin")), (3, ("dark", "end")):
    check[frame]["events"] = [{"event": kind, "state": state, "measure": 1.0, "running-time": frame * SECOND} for kind, state in events]
write("c.1", check)
write("d.1", [one | {"source": "d"} for one in check])
write("d.2", [line("d", 0, 0, utc="2026-12-01T09:00:00.000000000Z")])  # connected again
EXPECTED = {
    "from_to.sql": [("a", "door", "door", 2), ("a", "door", "hall", 1), ("a", "hall", None, 1), ("b", "hall", None, 1)],
    "visits_by_hour.sql": [("a", "door", "00", 2), ("a", "door", "01", 1), ("a", "hall", "00", 2), ("b", "door", "2026-12-01T00", 1),
                           ("b", "hall", "2026-11-30T23", 1)],
    "cameras_now.sql": [("a", None, None), ("b", "2026-12-01T00:00:01", None), ("c", "2026-12-01T08:00:03", "covered"),
                        ("d", "2026-12-01T09:00:00", None)],
    "stays.sql": [("a", "door", 3, 1.0, 6.6, 7.86, 8.0), ("a", "hall", 1, 3.0, 3.0, 3.0, 3.0), ("b", "hall", 1, 2.0, 2.0, 2.0, 2.0)],
}
os.chdir(folder)
for name, rows in EXPECTED.items():
    query = (batch / name).read_text(encoding="utf-8")
    other = re.search(r"^--   (FROM .*\n(?:--  .*\n)*)", query, re.M)[1].replace("\n--", "\n")
    on_parquet, count = re.subn(r"^  FROM read_json\(.*?\}\)$", lambda _, text=other: text, query, count=1, flags=re.M | re.S)
    assert count == 1, name
    for what, text in ("JSON", query), ("Parquet", on_parquet):
        found = duckdb.sql(text).fetchall()
        assert found == rows, f"{name} on {what}: {found}"
print("the queries about events agree, on JSON and on Parquet")
