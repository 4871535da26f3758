-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: how often each zone was entered in each hour, from all files of the folder `results`. The hour is that of the day,
-- in UTC, where the lines have a `utc`, and otherwise that of the video. Hours without a visit are left out.
-- For tables of --parquet, write in the place of the FROM:
--   FROM (SELECT * REPLACE (strftime(utc, '%Y-%m-%dT%H') AS utc), from_json(line->'events', '[{"event":"VARCHAR","name":"VARCHAR"}]') AS events
--         FROM 'results/*.parquet')
WITH visits AS (
  SELECT source, coalesce(left(utc, 13), format('{:02d}', "running-time" // 3600000000000)) AS hour, unnest(events) AS event
  FROM read_json('results/*.jsonl', format = 'newline_delimited', columns = {
    source: 'VARCHAR', utc: 'VARCHAR', "running-time": 'BIGINT', events: 'STRUCT(event VARCHAR, name VARCHAR)[]'})
)
SELECT source, event.name AS zone, hour, count(*) AS visits FROM visits WHERE event.event = 'enter' GROUP BY ALL ORDER BY ALL;
