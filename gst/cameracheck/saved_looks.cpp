// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cameracheck/saved_looks.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "cuda/common/backends.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr std::string_view kTitle = "gst-cudavision camera looks 1\n";
constexpr std::size_t kMostCells = (kMaxSide / kCameraCell) * (kMaxSide / kCameraCell),
                      kMostBytes = 2 * kMostCells * sizeof(std::uint16_t) + 1024;

template <typename T>
void append(std::string *bytes, const T *values, std::size_t count = 1) {
  bytes->append(reinterpret_cast<const char *>(values), count * sizeof(T));
}

// Takes values from the beginning of the bytes.
template <typename T>
bool take(std::string_view *bytes, T *values, std::size_t count = 1) {
  if (bytes->size() < count * sizeof(T)) return false;
  std::memcpy(values, bytes->data(), count * sizeof(T));
  bytes->remove_prefix(count * sizeof(T));
  return true;
}

bool take_look(std::string_view *bytes, Size cells, CameraLook *look) {
  std::vector<std::uint16_t> means(static_cast<std::size_t>(cells.width) *
                                   static_cast<std::size_t>(cells.height));
  for (double *usual : {&look->sharpness, &look->changed, &look->noise})
    if (!take(bytes, usual) || !std::isfinite(*usual) || *usual < 0) return false;
  return take(bytes, means.data(), means.size()) && look->restore(std::move(means), cells);
}

}  // namespace

std::string SavedLooks::encode() const {
  std::string bytes(kTitle);
  append(&bytes, &region);
  for (const CameraLook &look : looks) {
    if (!look.is_learnt()) continue;
    for (const double usual : {look.sharpness, look.changed, look.noise}) append(&bytes, &usual);
    append(&bytes, look.means().data(), look.means().size());
  }
  return bytes;
}

Status SavedLooks::decode(const std::string &bytes) {
  if (!bytes.starts_with(kTitle))
    return invalid_argument("it does not hold a camera's looks of this version");
  std::string_view left = std::string_view(bytes).substr(kTitle.size());
  if (!take(&left, &region) || region.x < 0 || region.y < 0 ||
      !check_sides({region.width, region.height}).ok())
    return invalid_argument("its sizes are impossible, or it is cut off");
  for (std::size_t i = 0; i < looks.size() && (i == 0 || !left.empty()); ++i)
    if (!take_look(&left, camera_cells({region.width, region.height}), &looks[i]))
      return invalid_argument("a number of it is impossible, or it is cut off");
  return left.empty() ? Status() : invalid_argument("it is too long");
}

Status SavedLooks::load(const std::optional<std::string> &location, std::shared_ptr<SavedLooks> *saved) {
  if (!location || location->empty()) return {};
  std::string bytes;
  Status status = read_regular_file(*location, kMostBytes, &bytes);
  if (status.code() == Status::Code::no_file) return {};
  *saved = std::make_shared<SavedLooks>();
  if (status.ok()) status = (*saved)->decode(bytes);
  return status.ok() ? status : about_model(*location, " cannot be used: ", status);
}

}  // namespace cudavision
