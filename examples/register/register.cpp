// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers two pictures, or a template and the frames of a video, by keypoints of cudasigma2kp, and compares
// the result with OpenCV's ORB and FAST, also at a tenth of the contrast.
//
//   register FIRST SECOND [OPTION=VALUE...]
//   register graf1.png graf3.png homography=H1to3p.xml out=graf.png
//   register box.png vtest.avi frames=50
//
// FIRST, SECOND: files that GStreamer decodes. If SECOND is a video, its first frames are tried in turn.
//   points=1000       maximum number of keypoints per detector and picture
//   frames=30         number of frames of a video to try
//   contrast=0.1      contrast of the low-contrast copies: 128 + contrast (v - 128), rounded
//   homography=FILE   maps FIRST to SECOND, in OpenCV's file format; default: the one with most inliers
//   out=FILE          writes a PNG with the matches that agree with the estimated homography, side by side
//   properties="..."  properties of cudasigma2kp
//
// A keypoint is described by its patch, rotated upright by the keypoint's angle: histograms of oriented
// gradients of 4 x 4 windows, which cudalocalhist counts in a mosaic of all patches. Keypoints are also
// detected in scaled copies of the picture, as in ORB.
//
// To build it, in this folder:
//   c++ -std=c++17 register.cpp -o register
//     $(pkg-config --cflags --libs gstreamer-cudavision-1.0 gstreamer-app-1.0 gstreamer-video-1.0)
//     -I/usr/include/opencv4 -lopencv_core -lopencv_imgproc -lopencv_features2d -lopencv_calib3d -lopencv_flann
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "matching.h"

namespace {

const char kProperties[] =
    "window=7 cell=8 tau=3.9 grids=4 min-distance=5 orientation-window=20 weight=magnitude";

cv::Mat with_contrast(const cv::Mat &picture, double contrast) {
  cv::Mat low;
  picture.convertTo(low, CV_8UC1, contrast, 128 * (1 - contrast));
  return low;
}

void print_table(const std::vector<Named> &detectors, const std::vector<Trial> &trials, cv::Mat homography,
                 cv::Size first_size, cv::Size second_size) {
  std::printf("%-14s %7s %9s %14s %8s %8s %8s\n", "", "points", "coverage", "repeatability", "matches",
              "correct", "inliers");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial &t = trials[i];
    std::string repeated = "-", correct = "-";
    if (!homography.empty()) {
      if (const auto share = repeatability(t.first, t.second, homography, second_size))
        repeated = cv::format("%.1f%%", 100 * *share);
      correct = std::to_string(correct_matches(t.first, t.second, t.registration.matches, homography));
    }
    std::printf("%-14s %7zu %6d/64 %14s %8zu %8s %8zu\n", detectors[i].name, t.first.points.size(),
                coverage(t.first.points, first_size), repeated.c_str(), t.registration.matches.size(),
                correct.c_str(), t.registration.inliers.size());
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
  std::map<std::string, std::string> values{{"points", "1000"}, {"contrast", "0.1"},
                                            {"homography", ""}, {"out", ""},
                                            {"frames", "30"},   {"properties", kProperties}};
  int points = 0, frames = 0;
  double contrast = 0;
};

double number(Options &options, const char *name, double least, double most) {
  const std::string &text = options.values[name];
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most))
    throw std::invalid_argument(
        cv::format("%s=%s: not a number between %g and %g", name, text.c_str(), least, most));
  return value;
}

Options parse(int argc, char **argv) {
  if (argc < 3)
    throw std::invalid_argument(
        "usage: register FIRST SECOND [points=N] [frames=N] [contrast=C] [homography=FILE] [out=FILE] "
        "[properties=\"...\"]");
  Options options{argv[1], argv[2]};
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i], name = argument.substr(0, argument.find('='));
    if (name.size() == argument.size() || options.values.count(name) == 0)
      throw std::invalid_argument(argument + ": no such option");
    options.values[name] = argument.substr(name.size() + 1);
  }
  options.points = static_cast<int>(number(options, "points", 1, 1e6));
  options.frames = static_cast<int>(number(options, "frames", 1, 1e6));
  options.contrast = number(options, "contrast", 0.001, 1);
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

void compare(const cv::Mat &first, const cv::Mat &second, const std::vector<Named> &detectors,
             Options &options) {
  cv::Mat homography = read_homography(options.values["homography"]);
  for (const double contrast : {1.0, options.contrast}) {
    const cv::Mat a = with_contrast(first, contrast), b = with_contrast(second, contrast);
    std::vector<Trial> trials;
    for (const Named &detector : detectors) trials.push_back(try_detector(detector.detect, a, b));
    if (homography.empty()) {
      const auto best = std::max_element(trials.begin(), trials.end(), [](const Trial &x, const Trial &y) {
        return x.registration.inliers.size() < y.registration.inliers.size();
      });
      homography = best->registration.homography;
      if (homography.empty())
        std::printf("no homography is found\n");
      else
        std::printf("the homography of %s is believed\n",
                    detectors[static_cast<std::size_t>(best - trials.begin())].name);
    }
    std::printf("\ncontrast %.0f %%\n", 100 * contrast);
    print_table(detectors, trials, homography, first.size(), second.size());
    if (!options.values["out"].empty()) {
      std::string file = options.values["out"];
      if (contrast < 1)
        file.insert(file.rfind('.') == std::string::npos ? file.size() : file.rfind('.'), "-low");
      draw(trials[0], a, b, file);
    }
  }
}

// Finds the frame that shows the first picture best.
void search(const cv::Mat &first, const std::vector<cv::Mat> &frames, const Detector &detect,
            Options &options) {
  const Features of_first = detect(first);
  Trial best;
  std::size_t best_frame = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Trial trial{of_first, detect(frames[i]), {}};
    trial.registration = match(trial.first, trial.second);
    std::printf("frame %3zu: %4zu inliers of %zu matches\n", i, trial.registration.inliers.size(),
                trial.registration.matches.size());
    if (i == 0 || trial.registration.inliers.size() > best.registration.inliers.size())
      best = trial, best_frame = i;
  }
  std::printf("best: frame %zu\n", best_frame);
  if (!options.values["out"].empty()) draw(best, first, frames[best_frame], options.values["out"]);
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  try {
    Options options = parse(argc, argv);
    const int points = options.points;
    const cv::Mat first = read_frames(options.first, 1).front();
    const std::vector<cv::Mat> second = read_frames(options.second, options.frames);
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
