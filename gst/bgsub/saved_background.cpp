// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of cudabgsub's model-location.
#include "gst/bgsub/saved_background.h"

#include <glib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr char kTitle[] = "gst-cudavision background model 1\n";
constexpr std::size_t kTitleBytes = sizeof kTitle - 1;
constexpr std::size_t kMostFileBytes = std::size_t{2} << 30, kMostStateBytes = std::size_t{4} << 30;

// The numbers behind the title.
struct Head {
  std::int32_t x, y, width, height;  // of the region
  std::int32_t scale, channels, mixtures, frames;
};

Size size_of(const SavedBackground &saved) {
  return reduced_size({saved.region.width, saved.region.height}, saved.scale);
}

bool is_possible(const Head &h) {
  return h.x >= 0 && h.y >= 0 && h.x <= kMaxSide && h.y <= kMaxSide &&
         check_sides({h.width, h.height}).ok() && (h.scale == 1 || h.scale == 2 || h.scale == 4) &&
         (h.channels == 1 || h.channels == 3) && h.mixtures >= BgsubRanges::mixtures.least &&
         h.mixtures <= BgsubRanges::mixtures.most && h.frames > 0;
}

// Takes bytes from the front.
class Reader {
 public:
  explicit Reader(const std::string &bytes) : bytes_(bytes) {}
  bool take(void *to, std::size_t count) {
    if (count > bytes_.size() - at_) return false;
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
    return true;
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  const std::string &bytes_;
  std::size_t at_ = 0;
};

// Calls visit(place of the count, place of the first field of its first mode) for each pixel, until it returns false.
template <typename Visit>
bool for_each_pixel(const BgsubShape &shape, const Visit &visit) {
  for (int y = 0; y < shape.size.height; ++y)
    for (int x = 0; x < shape.size.width; ++x)
      if (!visit(shape.count_at(x, y), shape.field_at(x, y))) return false;
  return true;
}

}  // namespace

std::string SavedBackground::encode() const {
  const Head head{region.x,     region.y,
                  region.width, region.height,
                  scale,        channels,
                  mixtures,     static_cast<std::int32_t>(std::min<std::int64_t>(state.frames, INT32_MAX))};
  std::string bytes(kTitle, kTitleBytes);
  bytes.append(reinterpret_cast<const char *>(&head), sizeof head);
  const BgsubShape shape{size_of(*this), channels, mixtures};
  for_each_pixel(shape, [&](std::size_t count_at, std::size_t field_at) {
    const int count = state.counts[count_at];
    bytes.push_back(static_cast<char>(count));
    for (int i = 0; i < count * shape.fields(); ++i)
      bytes.append(reinterpret_cast<const char *>(
                       &state.modes[field_at + static_cast<std::size_t>(i) * shape.pitch()]),
                   sizeof(float));
    return true;
  });
  return bytes;
}

Status SavedBackground::decode(const std::string &bytes, SavedBackground *saved) {
  Reader reader(bytes);
  char title[kTitleBytes];
  if (!reader.take(title, kTitleBytes) || std::memcmp(title, kTitle, kTitleBytes) != 0)
    return invalid_argument("it is not a background model of this version");
  Head head;
  if (!reader.take(&head, sizeof head) || !is_possible(head))
    return invalid_argument("its sizes are impossible, or it is cut off");
  saved->region = {head.x, head.y, head.width, head.height};
  saved->scale = head.scale, saved->channels = head.channels, saved->mixtures = head.mixtures;
  const BgsubShape shape{size_of(*saved), head.channels, head.mixtures};
  if (static_cast<std::size_t>(shape.size.width) * static_cast<std::size_t>(shape.size.height) >
      reader.left())
    return invalid_argument("it is cut off");
  if (shape.mode_count() * sizeof(float) > kMostStateBytes)
    return invalid_argument("its model needs more than " + std::to_string(kMostStateBytes) + " bytes");
  saved->state.frames = head.frames;
  saved->state.counts.assign(shape.pixel_count(), 0);
  saved->state.modes.assign(shape.mode_count(), 0.0f);
  const bool ok = for_each_pixel(shape, [&](std::size_t count_at, std::size_t field_at) {
    std::uint8_t &count = saved->state.counts[count_at];
    if (!reader.take(&count, 1) || count > head.mixtures) return false;
    for (int i = 0; i < count * shape.fields(); ++i) {
      float &field = saved->state.modes[field_at + static_cast<std::size_t>(i) * shape.pitch()];
      if (!reader.take(&field, sizeof field) || !std::isfinite(field) || field < 0) return false;
    }
    return true;
  });
  if (!ok || reader.left() != 0)
    return invalid_argument("a pixel of it is impossible, or its length is wrong");
  return {};
}

Status SavedBackground::load(const std::optional<std::string> &location,
                             std::shared_ptr<SavedBackground> *saved) {
  if (!location || location->empty()) return {};
  std::string bytes;
  Status status = read_regular_file(*location, kMostFileBytes, &bytes);
  if (status.code() == Status::Code::no_file) return {};
  auto made = std::make_shared<SavedBackground>();
  if (status.ok()) status = decode(bytes, made.get());
  if (!status.ok())
    return {status.code(), "model-location: " + excerpt(*location) + " cannot be used: " + status.text()};
  *saved = std::move(made);
  return {};
}

Status SavedBackground::save(const std::string &location) const {
  std::string there;
  Status status = read_beginning(location, kTitleBytes, &there);
  if (status.ok() && there != std::string_view(kTitle, kTitleBytes))
    status = invalid_argument("it is a file of another kind");
  if (!status.ok() && status.code() != Status::Code::no_file)
    return {status.code(),
            "model-location: " + excerpt(location) + " is not replaced by the model: " + status.text()};
  const std::string bytes = encode();
  g_autoptr(GError) error = nullptr;
  if (g_file_set_contents(location.c_str(), bytes.data(), static_cast<gssize>(bytes.size()), &error))
    return {};
  return invalid_argument("model-location: the model could not be saved: " + excerpt(error->message));
}

}  // namespace cudavision
