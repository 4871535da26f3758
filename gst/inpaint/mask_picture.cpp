// SPDX-License-Identifier: LGPL-2.1-or-later
// The mask of mask-location: reads it with gdk-pixbuf and scales it.
#include "gst/inpaint/mask_picture.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <string_view>

#include "cuda/common/backends.h"
#include "cuda/luma/luma.h"
#include "gst/base/regular_file.h"

namespace cudavision {
namespace {

struct Unref {
  void operator()(GdkPixbuf *pixbuf) const { g_object_unref(pixbuf); }
};
using Pixbuf = std::unique_ptr<GdkPixbuf, Unref>;

// The columns or rows [first, end) of the picture.
struct Span {
  std::size_t first, end;
};

// The columns or rows of the picture that column or row i of the frame takes its value from.
Span span_of(int i, int of_frame, int of_picture) {
  const gint64 frame = of_frame, picture = of_picture;
  if (picture > frame)
    return {static_cast<std::size_t>(i * picture / frame),
            static_cast<std::size_t>(((i + gint64{1}) * picture + frame - 1) / frame)};
  const auto middle = static_cast<std::size_t>((2 * gint64{i} + 1) * picture / (2 * frame));
  return {middle, middle + 1};
}

// Frees the error.
Status status_of(GError *error) {
  const auto code = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? Status::Code::no_file
                                                                             : Status::Code::unreadable_file;
  Status status(code, error->message);
  g_error_free(error);
  return status;
}

// gdk-pixbuf reads many more formats, but some of its loaders, that of BMP among them, allocate gigabytes for a
// file of a hundred bytes.
Status check_format(const std::string &location) {
  char head[8] = {};
  std::ifstream(location, std::ios::binary).read(head, sizeof head);
  const std::string_view begin(head, sizeof head);
  if (begin == "\x89PNG\r\n\x1a\n" || begin.starts_with("\xff\xd8\xff")) return {};
  return {Status::Code::unreadable_file, "it is no PNG or JPEG picture"};
}

// Looks at the size in the file's header: a file of some kilobytes may hold a picture of gigabytes. A file
// that is no picture passes here, and is refused with a reason when it is read.
Status check_picture_size(const std::string &location) {
  constexpr int kMostPixels = 1 << 25;  // a frame of 7680x4320
  int width = 0, height = 0;
  if (gdk_pixbuf_get_file_info(location.c_str(), &width, &height) == nullptr) return {};
  if (width <= kMaxSide && height <= kMaxSide && gint64{width} * height <= kMostPixels) return {};
  return invalid_argument("it has " + to_string(Size{width, height}) + " pixels; at most " +
                          std::to_string(kMostPixels) + ", and " + std::to_string(kMaxSide) +
                          " on a side, are read. A smaller picture is scaled to the frame");
}

}  // namespace

Status MaskPicture::load(const std::string &location, std::shared_ptr<const MaskPicture> *picture) try {
  CUDAVISION_TRY(check_regular_file(location));
  CUDAVISION_TRY(check_format(location));
  CUDAVISION_TRY(check_picture_size(location));
  GError *error = nullptr;
  const Pixbuf read(gdk_pixbuf_new_from_file(location.c_str(), &error));
  if (!read) return status_of(error);
  const Pixbuf upright(gdk_pixbuf_apply_embedded_orientation(read.get()));
  if (!upright) return {Status::Code::unreadable_file, "the host has no memory left for it"};
  const GdkPixbuf *pixbuf = upright.get();
  const Size size{gdk_pixbuf_get_width(pixbuf), gdk_pixbuf_get_height(pixbuf)};
  const int channels = gdk_pixbuf_get_n_channels(pixbuf), pitch_bytes = gdk_pixbuf_get_rowstride(pixbuf);
  const bool has_alpha = gdk_pixbuf_get_has_alpha(pixbuf) != FALSE;
  const guint8 *pixels = gdk_pixbuf_read_pixels(pixbuf);
  Array<std::uint8_t> mask;
  mask.reserve(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const guint8 *p = pixels + static_cast<std::ptrdiff_t>(y) * pitch_bytes + x * channels;
      const bool removed = luma_of_rgb(p[0], p[1], p[2]) >= 128 && (!has_alpha || p[3] >= 128);
      mask.push_back(removed ? 255 : 0);
    }
  picture->reset(new MaskPicture(size, std::move(mask)));
  return {};
} catch (const std::bad_alloc &) {
  return {Status::Code::unreadable_file, "the host has no memory left for it"};
}

Array<std::uint8_t> MaskPicture::scaled_to(Size frame) const {
  Array<std::uint8_t> scaled;
  scaled.reserve(static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
  // The bitwise or of the picture's rows that a row of the frame covers.
  std::vector<std::uint8_t> row(static_cast<std::size_t>(size_.width));
  for (int y = 0; y < frame.height; ++y) {
    const Span rows = span_of(y, frame.height, size_.height);
    std::fill(row.begin(), row.end(), std::uint8_t{0});
    for (std::size_t j = rows.first; j < rows.end; ++j)
      for (std::size_t i = 0; i < row.size(); ++i) row[i] |= pixels_[j * row.size() + i];
    for (int x = 0; x < frame.width; ++x) {
      const Span columns = span_of(x, frame.width, size_.width);
      std::uint8_t any = 0;
      for (std::size_t i = columns.first; i < columns.end; ++i) any |= row[i];
      scaled.push_back(any);
    }
  }
  return scaled;
}

}  // namespace cudavision
