// SPDX-License-Identifier: LGPL-2.1-or-later
// Hiding by its definition in cuda/redact/redact.h, in plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <opencv2/imgproc.hpp>

#include "cuda/redact/redact.h"
#include "tests/support/test_frame.h"

namespace cudavision::test {

// A mask in host memory, the position of its first pixel in the frame, and the side in pixels of each byte's square.
struct HostMask {
  Picture bytes;
  int x = 0, y = 0, step = 1;
};

struct HostTargets {
  std::vector<Region> boxes;
  std::vector<HostMask> masks;
  Region limit;
  bool fields = false;
  Picture always = {};  // of the frame's size, or empty
};

class RedactDefinition {
 public:
  RedactDefinition(const HostFrame &frame, const HostTargets &targets, const RedactParams &params)
      : frame_(frame), targets_(targets), params_(params) {
    for (const PixelLayout::Place &place : frame.format->layout.place)
      grain_x_ = std::max(grain_x_, 1 << place.shift_x), grain_y_ = std::max(grain_y_, 1 << place.shift_y);
    if (targets.fields && grain_y_ > 1) grain_y_ *= 2;
    sigma_ = sigma();
    while (sigma_ / step_ > 16) ++step_;
    if (params.mode == RedactMode::blur)
      for (int c = 0; c < frame.component_count(); ++c) smooth_.push_back(smoothed(c));
  }

  // 255 where a pixel is hidden.
  Picture map() const {
    Picture map(frame_.size);
    for (int y = 0; y < frame_.size.height; ++y)
      for (int x = 0; x < frame_.size.width; ++x) map.at(x, y) = hidden_by(x, y) >= 0 ? 255 : 0;
    return map;
  }

  HostFrame frame() const {
    HostFrame hidden = frame_;
    for (int y = 0; y < frame_.size.height; ++y)
      for (int x = 0; x < frame_.size.width; ++x)
        for (int c = 0, by = hidden_by(x, y); by >= 0 && c < frame_.component_count(); ++c)
          hidden.sample(c, x, y) = value(c, by, x, y);
    return hidden;
  }

 private:
  bool is_in_frame(int x, int y) const {
    return x >= 0 && y >= 0 && x < frame_.size.width && y < frame_.size.height;
  }
  bool is_limited(int x, int y) const {
    const Region &r = targets_.limit;
    return r.width > 0 && !(x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height);
  }

  Region grown(const Region &box) const {
    const int d = params_.dilation;
    return {box.x - d, box.y - d, box.width + 2 * d, box.height + 2 * d};
  }
  bool is_in_box(const Region &box, int x, int y) const {
    const Region r = grown(box);
    if (x < r.x || y < r.y || x >= r.x + r.width || y >= r.y + r.height) return false;
    if (params_.shape == RedactShape::box) return true;
    // The offset from the centre in half pixels, each part times the other side; exact, because the numbers are small.
    const double u = (2.0 * (x - r.x) + 1 - r.width) * r.height,
                 v = (2.0 * (y - r.y) + 1 - r.height) * r.width, most = 1.0 * r.width * r.height;
    return u * u + v * v <= most * most;
  }
  bool is_in_mask(int x, int y) const {
    for (const HostMask &mask : targets_.masks)
      for (int dy = -params_.dilation; dy <= params_.dilation; ++dy)
        for (int dx = -params_.dilation; dx <= params_.dilation; ++dx) {
          const int px = x + dx, py = y + dy;
          if (!is_in_frame(px, py) || px < mask.x || py < mask.y) continue;
          const int column = (px - mask.x) / mask.step, row = (py - mask.y) / mask.step;
          if (column < mask.bytes.width() && row < mask.bytes.height() && mask.bytes.at(column, row) != 0)
            return true;
        }
    return false;
  }
  // What selects a pixel: the number of the last box that contains it, counted from 1; 0 for a mask; -1 for nothing.
  int selected_by(int x, int y) const {
    if (is_limited(x, y)) return -1;
    for (int i = static_cast<int>(targets_.boxes.size()); i > 0; --i)
      if (is_in_box(targets_.boxes[static_cast<std::size_t>(i - 1)], x, y)) return i;
    return is_in_mask(x, y) ? 0 : -1;
  }
  int hidden_by(int x, int y) const {
    int by = -1;
    for (int py = y / grain_y_ * grain_y_; py < (y / grain_y_ + 1) * grain_y_; ++py)
      for (int px = x / grain_x_ * grain_x_; px < (x / grain_x_ + 1) * grain_x_; ++px) {
        if (!is_in_frame(px, py)) continue;
        const int selected = selected_by(px, py);
        by = std::max(by, !params_.inverse ? selected : selected >= 0 || is_limited(px, py) ? -1 : 0);
        if (targets_.always.width() > 0 && targets_.always.at(px, py) != 0) by = std::max(by, 0);
      }
    return by;
  }

  std::uint8_t value(int c, int by, int x, int y) const {
    if (params_.mode == RedactMode::fill) return params_.color.component[c];
    if (params_.mode == RedactMode::blur) {
      const PixelLayout::Place &place = frame_.format->layout.place[c];
      return smooth_[static_cast<std::size_t>(c)].at<std::uint8_t>((y >> place.shift_y) / step_,
                                                                   (x >> place.shift_x) / step_);
    }
    return mean(c, by, x, y);
  }

  // The part of the box that is divided into cells.
  Region area_of(const Region &box) const {
    const auto down = [](int value, int grain) {
      return static_cast<int>(std::floor(1.0 * value / grain)) * grain;
    };
    const auto up = [&](int value, int grain) { return -down(-value, grain); };
    const int left = std::max(0, down(box.x, grain_x_)), top = std::max(0, down(box.y, grain_y_)),
              right = std::min(frame_.size.width, up(box.x + box.width, grain_x_)),
              bottom = std::min(frame_.size.height, up(box.y + box.height, grain_y_));
    return {left, top, right - left, bottom - top};
  }

  std::uint8_t mean(int c, int by, int x, int y) const {
    const Region area = area_of(by == 0 ? Region{0, 0, frame_.size.width, frame_.size.height}
                                        : grown(targets_.boxes[static_cast<std::size_t>(by - 1)]));
    const int left = area.x, top = area.y, right = left + area.width, bottom = top + area.height;
    int side = std::max(grain_x_, grain_y_);
    const int grain = side;
    while (side < kLeastCellSide || side * params_.cells < std::max(right - left, bottom - top))
      side += grain;
    const int cell_x = left + (x - left) / side * side, cell_y = top + (y - top) / side * side;
    const PixelLayout::Place &place = frame_.format->layout.place[c];
    double sum = 0, count = 0;
    for (int py = cell_y; py < std::min(cell_y + side, bottom); py += 1 << place.shift_y)
      for (int px = cell_x; px < std::min(cell_x + side, right); px += 1 << place.shift_x)
        sum += frame_.at(c, px, py), ++count;
    return static_cast<std::uint8_t>(std::nearbyint(sum / count));
  }

  cv::Mat smoothed(int c) const {
    const PixelLayout::Place &place = frame_.format->layout.place[c];
    cv::Mat samples(((frame_.size.height - 1) >> place.shift_y) + 1,
                    ((frame_.size.width - 1) >> place.shift_x) + 1, CV_8U);
    for (int y = 0; y < samples.rows; ++y)
      for (int x = 0; x < samples.cols; ++x)
        samples.at<std::uint8_t>(y, x) =
            static_cast<std::uint8_t>(frame_.at(c, x << place.shift_x, y << place.shift_y));
    cv::Mat means((samples.rows + step_ - 1) / step_, (samples.cols + step_ - 1) / step_, CV_8U);
    for (int y = 0; y < means.rows; ++y)
      for (int x = 0; x < means.cols; ++x)
        means.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>(std::nearbyint(cv::mean(samples(
            cv::Rect(x * step_, y * step_, step_, step_) & cv::Rect(0, 0, samples.cols, samples.rows)))[0]));
    cv::GaussianBlur(means, means, {}, sigma_ / step_, sigma_ / step_, cv::BORDER_REFLECT_101);
    return means;
  }

  // The standard deviation for blur.
  double sigma() const {
    if (params_.strength > 0) return params_.strength;
    int longest = 0;
    for (const Region &box : targets_.boxes)
      if (const Region area = area_of(grown(box)); !params_.inverse && area.width > 0 && area.height > 0)
        longest = std::max({longest, area.width, area.height});
    if (longest == 0) longest = std::max(frame_.size.width, frame_.size.height);
    return std::max(1.0, 2.0 * longest / params_.cells);
  }

  const HostFrame &frame_;
  const HostTargets &targets_;
  const RedactParams &params_;
  int grain_x_ = 1, grain_y_ = 1;
  double sigma_ = 1;
  int step_ = 1;  // for blur: the side of the squares whose means are smoothed
  std::vector<cv::Mat> smooth_;
};

}  // namespace cudavision::test
