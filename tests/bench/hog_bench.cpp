// SPDX-License-Identifier: LGPL-2.1-or-later
// HOG's blocks, at fifteen published sizes and by stage, and the detector, on both backends, compared with
// cv::HOGDescriptor's compute and detectMultiScale, on a colour video frame.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/common/owned_memory.h"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector.h"
#include "cuda/hog/planes_cpu.h"
#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/opencv_hog.h"

namespace cudavision::bench {
namespace {

// Milliseconds per window of this size on the CPU and the GPU of a Jetson TK1, as published with GHoGLib (the seed
// work, see cuda/hog/hog.h; tables 4 to 7): its own times and those of OpenCV 2.4.9.
struct SeedTimes {
  Size size;
  double own_cpu, own_gpu, opencv_cpu, opencv_gpu;
};
constexpr SeedTimes kSeed[] = {
    {{128, 72}, 2.97, 3.82, 1.05, 12.28},          {{256, 144}, 11.71, 5.15, 4.31, 20.80},
    {{384, 216}, 26.52, 7.81, 10.25, 25.36},       {{512, 288}, 47.56, 11.60, 19.82, 22.90},
    {{640, 360}, 74.32, 16.47, 31.20, 29.40},      {{768, 432}, 107.85, 20.02, 46.88, 25.59},
    {{896, 504}, 147.37, 24.01, 64.45, 31.71},     {{1024, 576}, 193.96, 27.98, 88.10, 41.05},
    {{1152, 648}, 244.01, 33.42, 105.22, 50.80},   {{1280, 720}, 301.37, 38.47, 133.53, 54.32},
    {{1408, 792}, 364.07, 41.79, 159.66, 63.15},   {{1536, 864}, 435.18, 46.30, 206.18, 74.48},
    {{1664, 936}, 510.34, 47.83, 225.29, 82.69},   {{1792, 1008}, 590.94, 46.81, 270.39, 96.65},
    {{1920, 1080}, 678.01, 47.41, 301.78, 122.82},
};
constexpr Size kVideoSize{768, 576};  // size of vtest.avi

struct Frame3 {
  Size size;
  std::vector<std::uint8_t> bytes;  // B, G, R
  int pitch() const { return divide_up(3 * size.width, 4) * 4; }
  cv::Mat mat() const {
    return {size.height, size.width, CV_8UC3, const_cast<std::uint8_t *>(bytes.data()),
            static_cast<std::size_t>(pitch())};
  }
};

HogPicture picture_of(std::uint8_t *bytes, const Frame3 &frame) {
  HogPicture picture{3, frame.size.width, frame.size.height, {}};
  for (int c = 0; c < 3; ++c) picture.component[c] = {bytes + 2 - c, frame.pitch(), 3, 0, 0};
  return picture;
}

std::string text_of(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height) + "/real";
}
Name name_of(const std::string &who, Size size, int threads) {
  return {who, text_of(size) + "/threads:" + std::to_string(threads)};
}

// Counts frames and, at a published size, adds counters of the speed relative to each published time.
void count_seed(benchmark::State &state, Size size) {
  count_frames(state, 0);
  for (const SeedTimes &seed : kSeed) {
    if (seed.size != size) continue;
    const double frames = static_cast<double>(state.iterations());
    const auto count = [&](const char *name, double ms) {
      state.counters[name] = benchmark::Counter(frames * ms / 1000, benchmark::Counter::kIsRate);
    };
    count("of GHoGLib's CPU", seed.own_cpu);
    count("of GHoGLib's GPU", seed.own_gpu);
    count("of GHoGLib's OpenCV on the CPU", seed.opencv_cpu);
    count("of GHoGLib's OpenCV on the GPU", seed.opencv_gpu);
  }
}

// --- OpenCV ---

cv::HOGDescriptor opencv_hog(Size size) {
  return cv::HOGDescriptor({size.width / 8 * 8, size.height / 8 * 8}, {16, 16}, {8, 8}, {8, 8}, 9, 1, -1,
                           cv::HOGDescriptor::L2Hys, 0.2, true);
}

std::vector<float> opencv_blocks(const Frame3 &frame) {
  const cv::HOGDescriptor hog = opencv_hog(frame.size);
  std::vector<float> columns;
  hog.compute(frame.mat(), columns, {8, 8}, {}, {cv::Point(0, 0)});
  const int cols = frame.size.width / 8 - 1, rows = frame.size.height / 8 - 1;
  std::vector<float> blocks(columns.size());
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col)
      std::copy_n(columns.begin() + 36 * (col * rows + row), 36, blocks.begin() + 36 * (row * cols + col));
  return blocks;
}

void measure_opencv_blocks(benchmark::State &state, const Frame3 &frame, int threads) {
  cv::setNumThreads(threads);
  const cv::HOGDescriptor hog = opencv_hog(frame.size);
  std::vector<float> columns;
  for (auto _ : state) {
    hog.compute(frame.mat(), columns, {8, 8}, {}, {cv::Point(0, 0)});
    benchmark::ClobberMemory();
  }
  count_seed(state, frame.size);
}

void measure_opencv_gradients(benchmark::State &state, const Frame3 &frame, int threads) {
  cv::setNumThreads(threads);
  const cv::HOGDescriptor hog = opencv_hog(frame.size);
  cv::Mat gradients, angles;
  for (auto _ : state) {
    hog.computeGradient(frame.mat(), gradients, angles);
    benchmark::ClobberMemory();
  }
  count_frames(state, 0);
}

struct OpenCvDetector {
  cv::HOGDescriptor hog;
  std::vector<cv::Rect> boxes;
  std::vector<double> scores;

  OpenCvDetector() { hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector()); }
  void run(const Frame3 &frame, int group = 2) {
    hog.detectMultiScale(frame.mat(), boxes, scores, 0, {8, 8}, {}, 1.05, group, false);
  }
};

void measure_opencv_detector(benchmark::State &state, const Frame3 &frame, int threads) {
  cv::setNumThreads(threads);
  OpenCvDetector detector;
  for (auto _ : state) {
    detector.run(frame);
    benchmark::ClobberMemory();
  }
  state.counters["boxes"] = static_cast<double>(detector.boxes.size());
  count_frames(state, 0);
}

// --- this project, on either backend ---

HogModel people() {
  HogModel model;
  model.weights = cv::HOGDescriptor::getDefaultPeopleDetector();
  model.bias = model.weights.back();
  model.weights.pop_back();
  return model;
}

// What the detector searches: what OpenCV does; what cudahog model=people does, from the scale 2/3 on and with the best
// of overlapping hits; or that, but only moving_people().
enum class Search { as_opencv, people, moving };
constexpr std::pair<const char *, Search> kSearches[] = {{"people", Search::people},
                                                         {"moving", Search::moving}};

// Five regions of 40x80 pixels, as of people who walk across the frame.
Places moving_people(Size frame) {
  Places places;
  places.count = 5;
  for (int i = 0; i < places.count; ++i)
    places.region[i] = {frame.width * (2 * i + 1) / 10 - 20, frame.height * (i % 3 + 2) / 6 - 40, 40, 80};
  return places;
}

class Ours {
 public:
  Status make(const Execution &execution, const Frame3 &frame, bool detects) {
    execution_ = execution, frame_ = &frame, detects_ = detects;
    CUDAVISION_TRY(bytes_.allocate(execution, frame.bytes.size()));
    CUDAVISION_TRY(copy_from_host(execution, bytes_.data(), frame.bytes.data(), frame.bytes.size()));
    if (detects) {
      CUDAVISION_TRY(boxes_.allocate(execution, kMaxHogHits * sizeof(HogBox)));
      CUDAVISION_TRY(count_.allocate(execution, sizeof(HogBoxCount)));
      return make_hog_detector(execution, frame.size, 3, people(), {}, &detector_);
    }
    CUDAVISION_TRY(hog_shape(frame.size, {}, &shape_));
    CUDAVISION_TRY(blocks_.allocate(execution, shape_.count() * sizeof(float)));
    return make_hog(execution, frame.size, 3, {}, &hog_);
  }
  Status run() {
    const HogPicture picture = picture_of(static_cast<std::uint8_t *>(bytes_.data()), *frame_);
    if (detects_)
      return detector_->run(picture, thresholds_,
                            {static_cast<HogBox *>(boxes_.data()), static_cast<HogBoxCount *>(count_.data())},
                            places_);
    return hog_->run(picture, static_cast<float *>(blocks_.data()));
  }
  // Sets what the detector searches in the next frames.
  Status change(Search search) {
    if (search == Search::as_opencv) return {};
    if (search == Search::moving) places_ = moving_people(frame_->size);
    thresholds_ = {.grouping = HogGrouping::best, .object = {0.25, 0.125, 0.5, 0.75}, .whole_windows = false};
    return make_hog_detector(execution_, frame_->size, 3, people(), {.min_scale = 2.0 / 3}, &detector_);
  }
  // Enqueues the download. The destinations must stay valid until the stream is synchronised.
  Status fetch(std::vector<float> *blocks, std::vector<HogBox> *boxes, HogBoxCount *count) const {
    if (!detects_) {
      blocks->resize(shape_.count());
      return copy_to_host(execution_, blocks->data(), blocks_.data(), blocks_.size());
    }
    boxes->resize(kMaxHogHits);
    CUDAVISION_TRY(copy_to_host(execution_, boxes->data(), boxes_.data(), boxes_.size()));
    return copy_to_host(execution_, count, count_.data(), sizeof *count);
  }

 private:
  Execution execution_;
  const Frame3 *frame_ = nullptr;
  bool detects_ = false;
  Places places_;
  HogThresholds thresholds_;
  OwnedBytes bytes_, blocks_, boxes_, count_;
  HogShape shape_;
  std::unique_ptr<Hog> hog_;
  std::unique_ptr<HogDetector> detector_;
};

// Fails the benchmark if the results differ from OpenCV's.
void check(benchmark::State &state, const Frame3 &frame, const std::vector<float> &blocks,
           const std::vector<HogBox> &boxes, const HogBoxCount &count) {
  bool same = true;
  if (boxes.empty()) {
    const std::vector<float> expected = opencv_blocks(frame);
    same = blocks.size() == expected.size();
    for (std::size_t i = 0; same && i < blocks.size(); ++i) same = std::abs(blocks[i] - expected[i]) <= 1e-5f;
  } else {
    cv::setNumThreads(1);
    OpenCvDetector opencv;
    opencv.run(frame);
    same = count.listed == static_cast<int>(opencv.boxes.size());
    for (std::size_t i = 0; same && i < opencv.boxes.size(); ++i) {
      const HogBox &b = boxes[i];
      same = cv::Rect(b.x, b.y, b.width, b.height) == opencv.boxes[i] &&
             std::abs(b.score - opencv.scores[i]) <= 1e-4;
    }
    state.counters["boxes"] = count.listed;
  }
  if (!same) state.SkipWithError("the results are not those of cv::HOGDescriptor");
}

// A search as OpenCV's, whose result is checked, comes first.
void measure_cpu(benchmark::State &state, const Frame3 &frame, bool detects, int threads,
                 Search search = Search::as_opencv) {
  const Workers workers(threads);
  Ours ours;
  std::vector<float> blocks;
  std::vector<HogBox> boxes;
  HogBoxCount count{};
  Status status = ours.make({Backend::cpu, &workers, nullptr}, frame, detects);
  if (status.ok()) status = ours.run();
  if (status.ok()) status = ours.fetch(&blocks, &boxes, &count);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, frame, blocks, boxes, count);
  status = ours.change(search);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  for (auto _ : state) {
    status = ours.run();
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_seed(state, frame.size);
}

// Times the first of GHoGLib's three stages, colour planes with square roots, and if `votes` is true also the second
// stage, votes. The rest of the time of a frame is the third stage: block sums and normalisation.
void measure_stage(benchmark::State &state, const Frame3 &frame, bool votes) {
  const Workers workers(1);
  hog::PlaneSplitter splitter(frame.size, 3);
  const hog::Rules rules = hog::rules_of({});
  const int row = frame.size.width + 2 * hog::kRowPadding;
  std::vector<float> colors(static_cast<std::size_t>(9 * row)), sums(static_cast<std::size_t>(2 * row));
  std::vector<std::int32_t> bins(static_cast<std::size_t>(row));
  const auto color = [&](int y, int c) { return colors.data() + (y % 3 * 3 + c) * row + hog::kRowPadding; };
  for (auto _ : state) {
    hog::BytePlanes planes;
    (void)splitter.take(workers, picture_of(const_cast<std::uint8_t *>(frame.bytes.data()), frame), &planes);
    for (int y = 0; y < frame.size.height; ++y) {
      hog::ColorRows rows;
      rows.channels = 3;
      for (int c = 0; c < 3; ++c) {
        hog::color_row(rules, planes.plane[c].row(y), frame.size.width, color(y, c));
        // The previous row votes. Rows are stored modulo 3: color(y + 1) is row y - 2 and color(y + 2) y - 1.
        rows.above[c] = color(y + 1, c), rows.here[c] = color(y + 2, c), rows.below[c] = color(y, c);
      }
      const int width = frame.size.width;
      if (votes)
        hog::vote_row(rules, rows, hog::first_column_of_tail(rules.variant, width), width,
                      {sums.data(), sums.data() + row, bins.data()});
    }
    benchmark::ClobberMemory();
  }
  count_frames(state, 0);
}

void add_cpu(Comparison &comparison, const Frame3 &frame, bool detects) {
  const bool wanted = frame.size == kVideoSize || frame.size == Size{1920, 1080};
  const std::string peer = detects ? "cv::detectMultiScale" : "cv::compute",
                    own = detects ? "detector" : "hog";
  for (const int threads : thread_counts()) {
    const Name opencv = name_of(peer, frame.size, threads), ours = name_of(own + "/cpu", frame.size, threads);
    comparison.add(opencv, Clock::real, [&frame, detects, threads](benchmark::State &state) {
      detects ? measure_opencv_detector(state, frame, threads) : measure_opencv_blocks(state, frame, threads);
    });
    comparison.add(ours, Clock::real, [&frame, detects, threads](benchmark::State &state) {
      measure_cpu(state, frame, detects, threads);
    });
    // Required: at least as fast as OpenCV.
    comparison.compare(ours, opencv, wanted ? 1.0 : 0);
    if (!detects) continue;
    for (const auto &[name, search] : kSearches) {
      const Name other = name_of(std::string("detector/cpu/") + name, frame.size, threads);
      comparison.add(other, Clock::real, [&frame, threads, search = search](benchmark::State &state) {
        measure_cpu(state, frame, true, threads, search);
      });
      comparison.compare(other, ours);
    }
  }
  if (detects) return;
  comparison.add(name_of("hog/cpu/colours", frame.size, 1), Clock::real,
                 [&frame](benchmark::State &state) { measure_stage(state, frame, false); });
  comparison.add(name_of("hog/cpu/colours+votes", frame.size, 1), Clock::real,
                 [&frame](benchmark::State &state) { measure_stage(state, frame, true); });
  comparison.add(name_of("cv::computeGradient", frame.size, 1), Clock::real,
                 [&frame](benchmark::State &state) { measure_opencv_gradients(state, frame, 1); });
  comparison.compare(name_of("hog/cpu/colours+votes", frame.size, 1),
                     name_of("cv::computeGradient", frame.size, 1));
}

#if CUDAVISION_HAVE_CUDA
void measure_cuda(benchmark::State &state, const Device &device, const Frame3 &frame, bool detects,
                  Search search = Search::as_opencv) {
  Ours ours;
  std::vector<float> blocks;
  std::vector<HogBox> boxes;
  HogBoxCount count{};
  Status status = ours.make(device.execution(), frame, detects);
  if (status.ok()) status = ours.run();
  if (status.ok()) status = ours.fetch(&blocks, &boxes, &count);
  if (status.ok()) status = CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(device.execution().stream));
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, frame, blocks, boxes, count);
  status = ours.change(search);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  const double bytes =
      static_cast<double>(frame.bytes.size()) + static_cast<double>(blocks.size() * sizeof(float));
  device.measure(state, bytes, [&](int) { return ours.run(); });
  count_seed(state, frame.size);
}

void add_cuda(Comparison &comparison, const Device &device, const Frame3 &frame, bool detects) {
  const Name ours{detects ? "detector/cuda" : "hog/cuda", text_of(frame.size)};
  comparison.add(ours, Clock::manual, [&frame, &device, detects](benchmark::State &state) {
    measure_cuda(state, device, frame, detects);
  });
  for (const int threads : thread_counts())
    comparison.compare(ours, name_of(detects ? "cv::detectMultiScale" : "cv::compute", frame.size, threads));
  if (!detects) return;
  for (const auto &[name, search] : kSearches) {
    const Name other{std::string("detector/cuda/") + name, text_of(frame.size)};
    comparison.add(other, Clock::manual, [&frame, &device, search = search](benchmark::State &state) {
      measure_cuda(state, device, frame, true, search);
    });
    comparison.compare(other, ours);
  }
}
#endif

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Frame3>> frames;
  std::string why_not;
  std::vector<Size> sizes{kVideoSize};
  for (const SeedTimes &seed : kSeed) sizes.push_back(seed.size);
  for (const Size size : sizes) {
    std::vector<std::uint8_t> bytes = real_frame("BGR", size, &why_not);
    if (!bytes.empty()) frames.push_back(std::make_unique<Frame3>(Frame3{size, std::move(bytes)}));
  }
  if (!why_not.empty()) comparison.leave_out("the real frame", why_not);
  const auto detects = [](Size size) { return size == kVideoSize || size == Size{1920, 1080}; };
  for (const auto &frame : frames) {
    add_cpu(comparison, *frame, false);
    if (detects(frame->size)) add_cpu(comparison, *frame, true);
  }
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const auto &frame : frames) {
      add_cuda(comparison, device, *frame, false);
      if (detects(frame->size)) add_cuda(comparison, device, *frame, true);
    }
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
