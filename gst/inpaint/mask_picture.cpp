// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/inpaint/mask_picture.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

// The largest file that is read. Masks of 33 million pixels are smaller.
constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

// The columns or rows [first, end) of the picture.
struct Span {
  std::size_t first, end;
};

// The columns or rows of the picture that column or row i of the frame takes its value from.
Span span_of(int i, int of_frame, int of_picture) {
  const std::int64_t frame = of_frame, picture = of_picture;
  if (picture > frame)
    return {static_cast<std::size_t>(i * picture / frame),
            static_cast<std::size_t>(((i + std::int64_t{1}) * picture + frame - 1) / frame)};
  const auto middle = static_cast<std::size_t>((2 * std::int64_t{i} + 1) * picture / (2 * frame));
  return {middle, middle + 1};
}

}  // namespace

Status MaskPicture::load_property(const std::optional<std::string> &location,
                                  std::shared_ptr<const MaskPicture> *picture) {
  if (!location) return {};
  const Status status = catch_bad_alloc([&]() -> Status {
    std::string file;
    CUDAVISION_TRY(read_regular_file(*location, kMaxBytes, &file));
    return decode(file, picture);
  });
  if (status.ok()) return {};
  return {status.code(),
          "The mask of mask-location, \"" + excerpt(*location) + "\", could not be read: " + status.text()};
}

Status MaskPicture::decode(std::string_view file, std::shared_ptr<const MaskPicture> *picture) {
  if (file.starts_with("\xff\xd8\xff"))
    return {Status::Code::unreadable_file,
            "it is a JPEG picture, which changes the edges of a mask: save it as a PNG"};
  if (!file.starts_with("\x89PNG\r\n\x1a\n")) return {Status::Code::unreadable_file, "it is no PNG picture"};
  MaskPixels mask;
  CUDAVISION_TRY(decode_png(file, &mask));
  picture->reset(new MaskPicture(std::move(mask)));
  return {};
}

Array<std::uint8_t> MaskPicture::scaled_to(Size frame) const {
  Array<std::uint8_t> scaled;
  scaled.reserve(static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
  // The bitwise or of the picture's rows that a row of the frame covers.
  std::vector<std::uint8_t> row(static_cast<std::size_t>(mask_.size.width));
  for (int y = 0; y < frame.height; ++y) {
    const Span rows = span_of(y, frame.height, mask_.size.height);
    std::fill(row.begin(), row.end(), std::uint8_t{0});
    for (std::size_t j = rows.first; j < rows.end; ++j)
      for (std::size_t i = 0; i < row.size(); ++i) row[i] |= mask_.pixels[j * row.size() + i];
    for (int x = 0; x < frame.width; ++x) {
      const Span columns = span_of(x, frame.width, mask_.size.width);
      std::uint8_t any = 0;
      for (std::size_t i = columns.first; i < columns.end; ++i) any |= row[i];
      scaled.push_back(any);
    }
  }
  return scaled;
}

}  // namespace cudavision
