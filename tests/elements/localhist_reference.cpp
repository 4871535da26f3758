// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudalocalhist.
#include "tests/elements/localhist_reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace cudavision::test {
namespace {

Part whole(const VideoFrame &frame, Part part) {
  if (part.width == 0) return {0, 0, frame.size().width, frame.size().height};
  return part;
}

std::uint32_t argb_of(double r, double g, double b) {
  const auto byte = [](double v) {
    return static_cast<std::uint32_t>(std::lround(255 * std::min(1.0, std::max(0.0, v))));
  };
  return 0xff000000 | byte(r) << 16 | byte(g) << 8 | byte(b);
}

// A fully saturated colour of the HSV model; one primary rises or falls in each sixth of the circle.
std::uint32_t hue(double turn) {
  const double sixth = 6 * turn, part = sixth - std::floor(sixth);
  switch (static_cast<int>(sixth)) {
    case 0:
      return argb_of(1, part, 0);
    case 1:
      return argb_of(1 - part, 1, 0);
    case 2:
      return argb_of(0, 1, part);
    case 3:
      return argb_of(0, 1 - part, 1);
    case 4:
      return argb_of(part, 0, 1);
    default:
      return argb_of(1, 0, 1 - part);
  }
}

using ColourOfWindow = std::function<Colour(int window)>;

// Paints a block of the size of the strides around the centre of each window. A chroma sample takes the
// colour of its first painted pixel.
VideoFrame paint(VideoFrame frame, const LocalHistParams &p, Part part, const ColourOfWindow &colour_of) {
  const Part area = whole(frame, part);
  const int cols = (area.width - p.window.width) / p.stride_x + 1;
  const int rows = (area.height - p.window.height) / p.stride_y + 1;
  const int left = area.x + (p.window.width - p.stride_x) / 2,
            top = area.y + (p.window.height - p.stride_y) / 2;
  const auto window_at = [&](int x, int y) {
    if (x < std::max(left, area.x) || y < std::max(top, area.y) || x >= area.x + area.width ||
        y >= area.y + area.height)
      return -1;
    const int col = (x - left) / p.stride_x, row = (y - top) / p.stride_y;
    return col < cols && row < rows ? row * cols + col : -1;
  };
  for (int c = 0; c < frame.component_count(); ++c) {
    const int shift_x = frame.shift_x(c), shift_y = frame.shift_y(c);
    for (int y = frame.size().height - 1; y >= 0; --y)
      for (int x = frame.size().width - 1; x >= 0;
           --x)  // backwards, so that the first pixel of a chroma sample is painted last
        if (const int window = window_at(x, y); window >= 0)
          frame.sample(c, x >> shift_x, y >> shift_y) =
              static_cast<std::uint8_t>(colour_of(window)[static_cast<std::size_t>(c)]);
  }
  return frame;
}

}  // namespace

Picture luma_picture(const VideoFrame &frame, Part part) {
  const Part area = whole(frame, part);
  const cv::Mat luma = luma_of(frame);
  Picture picture({area.width, area.height});
  for (int y = 0; y < area.height; ++y)
    for (int x = 0; x < area.width; ++x) picture.at(x, y) = luma.at<std::uint8_t>(area.y + y, area.x + x);
  return picture;
}

DefinedMap defined_map(const Picture &picture, const LocalHistParams &params,
                       const std::vector<double> &model) {
  const DefinedWindows windows(picture, params);
  DefinedMap map{
      .rows = windows.rows, .cols = windows.cols, .argmax = {}, .share = {}, .entropy = {}, .distance = {}};
  for (const std::vector<std::uint64_t> &sums : windows.sums) {
    const auto most = std::max_element(sums.begin(), sums.end());
    const auto total = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
    map.argmax.push_back(static_cast<std::uint16_t>(most - sums.begin()));
    map.share.push_back(total == 0 ? 0.0f : static_cast<float>(*most) / static_cast<float>(total));
    double entropy = 0, distance = 0;
    for (std::size_t bin = 0; bin < sums.size(); ++bin) {
      const double share = total == 0 ? 0 : static_cast<double>(sums[bin]) / static_cast<double>(total);
      if (share > 0) entropy -= share * std::log2(share);
      if (!model.empty()) distance += std::fabs(share - model[bin]);
    }
    map.entropy.push_back(static_cast<float>(entropy));
    map.distance.push_back(static_cast<float>(distance));
  }
  return map;
}

std::vector<double> defined_model(const Picture &picture, const LocalHistParams &params, Region region) {
  const std::vector<std::uint64_t> sums = DefinedSamples(picture, params).count(region, params.bins);
  const auto total = static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}));
  std::vector<double> model;
  for (const std::uint64_t sum : sums) model.push_back(total == 0 ? 0 : static_cast<double>(sum) / total);
  return model;
}

VideoFrame with_hues(VideoFrame frame, const LocalHistParams &params, Part part) {
  const DefinedMap map = defined_map(luma_picture(frame, part), params);
  const Colour dark = colour_in(frame, 0xff000000);
  std::vector<Colour> hues;
  for (int bin = 0; bin < params.bins; ++bin)
    hues.push_back(colour_in(frame, hue((bin + 0.5) / params.bins)));
  return paint(frame, params, part, [&](int window) {
    const auto i = static_cast<std::size_t>(window);
    const int alpha = static_cast<int>(map.share[i] * 255 + 0.5f);
    Colour colour{};
    for (std::size_t c = 0; c < 3; ++c)
      colour[c] = (alpha * hues[map.argmax[i]][c] + (255 - alpha) * dark[c] + 127) / 255;
    return colour;
  });
}

VideoFrame with_heat(VideoFrame frame, const LocalHistParams &params, const std::vector<float> &numbers,
                     float cold, float hot, Part part) {
  return paint(frame, params, part, [&](int window) {
    const float heat = (numbers[static_cast<std::size_t>(window)] - cold) / (hot - cold);
    const double step = std::floor(255 * std::min(1.0f, std::max(0.0f, heat)) + 0.5f) / 255;
    return colour_in(frame, argb_of(3 * step, 3 * step - 1, 3 * step - 2));
  });
}

}  // namespace cudavision::test
