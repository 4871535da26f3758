-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: a table of all cameras, from the lines that batch.py --cameras writes with cudacameracheck, in all files of the
-- folder `results`: when the last line of each camera came, in UTC, and what is wrong with it since then. A camera that
-- was connected again is judged anew, so only its newest file counts. Nothing is wrong where `troubles` is empty, if the
-- last line is new.
-- For tables of --parquet, write in the place of the FROM:
--   FROM (SELECT * REPLACE (strftime(utc, '%Y-%m-%dT%H:%M:%SZ') AS utc), from_json(line->'events', '[{"event":"VARCHAR","state":"VARCHAR"}]') AS events
--         FROM read_parquet('results/*.parquet', filename = true))
WITH lines AS (
  SELECT source, utc, filename, events
  FROM read_json('results/*.jsonl', format = 'newline_delimited', filename = true, columns = {
    source: 'VARCHAR', utc: 'VARCHAR', events: 'STRUCT(event VARCHAR, state VARCHAR)[]'})
), cameras AS (
  SELECT source, left(max(utc), 19) AS last_line, arg_max(filename, utc) AS file FROM lines GROUP BY source
), states AS (
  SELECT filename, event.event AS trouble, sum(CASE event.state WHEN 'begin' THEN 1 ELSE -1 END) > 0 AS lasts
  FROM (SELECT filename, unnest(events) AS event FROM lines) WHERE event.state IS NOT NULL GROUP BY ALL
)
SELECT source, last_line, string_agg(trouble, ', ' ORDER BY trouble) AS troubles
FROM cameras LEFT JOIN states ON file = filename AND lasts GROUP BY source, last_line ORDER BY source;
