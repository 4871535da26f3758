-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: how many people each video or camera has seen in each minute, from all files of the folder `results`: the tracks
-- of people that lived for a second or more, and how many of them there were at a time, on average and at most. Minutes
-- without anybody are left out. A track is an id of cudavisiontrack. A tracker that loses somebody gives another id
-- later, so there are more tracks than people. Ids begin anew with each video and each connection to a camera, which
-- is where the running time goes back.
-- The minute is that of the day where the lines have a `utc`, and otherwise that of the video.
WITH frames AS (
  SELECT source, filename, frame, "running-time" AS time, regions,
    coalesce(left(utc, 16), format('{:02d}:{:02d}', pts // 3600000000000, pts // 60000000000 % 60)) AS minute,
    coalesce(time < lag(time) OVER (PARTITION BY source ORDER BY filename, frame), false) AS begins
  FROM read_json('results/*.jsonl', format = 'newline_delimited', filename = true, columns = {
    source: 'VARCHAR', frame: 'BIGINT', utc: 'VARCHAR', pts: 'BIGINT', "running-time": 'BIGINT',
    regions: 'STRUCT("type" VARCHAR, params STRUCT(tracking STRUCT(id UBIGINT)))[]'})
), runs AS (
  SELECT *, count_if(begins) OVER (PARTITION BY source ORDER BY filename, frame) AS run FROM frames
), boxes AS (
  SELECT DISTINCT source, filename, frame, time, minute, run, region.params.tracking.id AS id
  FROM (SELECT *, unnest(regions) AS region FROM runs)
  WHERE region.type = 'person' AND id IS NOT NULL
), tracks AS (
  SELECT source, run, id FROM boxes GROUP BY ALL HAVING max(time) - min(time) >= 1000000000
), people AS (
  SELECT *, count(*) OVER (PARTITION BY source, filename, frame) AS at_a_time FROM boxes SEMI JOIN tracks USING (source, run, id)
), minutes AS (
  SELECT source, minute, count(*) AS frames FROM frames GROUP BY ALL
)
SELECT source, minute, count(DISTINCT (run, id)) AS tracks, round(count(*) / any_value(minutes.frames), 2) AS mean, max(at_a_time) AS most
FROM people JOIN minutes USING (source, minute)
GROUP BY ALL
ORDER BY ALL;
