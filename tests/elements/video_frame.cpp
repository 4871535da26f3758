// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of which the test knows every byte.
#include "tests/elements/video_frame.h"

#include "tests/support/pictures.h"

namespace cudavision::test {
namespace {

// Moves the planes apart: odd strides and offsets, and bytes after the last plane.
void move_apart(GstVideoInfo *info) {
  constexpr gsize kGap = 37;
  constexpr gint kPadding = 13;
  gsize next = kGap;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(info); ++plane) {
    int rows = 0;
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); ++c)
      if (GST_VIDEO_INFO_COMP_PLANE(info, c) == plane)
        rows = std::max(rows, static_cast<int>(GST_VIDEO_INFO_COMP_HEIGHT(info, c)));
    info->offset[plane] = next;
    info->stride[plane] += kPadding;
    next += static_cast<gsize>(info->stride[plane]) * static_cast<gsize>(rows) + kGap;
  }
  info->size = next;
}

GstVideoInfo info_of(const std::string &format, Size size, Layout layout) {
  GstVideoInfo info;
  gst_video_info_init(&info);
  EXPECT_TRUE(gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()),
                                        static_cast<guint>(size.width), static_cast<guint>(size.height)));
  info.fps_n = 25;
  info.fps_d = 1;
  if (layout == Layout::apart) move_apart(&info);
  return info;
}

}  // namespace

VideoFrame::VideoFrame(const std::string &format, Size size, unsigned seed, Layout layout)
    : info_(info_of(format, size, layout)), layout_(layout), bytes_(GST_VIDEO_INFO_SIZE(&info_)) {
  Random random(seed);
  for (std::uint8_t &byte : bytes_) byte = random.byte();
  for (int c = 0; c < component_count(); ++c) {
    const Picture picture = smooth_noise(component_size(c), 1, seed * 8 + static_cast<unsigned>(c));
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) sample(c, x, y) = picture.at(x, y);
  }
}

void VideoFrame::set_colorimetry(const std::string &colorimetry) {
  EXPECT_TRUE(gst_video_colorimetry_from_string(&info_.colorimetry, colorimetry.c_str()));
}

std::string VideoFrame::colorimetry() const {
  gchar *text = gst_video_colorimetry_to_string(&info_.colorimetry);
  const std::string colorimetry = text != nullptr ? text : "";
  g_free(text);
  return colorimetry;
}

Owned<GstCaps> VideoFrame::caps() const { return Owned<GstCaps>(gst_video_info_to_caps(&info_)); }

Size VideoFrame::component_size(int component) const {
  return {GST_VIDEO_INFO_COMP_WIDTH(&info_, component), GST_VIDEO_INFO_COMP_HEIGHT(&info_, component)};
}
int VideoFrame::shift_x(int component) const {
  return static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(info_.finfo, component));
}
int VideoFrame::shift_y(int component) const {
  return static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(info_.finfo, component));
}

std::size_t VideoFrame::index(int component, int x, int y) const {
  return GST_VIDEO_INFO_COMP_OFFSET(&info_, component) +
         static_cast<std::size_t>(y) *
             static_cast<std::size_t>(GST_VIDEO_INFO_COMP_STRIDE(&info_, component)) +
         static_cast<std::size_t>(x) *
             static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info_, component));
}
std::uint8_t &VideoFrame::sample(int component, int x, int y) { return bytes_.at(index(component, x, y)); }
std::uint8_t VideoFrame::sample(int component, int x, int y) const {
  return bytes_.at(index(component, x, y));
}

Owned<GstBuffer> VideoFrame::buffer() const {
  GstBuffer *buffer = gst_buffer_new_memdup(bytes_.data(), bytes_.size());
  if (layout_ == Layout::apart) add_meta(buffer);
  return Owned<GstBuffer>(buffer);
}

void VideoFrame::add_meta(GstBuffer *buffer) const {
  GstVideoInfo info = info_;  // the call below takes a non-const pointer, but only reads
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
}

VideoFrame bright(const std::string &format, Size size) {
  VideoFrame frame(format, size);
  std::fill(frame.bytes().begin(), frame.bytes().end(), kBrightByte);
  return frame;
}

std::vector<std::uint8_t> bytes_of(GstBuffer *buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer));
  EXPECT_EQ(gst_buffer_extract(buffer, 0, bytes.data(), bytes.size()), bytes.size());
  return bytes;
}

testing::AssertionResult same_bytes(const std::vector<std::uint8_t> &actual, const VideoFrame &expected) {
  const std::vector<std::uint8_t> &wanted = expected.bytes();
  const auto what = [&] {
    return std::string(" of ") + GST_VIDEO_INFO_NAME(&expected.info()) + " " +
           std::to_string(expected.size().width) + "x" + std::to_string(expected.size().height);
  };
  if (actual.size() != wanted.size())
    return testing::AssertionFailure() << actual.size() << " bytes instead of " << wanted.size() << what();
  const auto [a, w] = std::mismatch(actual.begin(), actual.end(), wanted.begin());
  if (a == actual.end()) return testing::AssertionSuccess();
  std::size_t count = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) count += actual[i] != wanted[i];
  return testing::AssertionFailure() << count << " bytes" << what() << " differ, first " << a - actual.begin()
                                     << ": " << +*a << " instead of " << +*w;
}

}  // namespace cudavision::test
