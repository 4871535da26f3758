// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads one number from Exif data, which are a file in the format TIFF.
#include "gst/inpaint/exif_orientation.h"

#include <glib.h>

#include <cstddef>

namespace cudavision {
namespace {

class Tiff {
 public:
  // bytes: must begin with the byte order, II or MM, and 42 as a number of two bytes.
  explicit Tiff(std::string_view bytes) : bytes_(bytes), little_(bytes.starts_with("II")) {}

  // The number of `count` bytes at this offset, or 0 beyond the end.
  unsigned number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    unsigned value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[little_ ? at + count - 1 - i : at + i]);
    return value;
  }

 private:
  std::string_view bytes_;
  bool little_;
};

}  // namespace

unsigned exif_orientation(std::string_view exif) {
  constexpr std::string_view kBegin("Exif\0\0", 6);
  constexpr unsigned kOrientation = 0x112, kShort = 3, kSignedLong = 9;  // tag and types
  if (!exif.starts_with(kBegin)) return 0;
  exif.remove_prefix(kBegin.size());
  const Tiff tiff(exif);
  if ((!exif.starts_with("II") && !exif.starts_with("MM")) || tiff.number(2, 2) != 42) return 0;
  // The first list of tags: their number, and for each the tag, its type, how many values it has, and its value.
  const std::size_t list = tiff.number(4, 4);
  const unsigned tags = tiff.number(list, 2);
  for (unsigned i = 0; i < tags; ++i) {
    const std::size_t at = list + 2 + std::size_t{i} * 12;
    const unsigned type = tiff.number(at + 2, 2);
    if (tiff.number(at, 2) != kOrientation || tiff.number(at + 4, 4) != 1) continue;
    if (type != kShort && type != kSignedLong) continue;
    const unsigned value = tiff.number(at + 8, type == kShort ? 2 : 4);
    return value <= 8 ? value : 0;
  }
  return 0;
}

}  // namespace cudavision
