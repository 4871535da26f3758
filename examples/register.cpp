// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers two pictures, or a template and the frames of a video, by keypoints of cudasigma2kp, and says how
// they do beside OpenCV's ORB and FAST, also at a tenth of the contrast.
//
//   register FIRST SECOND [OPTION=VALUE...]
//   register graf1.png graf3.png homography=H1to3p.xml out=graf.png
//   register box.png vtest.avi frames=50
//
// FIRST, SECOND: what GStreamer decodes. Of a video the first frames are tried, each against FIRST.
//   points=1000         how many keypoints each detector may find in a picture
//   contrast=0.1        of the low-contrast copies: 128 + contrast (v - 128), rounded
//   homography=FILE     maps FIRST to SECOND, as OpenCV stores it; otherwise the one of most inliers is believed
//   out=FILE            a PNG: the matches that agree with the estimated homography, side by side
//   properties="..."    of cudasigma2kp
//
// A keypoint is described by the picture around it, turned upright by its angle: histograms of oriented
// gradients of 4 x 4 windows, which cudalocalhist counts in a mosaic of all such patches. Keypoints are sought
// in scaled copies of the picture too, as ORB does.
//
// To build it:
//   c++ -std=c++17 register.cpp -o register $(pkg-config --cflags --libs gstreamer-cudavision-1.0
//     gstreamer-app-1.0 gstreamer-video-1.0) -I/usr/include/opencv4
//     -lopencv_core -lopencv_imgproc -lopencv_features2d -lopencv_calib3d
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/features2d.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kLevels = 8;         // scaled copies, each smaller by kScale, as cv::ORB has them
constexpr double kScale = 1.2;
constexpr double kNear = 3;        // pixels: of inliers, and of keypoints that are repeated
const char kProperties[] = "window=9 cell=8 tau=3.9 grids=4 min-distance=5 orientation-window=20 weight=magnitude";

// --- GStreamer ---

// A pipeline with an appsink "out" and perhaps an appsrc "in".
class Pipeline {
 public:
  explicit Pipeline(const std::string &description) {
    GError *error = nullptr;
    pipeline_ = gst_parse_launch(description.c_str(), &error);
    if (error != nullptr) {
      const std::string text = error->message;
      g_error_free(error);
      throw std::runtime_error(text);
    }
    in_ = gst_bin_get_by_name(GST_BIN(pipeline_), "in");
    out_ = gst_bin_get_by_name(GST_BIN(pipeline_), "out");
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    if (in_ != nullptr) gst_object_unref(in_);
    gst_object_unref(out_);
    gst_object_unref(pipeline_);
  }
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  GstElement *element(const char *name) const { return gst_bin_get_by_name(GST_BIN(pipeline_), name); }

  void push(const cv::Mat &picture, const char *format) const {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format),
                              static_cast<guint>(picture.cols), static_cast<guint>(picture.rows));
    GstCaps *caps = gst_video_info_to_caps(&info);
    gst_app_src_set_caps(GST_APP_SRC(in_), caps);
    gst_caps_unref(caps);
    GstBuffer *buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
    const auto stride = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0));
    for (int y = 0; y < picture.rows; ++y)
      gst_buffer_fill(buffer, stride * static_cast<gsize>(y), picture.ptr(y),
                      static_cast<gsize>(picture.cols) * picture.elemSize());
    gst_app_src_push_buffer(GST_APP_SRC(in_), buffer);
  }
  void end() const { gst_app_src_end_of_stream(GST_APP_SRC(in_)); }

  // Null at the end of the stream.
  std::unique_ptr<GstSample, void (*)(GstSample *)> pull() const {
    GstSample *sample = nullptr;
    while (sample == nullptr && !gst_app_sink_is_eos(GST_APP_SINK(out_))) {  // after an error neither comes
      sample = gst_app_sink_try_pull_sample(GST_APP_SINK(out_), 100 * GST_MSECOND);
      if (sample == nullptr) throw_error();
    }
    return {sample, gst_sample_unref};
  }

 private:
  void throw_error() const {
    GstBus *bus = gst_element_get_bus(pipeline_);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_object_unref(bus);
    if (message == nullptr) return;
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    throw std::runtime_error(text);
  }

  GstElement *pipeline_ = nullptr, *in_ = nullptr, *out_ = nullptr;
};

// The first frames of a file, in gray.
std::vector<cv::Mat> read_frames(const std::string &file, int most) {
  const Pipeline pipeline("filesrc location=\"" + file +
                          "\" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=out sync=false");
  std::vector<cv::Mat> frames;
  for (auto sample = pipeline.pull(); sample && static_cast<int>(frames.size()) < most; sample = pipeline.pull()) {
    GstVideoInfo info;
    GstVideoFrame frame;
    gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get()));
    if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ))
      throw std::runtime_error(file + ": a frame cannot be read");
    frames.push_back(cv::Mat(info.height, info.width, CV_8UC1, GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                             static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)))
                         .clone());
    gst_video_frame_unmap(&frame);
  }
  if (frames.empty()) throw std::runtime_error(file + ": no picture");
  return frames;
}

void write_png(const cv::Mat &bgr, const std::string &file) {
  const Pipeline pipeline("appsrc name=in format=time ! videoconvert ! pngenc ! tee name=t ! queue ! filesink location=\"" +
                          file + "\" t. ! queue ! appsink name=out sync=false");
  pipeline.push(bgr, "BGR");
  pipeline.end();
  while (pipeline.pull()) {
  }
}

// --- keypoints and their descriptors ---

struct Features {
  std::vector<cv::KeyPoint> points;  // in pixels of the picture, angles in degrees
  cv::Mat descriptors;               // a row for each
};

// The picture around a keypoint of one level, turned so that its angle points right: kSide x kSide pixels, of
// which the middle is described. What lies outside of the picture is repeated.
constexpr int kWindow = 8, kWindows = 4, kMargin = 1, kTileWindows = kWindows + 2 * kMargin;
constexpr int kSide = kTileWindows * kWindow, kBins = 8, kTilesPerRow = 24;

cv::Mat upright_patch(const cv::Mat &level, const cv::KeyPoint &point) {
  const double angle = point.angle * CV_PI / 180, c = std::cos(angle), s = std::sin(angle);
  const double middle = (kSide - 1) / 2.0;
  // From a pixel of the patch to one of the picture.
  const cv::Matx23d map(c, -s, point.pt.x - c * middle + s * middle, s, c, point.pt.y - s * middle - c * middle);
  cv::Mat patch;
  cv::warpAffine(level, patch, map, {kSide, kSide}, cv::INTER_LINEAR | cv::WARP_INVERSE_MAP,
                 cv::BORDER_REPLICATE);
  return patch;
}

class Sigma2Detector {
 public:
  Sigma2Detector(const std::string &properties, int points)
      : points_(points),
        keypoints_("appsrc name=in format=time ! cudasigma2kp name=kp display=false orientation=true " + properties +
                   " ! appsink name=out sync=false"),
        histograms_("appsrc name=in format=time ! cudalocalhist display=false weight=magnitude bins=" +
                    std::to_string(kBins) + " window-width=" + std::to_string(kWindow) + " window-height=" +
                    std::to_string(kWindow) + " stride-x=" + std::to_string(kWindow) + " stride-y=" +
                    std::to_string(kWindow) + " ! appsink name=out sync=false") {}

  // Levels have points by their area's side, as cv::ORB has them.
  Features detect(const cv::Mat &picture) const {
    Features all;
    double shares = 0;
    for (int i = 0; i < kLevels; ++i) shares += std::pow(kScale, -i);
    for (int i = 0; i < kLevels; ++i) {
      const double scale = std::pow(kScale, i);
      cv::Mat level;
      cv::resize(picture, level, {}, 1 / scale, 1 / scale, cv::INTER_AREA);
      if (std::min(level.cols, level.rows) < kSide) break;
      std::vector<cv::KeyPoint> points = detect_in(level, static_cast<int>(points_ / scale / shares));
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
        sample ? gst_cuda_vision_buffer_get_tensor_meta(gst_sample_get_buffer(sample.get()), "local-histogram")
               : nullptr;
    GstMapInfo map;
    if (tensor == nullptr || !gst_buffer_map(tensor->data, &map, GST_MAP_READ))
      throw std::runtime_error("the patches came without their histograms");
    const cv::Mat histograms(rows * kTileWindows, kTilesPerRow * kTileWindows * kBins, CV_32FC1, map.data);
    cv::Mat descriptors;
    for (int i = 0; i < count; ++i)
      descriptors.push_back(descriptor_of(histograms(
          cv::Rect((i % kTilesPerRow * kTileWindows + kMargin) * kBins, i / kTilesPerRow * kTileWindows + kMargin,
                   kWindows * kBins, kWindows))));
    gst_buffer_unmap(tensor->data, &map);
    return descriptors;
  }

  // Square roots of shares: their Euclidean distance is that of Hellinger.
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

Features detect_orb(const cv::Mat &picture, int points, int threshold) {
  Features features;
  const cv::Ptr<cv::ORB> orb = cv::ORB::create(points);
  orb->setFastThreshold(threshold);
  orb->detectAndCompute(picture, cv::noArray(), features.points, features.descriptors);
  return features;
}

// Those of greatest response, described as ORB does.
Features detect_fast(const cv::Mat &picture, int points) {
  Features features;
  cv::FAST(picture, features.points, 10);
  cv::KeyPointsFilter::retainBest(features.points, points);
  if (static_cast<int>(features.points.size()) > points) features.points.resize(static_cast<std::size_t>(points));
  for (cv::KeyPoint &point : features.points) point.angle = 0;
  cv::ORB::create(points)->compute(picture, features.points, features.descriptors);
  return features;
}

// --- what they are good for ---

cv::Point2f mapped(const cv::Mat &homography, cv::Point2f p) {
  std::vector<cv::Point2f> out;
  cv::perspectiveTransform(std::vector<cv::Point2f>{p}, out, homography);
  return out[0];
}

struct Registration {
  std::vector<cv::DMatch> matches, inliers;
  cv::Mat homography;  // empty where none is found
};

Registration match(const Features &first, const Features &second) {
  Registration result;
  if (first.points.size() < 4 || second.points.size() < 4) return result;
  const int norm = first.descriptors.depth() == CV_8U ? cv::NORM_HAMMING : cv::NORM_L2;
  cv::BFMatcher(norm, /* both ways */ true).match(first.descriptors, second.descriptors, result.matches);
  std::vector<cv::Point2f> from, to;
  for (const cv::DMatch &m : result.matches) {
    from.push_back(first.points[static_cast<std::size_t>(m.queryIdx)].pt);
    to.push_back(second.points[static_cast<std::size_t>(m.trainIdx)].pt);
  }
  if (from.size() < 4) return result;
  std::vector<std::uint8_t> mask;
  result.homography = cv::findHomography(from, to, cv::RANSAC, kNear, mask, 10000, 0.999);
  for (std::size_t i = 0; i < mask.size() && !result.homography.empty(); ++i)
    if (mask[i] != 0) result.inliers.push_back(result.matches[i]);
  return result;
}

// Of the keypoints of the first picture that the second one shows: the share that has one there, too.
double repeatability(const Features &first, const Features &second, const cv::Mat &homography, cv::Size size) {
  int visible = 0, repeated = 0;
  for (const cv::KeyPoint &point : first.points) {
    const cv::Point2f at = mapped(homography, point.pt);
    if (at.x < 0 || at.y < 0 || at.x > static_cast<float>(size.width - 1) ||
        at.y > static_cast<float>(size.height - 1))
      continue;
    ++visible;
    repeated += std::any_of(second.points.begin(), second.points.end(),
                            [&](const cv::KeyPoint &other) { return cv::norm(other.pt - at) <= kNear; });
  }
  return visible > 0 ? 1.0 * repeated / visible : 0;
}

int correct_matches(const Features &first, const Features &second, const std::vector<cv::DMatch> &matches,
                    const cv::Mat &homography) {
  return static_cast<int>(std::count_if(matches.begin(), matches.end(), [&](const cv::DMatch &m) {
    return cv::norm(second.points[static_cast<std::size_t>(m.trainIdx)].pt -
                    mapped(homography, first.points[static_cast<std::size_t>(m.queryIdx)].pt)) <= kNear;
  }));
}

// How many cells of 8 x 8 hold a keypoint.
int coverage(const std::vector<cv::KeyPoint> &points, cv::Size size) {
  std::map<int, int> cells;
  for (const cv::KeyPoint &p : points)
    ++cells[static_cast<int>(p.pt.y * 8 / static_cast<float>(size.height)) * 8 +
            static_cast<int>(p.pt.x * 8 / static_cast<float>(size.width))];
  return static_cast<int>(cells.size());
}

using Detector = std::function<Features(const cv::Mat &)>;
struct Named {
  const char *name;
  Detector detect;
};

struct Trial {
  Features first, second;
  Registration registration;
};

Trial try_detector(const Detector &detect, const cv::Mat &first, const cv::Mat &second) {
  Trial trial{detect(first), detect(second), {}};
  trial.registration = match(trial.first, trial.second);
  return trial;
}

cv::Mat with_contrast(const cv::Mat &picture, double contrast) {
  cv::Mat low;
  picture.convertTo(low, CV_8UC1, contrast, 128 * (1 - contrast));
  return low;
}

void print_table(const std::vector<Named> &detectors, const std::vector<Trial> &trials, cv::Mat homography,
                 cv::Size first_size, cv::Size second_size) {
  std::printf("%-14s %7s %9s %14s %8s %8s %8s\n", "", "points", "coverage", "repeatability", "matches", "correct",
              "inliers");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial &t = trials[i];
    const bool known = !homography.empty();
    std::printf("%-14s %7zu %6d/64 %13.1f%% %8zu %8d %8zu\n", detectors[i].name, t.first.points.size(),
                coverage(t.first.points, first_size),
                known ? 100 * repeatability(t.first, t.second, homography, second_size) : 0,
                t.registration.matches.size(),
                known ? correct_matches(t.first, t.second, t.registration.matches, homography) : 0,
                t.registration.inliers.size());
  }
}

void draw(const Trial &trial, const cv::Mat &first, const cv::Mat &second, const std::string &file) {
  cv::Mat drawn;
  cv::drawMatches(first, trial.first.points, second, trial.second.points, trial.registration.inliers, drawn,
                  cv::Scalar(0, 255, 0), cv::Scalar(0, 0, 255));
  write_png(drawn, file);
  std::printf("%s: the inliers of cudasigma2kp\n", file.c_str());
}

struct Options {
  std::string first, second;
  std::map<std::string, std::string> values{{"points", "1000"},       {"contrast", "0.1"}, {"homography", ""},
                                            {"out", ""},              {"frames", "30"},
                                            {"properties", kProperties}};
};

Options parse(int argc, char **argv) {
  if (argc < 3) throw std::invalid_argument("usage: register FIRST SECOND [OPTION=VALUE...]");
  Options options{argv[1], argv[2]};
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i], name = argument.substr(0, argument.find('='));
    if (name.size() == argument.size() || options.values.count(name) == 0)
      throw std::invalid_argument(argument + ": no such option");
    options.values[name] = argument.substr(name.size() + 1);
  }
  return options;
}

cv::Mat read_homography(const std::string &file) {
  if (file.empty()) return {};
  const cv::FileStorage storage(file, cv::FileStorage::READ);
  if (!storage.isOpened()) throw std::runtime_error(file + ": cannot be read");
  cv::Mat homography;
  (*storage.root().begin()) >> homography;
  if (homography.rows != 3 || homography.cols != 3) throw std::runtime_error(file + ": no 3x3 matrix");
  return homography;
}

void compare(const cv::Mat &first, const cv::Mat &second, const std::vector<Named> &detectors, Options &options) {
  cv::Mat homography = read_homography(options.values["homography"]);
  for (const double contrast : {1.0, std::stod(options.values["contrast"])}) {
    const cv::Mat a = with_contrast(first, contrast), b = with_contrast(second, contrast);
    std::vector<Trial> trials;
    for (const Named &detector : detectors) trials.push_back(try_detector(detector.detect, a, b));
    if (homography.empty()) {
      const auto best = std::max_element(trials.begin(), trials.end(), [](const Trial &x, const Trial &y) {
        return x.registration.inliers.size() < y.registration.inliers.size();
      });
      homography = best->registration.homography;
      std::printf("the homography of %s is believed\n", detectors[static_cast<std::size_t>(best - trials.begin())].name);
    }
    std::printf("\ncontrast %.0f %%\n", 100 * contrast);
    print_table(detectors, trials, homography, first.size(), second.size());
    if (!options.values["out"].empty()) {
      std::string file = options.values["out"];
      if (contrast < 1) file.insert(file.rfind('.') == std::string::npos ? file.size() : file.rfind('.'), "-low");
      draw(trials[0], first, second, file);
    }
  }
}

// Which of the frames shows the first picture best.
void search(const cv::Mat &first, const std::vector<cv::Mat> &frames, const Detector &detect, Options &options) {
  const Features of_first = detect(first);
  Trial best;
  std::size_t best_frame = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Trial trial{of_first, detect(frames[i]), {}};
    trial.registration = match(trial.first, trial.second);
    std::printf("frame %3zu: %4zu inliers of %zu matches\n", i, trial.registration.inliers.size(),
                trial.registration.matches.size());
    if (i == 0 || trial.registration.inliers.size() > best.registration.inliers.size()) best = trial, best_frame = i;
  }
  std::printf("best: frame %zu\n", best_frame);
  if (!options.values["out"].empty()) draw(best, first, frames[best_frame], options.values["out"]);
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  try {
    Options options = parse(argc, argv);
    const int points = std::stoi(options.values["points"]);
    const cv::Mat first = read_frames(options.first, 1).front();
    const std::vector<cv::Mat> second = read_frames(options.second, std::stoi(options.values["frames"]));
    const Sigma2Detector sigma2(options.values["properties"], points);
    const std::vector<Named> detectors{
        {"cudasigma2kp", [&](const cv::Mat &picture) { return sigma2.detect(picture); }},
        {"ORB", [points](const cv::Mat &picture) { return detect_orb(picture, points, 20); }},
        {"ORB, sensitive", [points](const cv::Mat &picture) { return detect_orb(picture, points, 2); }},
        {"FAST", [points](const cv::Mat &picture) { return detect_fast(picture, points); }}};
    if (second.size() == 1)
      compare(first, second.front(), detectors, options);
    else
      search(first, second, detectors[0].detect, options);
    return 0;
  } catch (const std::invalid_argument &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
