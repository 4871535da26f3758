// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles and converts the decoded frame.
#include "tests/bench/harness/real_picture.h"

#include <gst/video/video.h>

#include <algorithm>

#include "tests/support/decode.h"

namespace cudavision::bench {
namespace {

// A raw video frame that owns its memory.
class RawFrame {
 public:
  explicit RawFrame(const GstVideoInfo &info)
      : info_(info), buffer_(gst_buffer_new_allocate(nullptr, info.size, nullptr)) {
    gst_video_frame_map(&frame_, &info_, buffer_, GST_MAP_READWRITE);
  }
  ~RawFrame() {
    gst_video_frame_unmap(&frame_);
    gst_buffer_unref(buffer_);
  }
  RawFrame(const RawFrame &) = delete;
  RawFrame &operator=(const RawFrame &) = delete;

  GstVideoFrame *get() { return &frame_; }
  const GstVideoInfo &info() const { return info_; }
  std::uint8_t *row(int y) {
    return static_cast<std::uint8_t *>(frame_.data[0]) + std::ptrdiff_t{info_.stride[0]} * y;
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> copy(info_.size);
    gst_buffer_extract(buffer_, 0, copy.data(), copy.size());
    return copy;
  }

 private:
  GstVideoInfo info_;
  GstBuffer *buffer_;
  GstVideoFrame frame_;
};

GstVideoInfo info_of(GstVideoFormat format, Size size) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, static_cast<guint>(size.width), static_cast<guint>(size.height));
  return info;
}

}  // namespace

std::vector<std::uint8_t> real_frame(const std::string &format, Size size, std::string *why_not, int index) {
  const test::Photo &photo = test::rgb_photo("vtest.avi", index);
  if (!photo.ok()) {
    *why_not = photo.why_not;
    return {};
  }
  gst_init(nullptr, nullptr);
  RawFrame src(info_of(GST_VIDEO_FORMAT_RGB, size));
  RawFrame dst(info_of(gst_video_format_from_string(format.c_str()), size));
  // The frame is tiled, because an enlarged frame has relatively fewer edges.
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < 3 * size.width; ++x)
      src.row(y)[x] = photo.pixels.row(y % photo.pixels.height())[x % photo.pixels.width()];
  GstVideoConverter *converter = gst_video_converter_new(&src.info(), &dst.info(), nullptr);
  if (converter == nullptr) {
    *why_not = "GStreamer does not convert RGB to " + format;
    return {};
  }
  gst_video_converter_frame(converter, src.get(), dst.get());
  gst_video_converter_free(converter);
  return dst.bytes();
}

Picture real_picture(Size size, std::string *why_not) {
  const std::vector<std::uint8_t> bytes = real_frame("GRAY8", size, why_not);
  if (bytes.empty()) return {};
  const std::size_t pitch_bytes = bytes.size() / static_cast<std::size_t>(size.height);
  Picture picture(size);
  for (int y = 0; y < size.height; ++y)
    std::copy_n(bytes.data() + static_cast<std::size_t>(y) * pitch_bytes, size.width, picture.row(y));
  return picture;
}

}  // namespace cudavision::bench
