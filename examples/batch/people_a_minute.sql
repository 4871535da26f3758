-- SPDX-License-Identifier: LGPL-2.1-or-later
-- DuckDB: how many people each video or camera has seen in each minute, from all files of the folder `results`.
-- Minutes without anybody are left out. A person is an id of cudavisiontrack; ids begin anew with each video
-- and each connection to a camera.
-- The minute is that of the day where the lines have a `utc`, and otherwise that of the video.
WITH frames AS (
  FROM read_json('results/*.jsonl', format = 'newline_delimited', columns = {
    source: 'VARCHAR', utc: 'VARCHAR', pts: 'BIGINT',
    regions: 'STRUCT("type" VARCHAR, params STRUCT(tracking STRUCT(id BIGINT)))[]'})
), boxes AS (
  SELECT source, coalesce(left(utc, 16), format('{:02d}:{:02d}', pts // 3600000000000, pts // 60000000000 % 60)) AS minute,
    unnest(regions) AS region
  FROM frames
)
SELECT source, minute, count(DISTINCT region.params.tracking.id) AS people
FROM boxes
WHERE region.type = 'person' AND region.params.tracking.id IS NOT NULL
GROUP BY ALL
ORDER BY ALL;
