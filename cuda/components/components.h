// SPDX-License-Identifier: LGPL-2.1-or-later
// The connected components of a mask: the area, the box and the centroid of each. Areas, boxes and centroids equal
// those of cv::connectedComponentsWithStats.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kMaxComponents = 1024;  // in the list of a frame

// Which pixels touch: those beside, above and below a pixel, or also the four at its corners.
enum class Connectivity { four, eight };

struct ComponentParams {
  Connectivity connectivity = Connectivity::eight;
  int min_area = 1;  // pixels; smaller components are not listed

  friend bool operator==(const ComponentParams &, const ComponentParams &) = default;
};

struct ComponentRanges {
  static constexpr Range<int> min_area{1, 1 << 28};
};

// Returns an error that names the parameter that is out of its range.
Status validate(const ComponentParams &params);

struct ConnectedComponent {
  // The first pixel in raster order: row by row from the top, and each row from the left.
  int first_x = 0, first_y = 0;
  int area = 0;  // pixels
  Region box;
  std::int64_t sum_x = 0, sum_y = 0;  // of the coordinates of all pixels

  double centre_x() const { return static_cast<double>(sum_x) / area; }
  double centre_y() const { return static_cast<double>(sum_y) / area; }
  friend bool operator==(const ConnectedComponent &, const ConnectedComponent &) = default;
};

struct ComponentCount {
  int found = 0;   // components of at least min_area pixels
  int listed = 0;  // how many of these are in the list
  int pixels = 0;  // set pixels of the whole mask
};

// Where to write the components and their numbers, in the backend's memory.
struct ComponentList {
  ComponentCount *count = nullptr;
  ConnectedComponent *components = nullptr;
  int capacity = 0;  // 1 to kMaxComponents
};

// Works on masks of one size. Not thread-safe: use one instance per stream.
class Components {
 public:
  virtual ~Components() = default;
  // Lists the components, the largest first, and of equally large ones the one whose first pixel comes first. If there
  // are more than the list can hold, the last ones are left out. A pixel is set if it is 255. The mask lies in the
  // backend's memory. CUDA: enqueues four kernels. Errors: invalid parameters, a mask of another size, errors of the
  // device.
  virtual Status run(ImageView<const std::uint8_t> mask, const ComponentParams &params,
                     const ComponentList &list) = 0;
};

// Scratch memory: on CUDA 22 bytes per pixel, of which only the entries of existing components of tiles (64 x 64
// pixels) are touched; on the CPU up to 26 bytes per pixel, depending on the number of components.
Status make_components(const Execution &execution, Size size, std::unique_ptr<Components> *components);

}  // namespace cudavision
