-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: who came in where and left where, from all files of the folder `results`. A track has come in at the first zone
-- that it has entered, and has left at the last zone that it has left; who is still in a zone at the end of a file has left
-- nowhere (NULL). Ids of tracks begin anew where the running time goes back.
-- For tables of --parquet, write in the place of the first FROM:
--   FROM (SELECT *, from_json(line->'events', '[{"event":"VARCHAR","name":"VARCHAR","id":"UBIGINT"}]') AS events
--         FROM read_parquet('results/*.parquet', filename = true))
WITH lines AS (
  SELECT source, filename, frame, "running-time" AS time, events
  FROM read_json('results/*.jsonl', format = 'newline_delimited', filename = true, columns = {
    source: 'VARCHAR', frame: 'BIGINT', "running-time": 'BIGINT', events: 'STRUCT(event VARCHAR, name VARCHAR, id UBIGINT)[]'})
), begun AS (
  SELECT *, coalesce(time < lag(time) OVER (PARTITION BY source ORDER BY filename, frame), false) AS begins FROM lines
), runs AS (
  SELECT *, count_if(begins) OVER (PARTITION BY source ORDER BY filename, frame) AS run FROM begun
), steps AS (
  SELECT source, filename, run, event.id, event.event AS kind, event.name, row_number() OVER (PARTITION BY source ORDER BY filename, frame) AS step
  FROM (SELECT *, unnest(events) AS event FROM runs WHERE len(events) > 0)
), tracks AS (
  SELECT source, arg_min(name, step) FILTER (kind = 'enter') AS came_in,
    CASE WHEN arg_max(kind, step) = 'leave' THEN arg_max(name, step) END AS left_at
  FROM steps WHERE kind IN ('enter', 'leave') GROUP BY source, run, id
)
SELECT source, came_in, left_at, count(*) AS tracks FROM tracks WHERE came_in IS NOT NULL GROUP BY ALL ORDER BY ALL;
