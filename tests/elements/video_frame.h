// SPDX-License-Identifier: LGPL-2.1-or-later
// A video frame of any format in host memory, all of whose bytes a test knows: samples, padding and guards.
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/elements/support.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// Every format of the elements' pads.
inline const std::vector<std::string> kFormats = {"NV12", "I420", "GRAY8", "RGB",  "BGR",
                                                  "RGBx", "BGRx", "RGBA",  "BGRA", "NV21",
                                                  "YV12", "Y42B", "Y444",  "YUY2", "UYVY"};

// How the planes lie in the buffer.
enum class Layout {
  of_the_caps,
  apart,  // with odd strides, gaps before, between and behind the planes, and a GstVideoMeta that says so
};

class VideoFrame {
 public:
  // Filled from the seed: smooth noise in every component, noise in all other bytes.
  VideoFrame(const std::string &format, Size size, unsigned seed = 1, Layout layout = Layout::of_the_caps);

  // As the fields of caps: "colorimetry=bt709".
  void set_colorimetry(const std::string &colorimetry);
  const GstVideoInfo &info() const { return info_; }
  Owned<GstCaps> caps() const;
  Size size() const { return {GST_VIDEO_INFO_WIDTH(&info_), GST_VIDEO_INFO_HEIGHT(&info_)}; }
  bool is_rgb() const { return GST_VIDEO_INFO_IS_RGB(&info_); }

  // Those that carry colour: R, G, B or Y, U, V or gray.
  int component_count() const { return static_cast<int>(std::min(3u, GST_VIDEO_INFO_N_COMPONENTS(&info_))); }
  Size component_size(int component) const;
  int shift_x(int component) const;
  int shift_y(int component) const;
  // (x, y) in the component's own grid.
  std::uint8_t &sample(int component, int x, int y);
  std::uint8_t sample(int component, int x, int y) const;

  std::vector<std::uint8_t> &bytes() { return bytes_; }
  const std::vector<std::uint8_t> &bytes() const { return bytes_; }
  // A new buffer with these bytes, exactly so many, which is written to nowhere else.
  Owned<GstBuffer> buffer() const;
  // The GstVideoMeta of this frame, for a buffer that holds its bytes.
  void add_meta(GstBuffer *buffer) const;

 private:
  std::size_t index(int component, int x, int y) const;

  GstVideoInfo info_;  // with this frame's own offsets and strides
  Layout layout_;
  std::vector<std::uint8_t> bytes_;
};

// All bytes of a buffer.
std::vector<std::uint8_t> bytes_of(GstBuffer *buffer);

// EXPECT_TRUE(same_bytes(actual, frame)) shows how many bytes differ, and the first of them.
testing::AssertionResult same_bytes(const std::vector<std::uint8_t> &actual, const VideoFrame &expected);

}  // namespace cudavision::test
