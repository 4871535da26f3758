// SPDX-License-Identifier: LGPL-2.1-or-later
// Cleaning of masks and connected components on both backends, compared with OpenCV, on masks of three kinds: what
// moves in a street, noise, and a spiral through the whole picture.
#include "cuda/components/components.h"

#include <opencv2/imgproc.hpp>

#include "cuda/bgsub/bgsub.h"
#include "cuda/common/owned_memory.h"
#include "cuda/morphology/morphology.h"
#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/decode.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

constexpr Size kSize{1920, 1080};
constexpr int kCapacity = 16, kOpen = 1, kClose = 4;
const MorphologyParams kCleaning{
    MorphologyShape::ellipse, 2, {{MorphologyKind::open, kOpen}, {MorphologyKind::close, kClose}}, false};

struct Mask {
  Picture pixels;
  std::string what;
};

std::string with_threads(const Mask &mask, int threads) {
  return mask.what + "/threads:" + std::to_string(threads);
}

cv::Mat mat_of(const Picture &picture) {
  return {picture.height(), picture.width(), CV_8U, const_cast<std::uint8_t *>(picture.row(0))};
}

void clean_with_opencv(const Picture &mask, cv::Mat *cleaned) {
  const auto disc = [](int radius) {
    return cv::getStructuringElement(cv::MORPH_ELLIPSE, {2 * radius + 1, 2 * radius + 1});
  };
  cv::morphologyEx(mat_of(mask), *cleaned, cv::MORPH_OPEN, disc(kOpen));
  cv::morphologyEx(*cleaned, *cleaned, cv::MORPH_CLOSE, disc(kClose));
}

// What a benchmark does with each frame: cleans its mask, finds components, or both. Components are always those of the
// mask that was cleaned last.
struct Work {
  bool cleans, counts;
  const char *ours, *peer;
};
constexpr Work kWorks[] = {{true, false, "morphology", "cv::morphologyEx"},
                           {false, true, "components", "cv::connectedComponentsWithStats"}};

void measure_opencv(benchmark::State &state, const Mask &mask, const Work &work, int threads) {
  cv::setNumThreads(threads);
  cv::Mat cleaned = mat_of(mask.pixels), labels, stats, centroids;
  for (auto _ : state) {
    if (work.cleans) clean_with_opencv(mask.pixels, &cleaned);
    if (work.counts) cv::connectedComponentsWithStats(cleaned, labels, stats, centroids);
  }
  count_frames(state, kSize.width * kSize.height);
}

// The algorithms of a backend, and the memory of their results.
struct Algorithms {
  std::unique_ptr<MaskCleaner> cleaner;
  std::unique_ptr<Components> components;
  OwnedImage cleaned;
  OwnedBytes count, list;

  Status make(const Execution &execution) {
    CUDAVISION_TRY(make_mask_cleaner(execution, kSize, &cleaner));
    CUDAVISION_TRY(make_components(execution, kSize, &components));
    CUDAVISION_TRY(cleaned.allocate(execution, kSize));
    CUDAVISION_TRY(count.allocate(execution, sizeof(ComponentCount)));
    return list.allocate(execution, kCapacity * sizeof(ConnectedComponent));
  }
  Status run(ImageView<const std::uint8_t> mask, const Work &work) {
    if (work.cleans) CUDAVISION_TRY(cleaner->run(mask, kCleaning, cleaned.view()));
    if (!work.counts) return {};
    return components->run(mask, {},
                           {static_cast<ComponentCount *>(count.data()),
                            static_cast<ConnectedComponent *>(list.data()), kCapacity});
  }
};

void measure_cpu(benchmark::State &state, const Mask &mask, const Work &work, int threads) {
  const Workers workers(threads);
  Algorithms algorithms;
  Status status = algorithms.make({Backend::cpu, &workers, nullptr});
  if (status.ok()) status = algorithms.run(view_of(mask.pixels), work);
  for (auto _ : state)
    if (status.ok()) status = algorithms.run(view_of(mask.pixels), work);
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, kSize.width * kSize.height);
}

void add_cpu(Comparison &comparison, const Mask &mask) {
  for (const Work &work : kWorks)
    for (const int threads : thread_counts()) {
      const Name peer{work.peer, with_threads(mask, threads)},
          ours{std::string(work.ours) + "/cpu", with_threads(mask, threads)};
      comparison.add(peer, Clock::real,
                     [=, &mask, &work](auto &state) { measure_opencv(state, mask, work, threads); });
      comparison.add(ours, Clock::real,
                     [=, &mask, &work](auto &state) { measure_cpu(state, mask, work, threads); });
      comparison.compare(ours, peer);
    }
}

#if CUDAVISION_HAVE_CUDA
void measure_cuda(benchmark::State &state, const Device &device, const Mask &mask, const Work &work) {
  Algorithms algorithms;
  std::vector<DeviceImage<std::uint8_t>> images;
  const double bytes = kSize.width * kSize.height;
  Status status = device.upload(mask.pixels, device.frames_beyond_cache(bytes), &images);
  if (status.ok()) status = algorithms.make(device.execution());
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  device.measure(state, bytes, [&](int i) {
    return algorithms.run(images[static_cast<std::size_t>(i) % images.size()].view(), work);
  });
}

void add_cuda(Comparison &comparison, const Device &device, const Mask &mask) {
  for (const Work &work : kWorks) {
    const Name ours{std::string(work.ours) + "/cuda", mask.what};
    comparison.add(ours, Clock::manual,
                   [=, &device, &mask, &work](auto &state) { measure_cuda(state, device, mask, work); });
    for (const int threads : thread_counts())
      comparison.compare(ours, {work.peer, with_threads(mask, threads)});
  }
}
#endif

// The mask of background subtraction after some frames of the street, repeated until it fills the size.
Picture street_mask(std::string *why_not) {
  const Workers workers(1);
  std::unique_ptr<BackgroundSubtractor> subtractor;
  Picture small, filled(kSize);
  for (int i = 0; i < 12; ++i) {
    const test::Photo &photo = test::gray_photo("vtest.avi", 4 * i);
    if (!photo.ok()) return *why_not = photo.why_not, Picture();
    Status status;
    if (i == 0)
      status = make_bgsub({Backend::cpu, &workers, nullptr}, photo.pixels.size(), 1, 5, &subtractor);
    small = Picture(photo.pixels.size());
    if (status.ok())
      status = subtractor->run(bgsub_picture(view_of(photo.pixels)), {}, {.detect_shadows = false},
                               {small.row(0), small.width(), small.width(), small.height()});
    if (!status.ok()) return *why_not = status.text(), Picture();
  }
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x) filled.at(x, y) = small.at(x % small.width(), y % small.height());
  return filled;
}

Picture thresholded(Picture picture) {
  for (std::uint8_t &pixel : picture.pixels()) pixel = pixel > 127 ? 255 : 0;
  return picture;
}

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<Mask> masks{{thresholded(test::noise(kSize, 1)), "1920x1080/noise"},
                          {thresholded(test::spiral(kSize, test::Seed::none)), "1920x1080/spiral"}};
  std::string why_not;
  if (Picture street = street_mask(&why_not); street.size() == kSize)
    masks.push_back({std::move(street), "1920x1080/street"});
  else
    comparison.leave_out("the street", why_not);
  for (const Mask &mask : masks) add_cpu(comparison, mask);
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Mask &mask : masks) add_cuda(comparison, device, mask);
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
