// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture that says what is removed: read by gdk-pixbuf.
#include "inpaint/mask_picture.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#include "luma/luma.h"

namespace cudavision {
namespace {

struct Unref {
  void operator()(GdkPixbuf *pixbuf) const { g_object_unref(pixbuf); }
};
using Pixbuf = std::unique_ptr<GdkPixbuf, Unref>;

}  // namespace

std::shared_ptr<const MaskPicture> MaskPicture::load(const std::string &location, GError **error) {
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
}

std::vector<std::uint8_t> MaskPicture::scaled_to(Size frame) const {
  std::vector<std::uint8_t> scaled;
  scaled.reserve(static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
  // The picture's pixel at (x + 1/2) of its width over the frame's.
  const auto place = [](int i, int of_frame, int of_picture) {
    return static_cast<std::size_t>((2 * gint64{i} + 1) * of_picture / (2 * gint64{of_frame}));
  };
  for (int y = 0; y < frame.height; ++y) {
    const std::size_t row = place(y, frame.height, size_.height) * static_cast<std::size_t>(size_.width);
    for (int x = 0; x < frame.width; ++x) scaled.push_back(pixels_[row + place(x, frame.width, size_.width)]);
  }
  return scaled;
}

}  // namespace cudavision
