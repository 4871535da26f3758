// SPDX-License-Identifier: LGPL-2.1-or-later
// The two steps of the remapping on both backends, and the tables for the first one.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/remap/remap_rules.h"

namespace cudavision::remap {

// Fills the tables of a grid's map, in host memory: a ray for each column of the output and one for each row.
void fill_tables(const CameraView &view, const RemapGrid &grid, Ray *columns, RowOfRays *rows);

// The number of bytes of a map, and the map in such memory, which must be aligned to 16 bytes.
std::size_t map_bytes(Size size);
Map map_in(void *memory, Size size);

// Computes the maps of a view with this camera from the tables.
Status make_maps(const Execution &execution, const CameraModel &camera, const MapTasks &tasks);
decltype(make_maps) make_maps_cpu, make_maps_cuda;
// Computes the samples of all grids from their maps. The settings of all tasks must be equal.
Status remap_grids(const Execution &execution, const GridTasks &tasks);
decltype(remap_grids) remap_grids_cpu, remap_grids_cuda;

}  // namespace cudavision::remap
