// SPDX-License-Identifier: LGPL-2.1-or-later
// Detects keypoints in a picture and computes descriptors: with cudasigma2kp and cudalocalhist, and with OpenCV.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <opencv2/features2d.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "pipeline.h"

constexpr int kLevels = 8;  // scaled copies of the picture, each smaller by kScale, as in cv::ORB
constexpr double kScale = 1.2;

struct Features {
  std::vector<cv::KeyPoint> points;  // in pixels of the picture, with angles in degrees
  cv::Mat descriptors;               // one row per keypoint
};

// The patch around a keypoint of one level, rotated so that the keypoint's angle points to the right: kSide x kSide
// pixels, of which the middle is described. Pixels outside the picture repeat its border.
constexpr int kWindow = 8, kWindows = 4, kMargin = 1, kTileWindows = kWindows + 2 * kMargin;
constexpr int kSide = kTileWindows * kWindow, kBins = 8, kTilesPerRow = 24;

inline cv::Mat upright_patch(const cv::Mat &level, const cv::KeyPoint &point) {
  const double angle = point.angle * CV_PI / 180, c = std::cos(angle), s = std::sin(angle);
  const double middle = (kSide - 1) / 2.0;
  // Maps a pixel of the patch to a pixel of the picture.
  const cv::Matx23d map(c, -s, point.pt.x - c * middle + s * middle, s, c,
                        point.pt.y - s * middle - c * middle);
  cv::Mat patch;
  cv::warpAffine(level, patch, map, {kSide, kSide}, cv::INTER_LINEAR | cv::WARP_INVERSE_MAP,
                 cv::BORDER_REPLICATE);
  return patch;
}

class Sigma2Detector {
 public:
  Sigma2Detector(const std::string &properties, int points)
      : points_(points),
        keypoints_("appsrc name=in format=time ! cudasigma2kp name=kp display=false orientation=true " +
                   properties + " ! appsink name=out sync=false"),
        histograms_("appsrc name=in format=time ! cudalocalhist display=false weight=magnitude bins=" +
                    std::to_string(kBins) + " window-width=" + std::to_string(kWindow) +
                    " window-height=" + std::to_string(kWindow) + " stride-x=" + std::to_string(kWindow) +
                    " stride-y=" + std::to_string(kWindow) + " ! appsink name=out sync=false") {}

  // The number of points per level is proportional to the side of the level's picture, as in cv::ORB.
  Features detect(const cv::Mat &picture) const {
    Features all;
    double shares = 0;
    for (int i = 0; i < kLevels; ++i) shares += std::pow(kScale, -i);
    for (int i = 0; i < kLevels; ++i) {
      const double scale = std::pow(kScale, i);
      cv::Mat level;
      cv::resize(picture, level, {}, 1 / scale, 1 / scale, cv::INTER_AREA);
      if (std::min(level.cols, level.rows) < kSide) break;
      const int most = static_cast<int>(points_ / scale / shares);
      if (most < 1) break;  // smaller levels get no points either
      std::vector<cv::KeyPoint> points = detect_in(level, most);
      if (points.empty()) continue;
      all.descriptors.push_back(describe(level, points));
      for (cv::KeyPoint &point : points) {
        point.pt = (point.pt + cv::Point2f(0.5f, 0.5f)) * static_cast<float>(scale) - cv::Point2f(0.5f, 0.5f);
        point.size *= static_cast<float>(scale);
        point.octave = i;
      }
      all.points.insert(all.points.end(), points.begin(), points.end());
    }
    return all;
  }

 private:
  std::vector<cv::KeyPoint> detect_in(const cv::Mat &level, int most) const {
    GstElement *element = keypoints_.element("kp");
    g_object_set(element, "max-keypoints", most, nullptr);
    gst_object_unref(element);
    keypoints_.push(level, "GRAY8");
    const auto sample = keypoints_.pull();
    const GstCudaVisionKeypointsMeta *meta =
        sample ? gst_cuda_vision_buffer_get_keypoints_meta(gst_sample_get_buffer(sample.get())) : nullptr;
    if (meta == nullptr) throw std::runtime_error("a picture came without its keypoints");
    guint count = 0;
    const GstCudaVisionKeypoint *found = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &count);
    std::vector<cv::KeyPoint> points;
    for (guint i = 0; i < count; ++i)
      if (!std::isnan(found[i].angle))
        points.emplace_back(found[i].x, found[i].y, 31.0f, static_cast<float>(found[i].angle * 180 / CV_PI),
                            found[i].response);
    return points;
  }

  cv::Mat describe(const cv::Mat &level, const std::vector<cv::KeyPoint> &points) const {
    const int count = static_cast<int>(points.size()), rows = (count + kTilesPerRow - 1) / kTilesPerRow;
    cv::Mat mosaic(rows * kSide, kTilesPerRow * kSide, CV_8UC1, cv::Scalar(0));
    for (int i = 0; i < count; ++i)
      upright_patch(level, points[static_cast<std::size_t>(i)])
          .copyTo(mosaic(cv::Rect(i % kTilesPerRow * kSide, i / kTilesPerRow * kSide, kSide, kSide)));
    histograms_.push(mosaic, "GRAY8");
    const auto sample = histograms_.pull();
    const GstCudaVisionTensorMeta *tensor =
        sample
            ? gst_cuda_vision_buffer_get_tensor_meta(gst_sample_get_buffer(sample.get()), "local-histogram")
            : nullptr;
    GstMapInfo map;
    if (tensor == nullptr || !gst_buffer_map(tensor->data, &map, GST_MAP_READ))
      throw std::runtime_error("the patches came without their histograms");
    const cv::Mat histograms(rows * kTileWindows, kTilesPerRow * kTileWindows * kBins, CV_32FC1, map.data);
    cv::Mat descriptors;
    for (int i = 0; i < count; ++i)
      descriptors.push_back(descriptor_of(
          histograms(cv::Rect((i % kTilesPerRow * kTileWindows + kMargin) * kBins,
                              i / kTilesPerRow * kTileWindows + kMargin, kWindows * kBins, kWindows))));
    gst_buffer_unmap(tensor->data, &map);
    return descriptors;
  }

  // Square roots of relative frequencies: their Euclidean distance is the Hellinger distance.
  static cv::Mat descriptor_of(const cv::Mat &histograms) {
    cv::Mat row = histograms.clone().reshape(1, 1);
    const double sum = cv::sum(row)[0];
    if (sum > 0) row /= sum;
    cv::sqrt(row, row);
    return row;
  }

  int points_;
  Pipeline keypoints_, histograms_;
};

inline Features detect_orb(const cv::Mat &picture, int points, int threshold) {
  Features features;
  const cv::Ptr<cv::ORB> orb = cv::ORB::create(points);
  orb->setFastThreshold(threshold);
  orb->detectAndCompute(picture, cv::noArray(), features.points, features.descriptors);
  return features;
}

// The keypoints of greatest response, described by ORB.
inline Features detect_fast(const cv::Mat &picture, int points) {
  Features features;
  cv::FAST(picture, features.points, 10);
  cv::KeyPointsFilter::retainBest(features.points, points);
  if (static_cast<int>(features.points.size()) > points)
    features.points.resize(static_cast<std::size_t>(points));
  for (cv::KeyPoint &point : features.points) point.angle = 0;
  cv::ORB::create(points)->compute(picture, features.points, features.descriptors);
  return features;
}
