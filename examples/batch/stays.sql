-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: how long tracks stayed in each zone, in seconds, from all files of the folder `results`: the stay that half of them
-- did not exceed, nine of ten, 99 of a hundred, and the longest one. Who is still in a zone at the end does not count.
-- For tables of --parquet, write in the place of the FROM:
--   FROM (SELECT *, from_json(line->'events', '[{"event":"VARCHAR","name":"VARCHAR","duration":"BIGINT"}]') AS events FROM 'results/*.parquet')
WITH stays AS (
  SELECT source, unnest(events) AS event
  FROM read_json('results/*.jsonl', format = 'newline_delimited', columns = {
    source: 'VARCHAR', events: 'STRUCT(event VARCHAR, name VARCHAR, duration BIGINT)[]'})
)
SELECT source, event.name AS zone, count(*) AS stays, round(quantile_cont(event.duration / 1e9, 0.5), 3) AS half,
  round(quantile_cont(event.duration / 1e9, 0.9), 3) AS nine_of_ten, round(quantile_cont(event.duration / 1e9, 0.99), 3) AS of_99,
  round(max(event.duration / 1e9), 3) AS longest
FROM stays WHERE event.event = 'leave' GROUP BY ALL ORDER BY ALL;
