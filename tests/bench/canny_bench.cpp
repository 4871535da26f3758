// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny on both backends and cv::Canny, on a photograph and on noise.
#include "cuda/canny/canny.h"

#include <cstring>
#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

struct Case {
  const Picture *picture;
  std::string what;  // without the number of threads
  CannyParams params;
};

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

// Minimum traffic: every byte of the luma is read once and every byte of the edge map written once.
double bytes_per_frame(Size size) { return 2.0 * size.width * size.height; }

void find_opencv_edges(const Case &c, cv::Mat *edges) {
  const Picture &picture = *c.picture;
  const cv::Mat luma(picture.height(), picture.width(), CV_8UC1, const_cast<std::uint8_t *>(picture.row(0)));
  cv::Canny(luma, *edges, c.params.low_threshold, c.params.high_threshold, c.params.aperture,
            c.params.l2_gradient);
}

// The fraction of edge pixels, a measure of the picture's difficulty.
void count_edges(benchmark::State &state, const cv::Mat &edges) {
  state.counters["edges"] = static_cast<double>(cv::countNonZero(edges)) / static_cast<double>(edges.total());
}

// Fails the benchmark if the edges differ from OpenCV's.
void check_edges(benchmark::State &state, const Case &c, const std::vector<std::uint8_t> &edges) {
  cv::Mat expected;
  find_opencv_edges(c, &expected);
  count_edges(state, expected);
  if (edges.size() != expected.total() || std::memcmp(edges.data(), expected.data, edges.size()) != 0)
    state.SkipWithError("the edges are not those of cv::Canny");
}

void measure_opencv(benchmark::State &state, const Case &c, int threads) {
  cv::setNumThreads(threads);
  cv::Mat edges;
  find_opencv_edges(c, &edges);  // allocates them
  count_edges(state, edges);
  for (auto _ : state) {
    find_opencv_edges(c, &edges);
    benchmark::ClobberMemory();
  }
  count_frames(state, bytes_per_frame(c.picture->size()));
}

void measure_cpu(benchmark::State &state, const Case &c, int threads) {
  const Size size = c.picture->size();
  const Workers workers(threads);
  std::unique_ptr<Canny> canny;
  std::vector<std::uint8_t> edges(static_cast<std::size_t>(size.width) *
                                  static_cast<std::size_t>(size.height));
  const ImageView<std::uint8_t> view{edges.data(), size.width, size.width, size.height};
  Status status = make_canny({Backend::cpu, &workers, nullptr}, size, &canny);
  if (status.ok()) status = canny->run(view_of(*c.picture), view, c.params);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_edges(state, c, edges);
  for (auto _ : state) {
    status = canny->run(view_of(*c.picture), view, c.params);
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, bytes_per_frame(size));
}

void add_cpu(Comparison &comparison, const Case &c) {
  for (const int threads : thread_counts()) {
    const Name peer{"cv::Canny", with_threads(c.what, threads)},
        ours{"canny/cpu", with_threads(c.what, threads)};
    comparison.add(peer, Clock::real, [=](benchmark::State &state) { measure_opencv(state, c, threads); });
    comparison.add(ours, Clock::real, [=](benchmark::State &state) { measure_cpu(state, c, threads); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
Status make_cuda(const Device &device, const Case &c, std::unique_ptr<Canny> *canny,
                 std::vector<DeviceImage<std::uint8_t>> *lumas,
                 std::vector<DeviceImage<std::uint8_t>> *edges) {
  const int count = device.frames_beyond_cache(bytes_per_frame(c.picture->size()));
  CUDAVISION_TRY(device.upload(*c.picture, count, lumas));
  CUDAVISION_TRY(device.upload(*c.picture, count, edges));
  CUDAVISION_TRY(make_canny(device.execution(), c.picture->size(), canny));
  return (*canny)->run(lumas->front().view(), edges->front().view(), c.params);
}

void measure_cuda(benchmark::State &state, const Device &device, const Case &c) {
  std::unique_ptr<Canny> canny;
  std::vector<DeviceImage<std::uint8_t>> lumas, edges;
  std::vector<std::uint8_t> result;
  Status status = make_cuda(device, c, &canny, &lumas, &edges);
  if (status.ok()) status = device.download(edges.front().view(), &result);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check_edges(state, c, result);
  device.measure(state, bytes_per_frame(c.picture->size()), [&](int i) {
    const std::size_t turn = static_cast<std::size_t>(i) % lumas.size();
    return canny->run(lumas[turn].view(), edges[turn].view(), c.params);
  });
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c) {
  const Name ours{"canny/cuda", c.what};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c); });
  for (const int threads : thread_counts())
    comparison.compare(ours, {"cv::Canny", with_threads(c.what, threads)});
}
#endif

std::vector<Case> make_cases(const Picture &picture, const std::string &kind) {
  std::vector<Case> cases;
  for (const int aperture : {3, 5, 7}) {
    if (aperture != 3 && picture.height() != 1080) continue;
    for (const bool l2 : {false, true}) {
      CannyParams params;
      params.aperture = aperture;
      params.l2_gradient = l2;
      // The gradient of a step is 12 or 160 times as large with aperture 5 or 7 as with aperture 3.
      const double growth = aperture == 3 ? 1 : aperture == 5 ? 12 : 160;
      params.low_threshold *= growth, params.high_threshold *= growth;
      cases.push_back({&picture,
                       std::to_string(picture.width()) + "x" + std::to_string(picture.height()) + "/" + kind +
                           "/aperture:" + std::to_string(aperture) + "/" + (l2 ? "L2" : "L1"),
                       params});
    }
  }
  return cases;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Picture>> pictures;
  std::vector<Case> cases;
  const auto add = [&](Picture picture, const std::string &kind) {
    pictures.push_back(std::make_unique<Picture>(std::move(picture)));
    for (Case &c : make_cases(*pictures.back(), kind)) cases.push_back(std::move(c));
  };
  std::string why_not;
  for (const Size size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    if (Picture real = real_picture(size, &why_not); real.size() == size) add(std::move(real), "real");
    add(test::noise(size, 1), "noise");
    add(test::serpentine(size, test::Seed::at_the_end), "serpentine");  // the longest chain of weak pixels
  }
  if (!why_not.empty()) comparison.leave_out("the real picture", why_not);
  for (const Case &c : cases) add_cpu(comparison, c);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases) add_cuda(comparison, device, c);
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
