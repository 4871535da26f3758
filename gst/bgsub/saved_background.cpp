// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/bgsub/saved_background.h"

#include <glib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/backends.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr char kTitle[] = "gst-cudavision background model 1\n";
constexpr std::size_t kTitleBytes = sizeof kTitle - 1;

// The numbers that follow the title in the file.
struct Head {
  std::int32_t x, y, width, height;  // of the region
  std::int32_t scale, channels, mixtures, frames;
};

constexpr std::size_t kHeadBytes = kTitleBytes + sizeof(Head);

BgsubShape shape_of(const SavedBackground &saved) {
  return {reduced_size({saved.region.width, saved.region.height}, saved.scale), saved.channels,
          saved.mixtures};
}

bool is_possible(const Head &h) {
  return h.x >= 0 && h.y >= 0 && h.x <= kMaxSide && h.y <= kMaxSide &&
         check_sides({h.width, h.height}).ok() && (h.scale == 1 || h.scale == 2 || h.scale == 4) &&
         (h.channels == 1 || h.channels == 3) && h.mixtures >= BgsubRanges::mixtures.least &&
         h.mixtures <= BgsubRanges::mixtures.most && h.frames > 0;
}

// Reads bytes one after another.
class Reader {
 public:
  explicit Reader(const std::string &bytes) : bytes_(bytes) {}
  bool take(void *to, std::size_t count) {
    if (count > bytes_.size() - at_) return false;
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
    return true;
  }
  void skip(std::size_t count) { at_ = std::min(bytes_.size(), at_ + count); }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  const std::string &bytes_;
  std::size_t at_ = 0;
};

// Calls visit(index in state.counts, index of the first field in state.modes) for each pixel, until it returns false.
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
  const BgsubShape shape = shape_of(*this);
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

Status SavedBackground::decode_head(const std::string &bytes) {
  Reader reader(bytes);
  char title[kTitleBytes];
  if (!reader.take(title, kTitleBytes) || std::memcmp(title, kTitle, kTitleBytes) != 0)
    return invalid_argument("it is not a background model of this version");
  Head head;
  if (!reader.take(&head, sizeof head) || !is_possible(head))
    return invalid_argument("its sizes are impossible, or it is cut off");
  region = {head.x, head.y, head.width, head.height};
  scale = head.scale, channels = head.channels, mixtures = head.mixtures;
  state.frames = head.frames;
  return {};
}

Status SavedBackground::decode(const std::string &bytes, const SavedBackground &expected) {
  CUDAVISION_TRY(decode_head(bytes));
  if (!has_shape_of(expected)) return invalid_argument("it is for " + words());
  Reader reader(bytes);
  reader.skip(kHeadBytes);
  const BgsubShape shape = shape_of(*this);
  state.counts.assign(shape.pixel_count(), 0);
  state.modes.assign(shape.mode_count(), 0.0f);
  const bool ok = for_each_pixel(shape, [&](std::size_t count_at, std::size_t field_at) {
    std::uint8_t &count = state.counts[count_at];
    if (!reader.take(&count, 1) || count > mixtures) return false;
    for (int i = 0; i < count * shape.fields(); ++i) {
      float &field = state.modes[field_at + static_cast<std::size_t>(i) * shape.pitch()];
      if (!reader.take(&field, sizeof field) || !std::isfinite(field) || field < 0) return false;
    }
    return true;
  });
  if (!ok || reader.left() != 0)
    return invalid_argument("a pixel of it is impossible, or its length is wrong");
  return {};
}

std::string SavedBackground::words() const {
  return to_string(Size{region.width, region.height}) + " pixels, scale=1/" + std::to_string(scale) + ", " +
         std::to_string(channels) + (channels == 1 ? " channel" : " channels") +
         ", mixtures=" + std::to_string(mixtures);
}

bool SavedBackground::has_shape_of(const SavedBackground &other) const {
  return region.width == other.region.width && region.height == other.region.height && scale == other.scale &&
         channels == other.channels && mixtures == other.mixtures;
}

Status SavedBackground::load(const std::optional<std::string> &location,
                             std::shared_ptr<SavedBackground> *saved) {
  if (!location || location->empty()) return {};
  std::string head;
  Status status = read_beginning(*location, kHeadBytes, &head);
  if (status.code() == Status::Code::no_file) return {};
  auto made = std::make_shared<SavedBackground>();
  if (status.ok()) status = made->decode_head(head);
  if (!status.ok()) return about_model(*location, " cannot be used: ", status);
  *saved = std::move(made);
  return {};
}

Status SavedBackground::read(const std::string &location, const SavedBackground &expected) {
  const BgsubShape shape = shape_of(expected);
  const std::size_t most = kHeadBytes + shape.pixel_count() + shape.mode_count() * sizeof(float);
  std::string bytes;
  Status status = read_regular_file(location, most, &bytes);
  if (status.ok()) status = decode(bytes, expected);
  return status.ok() ? status : about_model(location, " cannot be used: ", status);
}

Status SavedBackground::save(const std::string &location, std::int64_t enough) const {
  std::string there;
  SavedBackground other;
  Status status = read_beginning(location, kHeadBytes, &there);
  if (status.ok() && !there.starts_with(kTitle))
    status = invalid_argument("it is a file of another kind");
  else if (status.ok() && other.decode_head(there).ok() && !has_shape_of(other) &&
           other.state.frames >= std::min(enough, state.frames))
    status = invalid_argument("it is a model for " + other.words());
  else if (status.ok() && has_shape_of(other) && state.frames < std::min(enough, other.state.frames))
    status = invalid_argument("it has learnt more than the " + std::to_string(state.frames) +
                              " frames of this one, which has begun anew");
  if (!status.ok() && status.code() != Status::Code::no_file)
    return about_model(location, " is not replaced by the model: ", status);
  status = replace_file(location, encode());
  return status.ok() ? status : about_model(location, " is not replaced by the model: ", status);
}

}  // namespace cudavision
