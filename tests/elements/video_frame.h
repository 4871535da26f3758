// SPDX-License-Identifier: LGPL-2.1-or-later
// A video frame of any format in host memory. The test knows all of its bytes: samples, padding and guard bytes.
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/elements/support.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// The formats of the elements' pads that the algorithms read.
inline const std::vector<std::string> kFormats = {"NV12", "I420", "GRAY8", "RGB",  "BGR",
                                                  "RGBx", "BGRx", "RGBA",  "BGRA", "NV21",
                                                  "YV12", "Y42B", "Y444",  "YUY2", "UYVY"};

// A format of the pads that elements repack, and one of 8 bits with the same components.
struct Repacked {
  const char *format, *eight;

  friend std::ostream &operator<<(std::ostream &out, const Repacked &r) { return out << r.format; }
};
inline constexpr Repacked kRepacked[] = {
    {"P010_10LE", "NV12"}, {"P012_LE", "NV12"},   {"P016_LE", "NV12"},   {"I420_10LE", "I420"},
    {"I422_10LE", "Y42B"}, {"I422_12LE", "Y42B"}, {"Y444_16LE", "Y444"}, {"GRAY16_LE", "GRAY8"},
    {"RGB10A2_LE", "RGB"}, {"BGR10A2_LE", "RGB"}, {"ARGB", "RGBA"},      {"ABGR", "RGBA"},
    {"RGBP", "RGB"},       {"BGRP", "RGB"},       {"GBR", "RGB"},        {"GBRA", "RGBA"}};

// The layout of the planes in the buffer.
enum class Layout {
  of_the_caps,
  apart,  // odd strides, unused bytes around each plane, and a GstVideoMeta
};

class VideoFrame {
 public:
  // Fills the frame from the seed: smooth noise in every component, noise in all other bytes.
  VideoFrame(const std::string &format, Size size, unsigned seed = 1, Layout layout = Layout::of_the_caps);

  // The colorimetry as in caps, such as "bt709".
  void set_colorimetry(const std::string &colorimetry);
  std::string colorimetry() const;
  const GstVideoInfo &info() const { return info_; }
  Owned<GstCaps> caps() const;
  Size size() const { return {GST_VIDEO_INFO_WIDTH(&info_), GST_VIDEO_INFO_HEIGHT(&info_)}; }
  bool is_rgb() const { return GST_VIDEO_INFO_IS_RGB(&info_); }

  // The number of colour components: R, G, B or Y, U, V or grey.
  int component_count() const { return static_cast<int>(std::min(3u, GST_VIDEO_INFO_N_COMPONENTS(&info_))); }
  Size component_size(int component) const;
  int shift_x(int component) const;
  int shift_y(int component) const;
  // The sample at (x, y) in the component's own grid.
  std::uint8_t &sample(int component, int x, int y);
  std::uint8_t sample(int component, int x, int y) const;

  std::vector<std::uint8_t> &bytes() { return bytes_; }
  const std::vector<std::uint8_t> &bytes() const { return bytes_; }
  // A new buffer of exactly these bytes.
  Owned<GstBuffer> buffer() const;
  // Adds this frame's GstVideoMeta to a buffer that holds its bytes.
  void add_meta(GstBuffer *buffer) const;

 private:
  std::size_t index(int component, int x, int y) const;

  GstVideoInfo info_;  // with this frame's own offsets and strides
  Layout layout_;
  std::vector<std::uint8_t> bytes_;
};

// A frame whose bytes are all kBrightByte.
inline constexpr std::uint8_t kBrightByte = 200;
VideoFrame bright(const std::string &format, Size size);

// All bytes of a buffer.
std::vector<std::uint8_t> bytes_of(GstBuffer *buffer);

// EXPECT_TRUE(same_bytes(actual, frame)) prints the number of different bytes and the first of them.
testing::AssertionResult same_bytes(const std::vector<std::uint8_t> &actual, const VideoFrame &expected);

}  // namespace cudavision::test
