-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: the histogram of each video or camera over time, in eight bins of brightness for each ten seconds, from all files of the
-- folder `results`. They were written with --elements "cudahistogram display=false" --tensor-data full.
WITH frames AS (
  FROM read_json('results/*.jsonl', format = 'newline_delimited', columns = {
    source: 'VARCHAR', utc: 'VARCHAR', pts: 'BIGINT', tensors: 'STRUCT(id VARCHAR, "data" BIGINT[])[]'})
), histograms AS (
  SELECT source, coalesce(left(utc, 18) || '0', format('{:02d}:{:02d}:{:02d}', pts // 3600000000000,
    pts // 60000000000 % 60, pts // 10000000000 % 6 * 10)) AS time, unnest(tensors) AS tensor
  FROM frames
), bins AS (
  SELECT source, time, unnest(tensor.data[1:256]) AS count, unnest(range(256)) AS value
  FROM histograms
  WHERE tensor.id = 'histogram' AND tensor.data IS NOT NULL
), sums AS (
  SELECT source, time, value // 32 * 32 AS from_brightness, sum(count) AS counted
  FROM bins
  GROUP BY ALL
)
SELECT source, time, from_brightness, round(counted / sum(counted) OVER (PARTITION BY source, time), 4) AS part
FROM sums
ORDER BY ALL;
