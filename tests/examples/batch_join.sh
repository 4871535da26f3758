#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests what joins the results of the example batch: the queries for DuckDB, join.py and Parquet, on lines whose people
# are known and on the results of three shards. Installs DuckDB and others from PyPI.
#
#   batch_join.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
use_pypi numpy duckdb pyarrow pandas matplotlib
batch=("$venv/bin/python" "$examples/batch.py")

# query FOLDER FILE: runs the query of a file, and prints the rows as CSV.
query() { (cd "$root/$1" && "$venv/bin/python" -c 'import duckdb, sys; duckdb.sql(open(sys.argv[1]).read()).write_csv("/dev/stdout")' "$examples/$2"); }

echo "== known people"
mkdir -p "$root/known/results"
"$python" - "$root/known/results" <<'END'
import json, sys

def line(source, frame, pts, ids, **more):
    regions = [{"type": "person", "x": 1, "y": 2, "width": 3, "height": 4, "score": 0.5} |
               ({"params": {"tracking": {"id": i, "frames": 3}}} if i is not None else {}) for i in ids]
    return {"source": source, "frame": frame, "pts": pts, "running-time": pts} | more | {"width": 64, "height": 48, "regions": regions}

def write(name, lines):
    with open(f"{sys.argv[1]}/{name}.jsonl", "w") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)

second = 10**9
# id 0 is a track like any other, and None stands for a box without one. Tracks 1 and 9 live for less than a second. The
# second minute has a car, and the third nobody.
write("a.0", [line("a", 0, 0, [1, 2, 0, None]), line("a", 1, second // 2, [1, 2]), line("a", 2, 59 * second, [0, 2, 3, 9]), line("a", 3, 61 * second, [3]),
              line("a", 4, 62 * second, []) | {"regions": [{"type": "car", "params": {"tracking": {"id": 4}}}]},
              line("a", 5, 121 * second, []), line("a", 6, 3661 * second, [7]), line("a", 7, 3662 * second, [7])])
# a camera: the connection is lost between the first two files, and goes on from the second one to the third one
write("b.1", [line("b", 0, 5, [1], utc="2026-11-23T23:59:01.5Z"), line("b", 1, 2 * second, [1, 4], utc="2026-11-23T23:59:03.5Z")])
write("b.2", [line("b", 0, 7, [1], utc="2026-11-23T23:59:58.0Z"), line("b", 1, 2 * second, [1, 5], utc="2026-11-23T23:59:59.999999999Z")])
write("b.3", [line("b", 0, 4 * second, [5, 5], utc="2026-11-24T00:00:02.000000000Z")])
END
cat >"$root/expected" <<'END'
source,minute,tracks,mean,most
a,00:00,3,2.0,3
a,00:01,1,0.5,1
a,01:01,1,1.0,1
b,2026-11-23T23:59,3,1.25,2
b,2026-11-24T00:00,1,1.0,1
END
query known people_a_minute.sql | diff "$root/expected" -
sed 's/"source":"a"/"source":"private"/' "$root/known/results/a.0.jsonl" >"$root/private.jsonl"
# in a shared folder, somebody may make a link to another's file
ln -s "$root/private.jsonl" "$root/known/results/link.jsonl"
mkfifo "$root/known/results/pipe.jsonl"
"$venv/bin/python" "$examples/join.py" "$root/known/results" "$root/known/joined" >/dev/null
diff "$root/expected" "$root/known/joined/people.csv"
[[ $(head -c 4 "$root/known/joined/people.png") == $'\x89PNG' && ! -e $root/known/joined/histograms.csv ]]

echo "== zones"
"$venv/bin/python" "$(dirname "${BASH_SOURCE[0]}")/zones_sql.py" "$examples" "$root/zones"

echo "== three shards"
mkdir -p "$root/videos" "$root/shards"
make_videos "$root/videos" 6
for shard in 0 1 2; do
  expect 0 run --elements "cudahistogram display=false" --tensor-data full --parquet --shard "$shard/3" --output "$root/shards/results" "$root/videos"
done
query shards histograms.sql >"$root/duckdb.csv"
"$venv/bin/python" "$examples/join.py" "$root/shards/results" "$root/shards/joined" >/dev/null
[[ $(head -c 4 "$root/shards/joined/histograms.png") == $'\x89PNG' && $(wc -l <"$root/duckdb.csv") == 49 ]]
"$venv/bin/python" - "$root/duckdb.csv" "$root/shards" <<'END'
import sys, duckdb, pandas

duck, join = pandas.read_csv(sys.argv[1]), pandas.read_csv(f"{sys.argv[2]}/joined/histograms.csv")
keys = ["source", "time", "from_brightness"]
assert duck[keys].equals(join[keys]), (duck, join)
assert (duck.part - join.part).abs().max() < 1.5e-4
assert (duck.groupby(keys[:2]).part.sum() - 1).abs().max() < 1e-3
results = f"{sys.argv[2]}/results"
tables = duckdb.sql(f"SELECT source, frame, line FROM '{results}/*.parquet' ORDER BY ALL").fetchall()
lines = duckdb.sql(f"SELECT column0 FROM read_csv('{results}/*.jsonl', header=false, delim='\x01', quote='', escape='')").fetchall()
assert sorted(row[2] for row in tables) == sorted(row[0] for row in lines) and len(lines) == 360, len(lines)
pixels = duckdb.sql(f"SELECT DISTINCT list_sum(tensors[1].data), len(tensors[1].data) FROM '{results}/*.parquet'").fetchall()
assert pixels == [(19200, 256)], pixels
END
echo "the results join"
