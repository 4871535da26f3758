// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture that says what is removed: read by gdk-pixbuf.
#include "gst/inpaint/mask_picture.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#include <algorithm>
#include <new>

#include "cuda/luma/luma.h"

namespace cudavision {
namespace {

struct Unref {
  void operator()(GdkPixbuf *pixbuf) const { g_object_unref(pixbuf); }
};
using Pixbuf = std::unique_ptr<GdkPixbuf, Unref>;

// [first, last) of the picture's columns or rows.
struct Range {
  std::size_t first, last;
};

// What pixel i of the frame stands for.
Range range_of(int i, int of_frame, int of_picture) {
  const gint64 frame = of_frame, picture = of_picture;
  if (picture > frame)
    return {static_cast<std::size_t>(i * picture / frame),
            static_cast<std::size_t>(((i + gint64{1}) * picture + frame - 1) / frame)};
  const auto middle = static_cast<std::size_t>((2 * gint64{i} + 1) * picture / (2 * frame));
  return {middle, middle + 1};
}

}  // namespace

std::shared_ptr<const MaskPicture> MaskPicture::load(const std::string &location, GError **error) try {
  const Pixbuf read(gdk_pixbuf_new_from_file(location.c_str(), error));
  if (!read) return nullptr;
  const Pixbuf upright(gdk_pixbuf_apply_embedded_orientation(read.get()));
  const GdkPixbuf *pixbuf = upright.get();
  const Size size{gdk_pixbuf_get_width(pixbuf), gdk_pixbuf_get_height(pixbuf)};
  const int channels = gdk_pixbuf_get_n_channels(pixbuf), pitch_bytes = gdk_pixbuf_get_rowstride(pixbuf);
  const bool has_alpha = gdk_pixbuf_get_has_alpha(pixbuf) != FALSE;
  const guint8 *pixels = gdk_pixbuf_read_pixels(pixbuf);
  std::vector<std::uint8_t> mask;
  mask.reserve(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const guint8 *p = pixels + static_cast<std::ptrdiff_t>(y) * pitch_bytes + x * channels;
      const bool removed = luma_of_rgb(p[0], p[1], p[2]) >= 128 && (!has_alpha || p[3] >= 128);
      mask.push_back(removed ? 255 : 0);
    }
  return std::shared_ptr<const MaskPicture>(new MaskPicture(size, std::move(mask)));
} catch (const std::bad_alloc &) {
  g_set_error_literal(error, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY,
                      "the host has no memory left for it");
  return nullptr;
}

std::vector<std::uint8_t> MaskPicture::scaled_to(Size frame) const {
  std::vector<std::uint8_t> scaled;
  scaled.reserve(static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
  std::vector<std::uint8_t> row(static_cast<std::size_t>(size_.width));  // of the picture's rows: any of them
  for (int y = 0; y < frame.height; ++y) {
    const Range rows = range_of(y, frame.height, size_.height);
    std::fill(row.begin(), row.end(), std::uint8_t{0});
    for (std::size_t j = rows.first; j < rows.last; ++j)
      for (std::size_t i = 0; i < row.size(); ++i) row[i] |= pixels_[j * row.size() + i];
    for (int x = 0; x < frame.width; ++x) {
      const Range columns = range_of(x, frame.width, size_.width);
      std::uint8_t any = 0;
      for (std::size_t i = columns.first; i < columns.last; ++i) any |= row[i];
      scaled.push_back(any);
    }
  }
  return scaled;
}

}  // namespace cudavision
