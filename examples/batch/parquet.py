# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines of JSON as a Parquet table with the same columns for every video. Needs pyarrow, which Debian does not have."""
import datetime
import json

try:
    import pyarrow
    from pyarrow import parquet
except ImportError:
    pyarrow = None

ROWS = 1000  # rows that are in memory at once


def columns():
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()

    def rows_of(**fields):
        return pyarrow.list_(pyarrow.struct(fields))

    return pyarrow.schema({
        "source": text, "frame": whole, "pts": whole, "running-time": whole,
        "utc": pyarrow.timestamp("ns", "UTC"), "width": whole, "height": whole,
        "keypoints": rows_of(x=real, y=real, response=real, angle=real),
        "lines": rows_of(rho=real, theta=real, votes=whole, x1=real, y1=real, x2=real, y2=real),
        "regions": rows_of(type=text, x=whole, y=whole, width=whole, height=whole, score=real, track=whole),
        "tensors": rows_of(id=text, dims=pyarrow.list_(whole), type=text, min=real, max=real, sum=real, mean=real,
                           data=pyarrow.list_(real)),
        "line": text,  # the whole line, with the members that have no column
    })


def row(line):
    values = json.loads(line)
    values["line"] = line.rstrip("\n")
    for region in values.get("regions", []):
        region["track"] = region.get("params", {}).get("tracking", {}).get("id")
    if utc := values.get("utc"):
        whole, _, part = utc.rstrip("Z").partition(".")
        seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
        values["utc"] = int(seconds) * 10**9 + int(part.ljust(9, "0")[:9])
    return values


def convert(source, target):
    schema = columns()
    with open(source, encoding="utf-8") as lines, parquet.ParquetWriter(target, schema) as table:
        rows = []
        for line in lines:
            rows.append(row(line))
            if len(rows) == ROWS:
                table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
                rows = []
        table.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
