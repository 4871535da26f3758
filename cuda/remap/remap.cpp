// SPDX-License-Identifier: LGPL-2.1-or-later
// The remapping: validation, the tables of rays, the memory of the maps, and the choice of a backend.
#include "cuda/remap/remap.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/common/owned_memory.h"
#include "cuda/remap/remap_backends.h"

namespace cudavision {
namespace remap {
namespace {

std::size_t entries_of(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}
std::size_t table_bytes(Size size) {
  return static_cast<std::size_t>(size.width) * sizeof(Ray) +
         static_cast<std::size_t>(size.height) * sizeof(RowOfRays);
}

Status check_grid(const RemapGrid &grid) {
  CUDAVISION_TRY(check_range("the number of channels", grid.channels, 1, 4));
  CUDAVISION_TRY(check_range("a grid's scale", grid.scale_x, 1, kMaxSide));
  CUDAVISION_TRY(check_range("a grid's scale", grid.scale_y, 1, kMaxSide));
  CUDAVISION_TRY(check_range("a grid's offset", grid.offset_x, -kMaxSide, kMaxSide));
  CUDAVISION_TRY(check_range("a grid's offset", grid.offset_y, -kMaxSide, kMaxSide));
  CUDAVISION_TRY(check_sides(grid.source));
  return check_sides(grid.output);
}

// The backends compute offsets in the source in 32 bits.
Status check_samples(const char *name, const SampleGrid &samples, const RemapGrid &grid, Size size) {
  if (samples.data == nullptr) return invalid_argument(std::string(name) + " has no data");
  CUDAVISION_TRY(
      check_range((std::string("the step of ") + name).c_str(), samples.step_bytes, grid.channels, 64));
  if (std::abs(samples.pitch_bytes) < INT_MAX / (size.height + 1)) return {};
  return invalid_argument(std::string(name) + " has 2 GiB or more");
}

bool share_map(const RemapGrid &a, const RemapGrid &b) {
  return a.scale_x == b.scale_x && a.scale_y == b.scale_y && a.offset_x == b.offset_x &&
         a.offset_y == b.offset_y && a.output == b.output;
}

class RemapSteps final : public Remap {
 public:
  RemapSteps(const Execution &execution, const RemapGrid *grids, int count)
      : execution_(execution), count_(count) {
    std::copy_n(grids, count, grids_);
  }

  Status allocate() {
    std::size_t bytes = 0;
    for (int i = 0; i < count_; ++i) {
      const RemapGrid &grid = grids_[i];
      int &map = map_index_[i];
      while (map < maps_.count && !share_map(grids_[map_grid_[map]], grid)) ++map;
      if (map < maps_.count) continue;
      map_grid_[map] = i;
      CUDAVISION_TRY(map_memory_[map].allocate(execution_, map_bytes(grid.output)));
      constexpr double kPerSample = kFractions;
      maps_.task[maps_.count++] = {map_in(map_memory_[map].data(), grid.output), grid.offset_x, grid.offset_y,
                                   kPerSample / grid.scale_x, kPerSample / grid.scale_y};
      bytes += table_bytes(grid.output);
    }
    CUDAVISION_TRY(tables_.allocate(execution_, bytes));
    return host_tables_.allocate(execution_, tables_);
  }

  Status set_view(const CameraView &view) override {
    std::size_t first = 0;
    for (int i = 0; i < maps_.count; ++i) {
      MapTask &task = maps_.task[i];
      const auto at = [&](void *tables) { return static_cast<unsigned char *>(tables) + first; };
      const int width = task.map.size.width;
      Ray *columns = reinterpret_cast<Ray *>(at(host_tables_.written()));
      fill_tables(view, grids_[map_grid_[i]], columns, reinterpret_cast<RowOfRays *>(columns + width));
      task.columns = reinterpret_cast<const Ray *>(at(tables_.data()));
      task.rows = reinterpret_cast<const RowOfRays *>(task.columns + width);
      first += table_bytes(task.map.size);
    }
    CUDAVISION_TRY(host_tables_.send(execution_, tables_, first));
    CUDAVISION_TRY(make_maps(execution_, view.camera, maps_));
    has_view_ = maps_are_new_ = true;
    return {};
  }

  Status run(const SampleGrid *source, const SampleGrid *output, const RemapSettings &settings) override {
    if (!has_view_) return invalid_argument("no view has been set");
    GridTasks tasks;
    for (int i = 0; i < count_; ++i) {
      const RemapGrid &grid = grids_[i];
      CUDAVISION_TRY(check_samples("the source", source[i], grid, grid.source));
      CUDAVISION_TRY(check_samples("the output", output[i], grid, grid.output));
      GridTask &task = tasks.task[tasks.count++];
      task = {source[i], output[i], grid.source, grid.channels, settings, {}, maps_.task[map_index_[i]].map};
      std::copy_n(grid.border, 4, task.constant);
    }
    tasks.maps_are_new = std::exchange(maps_are_new_, false);
    return remap_grids(execution_, tasks);
  }

 private:
  Execution execution_;
  RemapGrid grids_[kMostGrids];
  int count_;
  int map_index_[kMostGrids] = {};  // the map of each grid
  int map_grid_[kMostGrids] = {};   // the first grid of each map
  MapTasks maps_;
  OwnedBytes map_memory_[kMostGrids], tables_;
  HostCopy host_tables_;
  bool has_view_ = false, maps_are_new_ = false;
};

}  // namespace

// A panorama's ray is matrix * (sin(a) cos(b), sin(b), cos(a) cos(b)); a plane's is matrix * (x, y, 1).
void fill_tables(const CameraView &view, const RemapGrid &grid, Ray *columns, RowOfRays *rows) {
  const double *m = view.matrix;
  const bool is_plane = view.surface == CameraView::Surface::plane;
  for (int i = 0; i < grid.output.width; ++i) {
    const double x = static_cast<double>(i) * grid.scale_x + grid.offset_x,
                 longitude = view.longitude + x * view.longitude_step;
    const double first = is_plane ? x : std::sin(longitude), third = is_plane ? 1.0 : std::cos(longitude);
    columns[i] = {m[0] * first + m[2] * third, m[3] * first + m[5] * third, m[6] * first + m[8] * third};
  }
  for (int i = 0; i < grid.output.height; ++i) {
    const double y = static_cast<double>(i) * grid.scale_y + grid.offset_y,
                 latitude = view.latitude + y * view.latitude_step;
    const double second = is_plane ? y : std::sin(latitude);
    rows[i] = {is_plane ? 1.0 : std::cos(latitude), {m[1] * second, m[4] * second, m[7] * second}};
  }
}

std::size_t map_bytes(Size size) { return entries_of(size) * (sizeof(Place) + sizeof(std::uint16_t)); }

Map map_in(void *memory, Size size) {
  auto *places = static_cast<Place *>(memory);
  return {places, reinterpret_cast<std::uint16_t *>(places + entries_of(size)), size};
}

Status make_maps(const Execution &execution, const CameraModel &camera, const MapTasks &tasks) {
  return run_on_backend<const CameraModel &, const MapTasks &>(execution, CUDAVISION_BACKENDS(make_maps),
                                                               camera, tasks);
}

Status remap_grids(const Execution &execution, const GridTasks &tasks) {
  return run_on_backend<const GridTasks &>(execution, CUDAVISION_BACKENDS(remap_grids), tasks);
}

}  // namespace remap

Status make_remap(const Execution &execution, const RemapGrid *grids, int count,
                  std::unique_ptr<Remap> *remap) {
  CUDAVISION_TRY(check_range("the number of grids", count, 1, Remap::kMostGrids));
  for (int i = 0; i < count; ++i) CUDAVISION_TRY(remap::check_grid(grids[i]));
  return catch_bad_alloc([&] { return make_as<remap::RemapSteps>(remap, execution, grids, count); });
}

}  // namespace cudavision
