// SPDX-License-Identifier: LGPL-2.1-or-later
// Straightening a frame of a lens on both backends, and making its map, compared with cv::remap with fixed-point maps
// and with cv::initUndistortRectifyMap.
#include "cuda/remap/remap.h"

#include <algorithm>
#include <cstdlib>
#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/backends.h"
#include "tests/bench/harness/real_picture.h"
#include "tests/support/opencv_camera.h"
#include "tests/support/pictures.h"

namespace cudavision::bench {
namespace {

// A frame of NV12, whose chroma follows its luma, or of RGBA: rows of bytes. The output has the size of the source.
struct Case {
  Size size;
  bool is_nv12;
  Interpolation interpolation;
  const Picture *frame;

  std::string what() const {
    return std::to_string(size.width) + "x" + std::to_string(size.height) + (is_nv12 ? "/NV12" : "/RGBA") +
           (interpolation == Interpolation::linear ? "/linear" : "/nearest");
  }
  std::vector<RemapGrid> grids() const {
    RemapGrid first{is_nv12 ? 1 : 4, 1, 1, 0, 0, size, size, {}};
    if (!is_nv12) return {first};
    const Size half{size.width / 2, size.height / 2};
    return {first, {2, 2, 2, 0, 0.5, half, half, {128, 128}}};
  }
  std::vector<SampleGrid> samples(ImageView<std::uint8_t> bytes) const {
    if (!is_nv12) return {{bytes.data, bytes.pitch_bytes, 4}};
    return {{bytes.data, bytes.pitch_bytes, 1}, {bytes.row(size.height), bytes.pitch_bytes, 2}};
  }
  // The frame, the map of six bytes per sample, and the output.
  double bytes() const {
    const double pixels = static_cast<double>(size.width) * size.height;
    return is_nv12 ? pixels * (2 * 1.5 + 6 * 1.25) : pixels * (2 * 4 + 6);
  }
};

ImageView<std::uint8_t> writable(const Picture &picture) {
  const ImageView<const std::uint8_t> view = view_of(picture);
  return {const_cast<std::uint8_t *>(view.data), view.pitch_bytes, view.width, view.height};
}

// A wide lens whose picture is straightened.
struct Lens {
  cv::Matx33d matrix;
  std::vector<double> coefficients{-0.28, 0.09, 0.0007, -0.0004, -0.013};

  explicit Lens(Size size)
      : matrix(0.55 * size.width, 0, size.width / 2.0 + 3.3, 0, 0.55 * size.width, size.height / 2.0 - 2.1, 0,
               0, 1) {}
  CameraView view() const {
    CameraView view;
    const cv::Matx33d inverse = matrix.inv(cv::DECOMP_LU);
    std::copy_n(inverse.val, 9, view.matrix);
    view.camera.fx = matrix(0, 0), view.camera.fy = matrix(1, 1);
    view.camera.cx = matrix(0, 2), view.camera.cy = matrix(1, 2);
    std::copy_n(coefficients.data(), coefficients.size(), view.camera.k);
    return view;
  }
  // The camera of the samples of a grid.
  cv::Matx33d matrix_of(const RemapGrid &grid) const {
    const cv::Matx33d to_samples(1.0 / grid.scale_x, 0, -grid.offset_x / grid.scale_x, 0, 1.0 / grid.scale_y,
                                 -grid.offset_y / grid.scale_y, 0, 0, 1);
    return to_samples * matrix;
  }
};

// What OpenCV needs for a frame.
struct Peer {
  const Case &c;
  std::vector<RemapGrid> grids = c.grids();
  std::vector<cv::Mat> places, fractions;
  Picture output = *c.frame;

  explicit Peer(const Case &made_for) : c(made_for), places(grids.size()), fractions(grids.size()) {
    make_maps();
    if (c.interpolation == Interpolation::linear) return;
    for (std::size_t i = 0; i < grids.size(); ++i) {
      cv::Mat nearest, none;
      cv::convertMaps(places[i], fractions[i], nearest, none, CV_32FC2);
      cv::convertMaps(nearest, {}, places[i], fractions[i], CV_16SC2, true);
    }
  }
  void make_maps() {
    const Lens lens(c.size);
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const cv::Matx33d matrix = lens.matrix_of(grids[i]);
      cv::initUndistortRectifyMap(matrix, lens.coefficients, {}, matrix,
                                  {grids[i].output.width, grids[i].output.height}, CV_16SC2, places[i],
                                  fractions[i]);
    }
  }
  void run() {
    const std::vector<SampleGrid> from = c.samples(writable(*c.frame)), to = c.samples(writable(output));
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const RemapGrid &grid = grids[i];
      const auto mat_of = [&](const SampleGrid &samples) {
        return cv::Mat(grid.source.height, grid.source.width, CV_8UC(grid.channels), samples.data,
                       static_cast<std::size_t>(samples.pitch_bytes));
      };
      cv::Mat out = mat_of(to[i]);
      cv::remap(mat_of(from[i]), out, places[i], fractions[i],
                c.interpolation == Interpolation::linear ? cv::INTER_LINEAR : cv::INTER_NEAREST,
                cv::BORDER_CONSTANT,
                cv::Scalar(grid.border[0], grid.border[1], grid.border[2], grid.border[3]));
    }
  }
};

std::string with_threads(const Case &c, int threads) {
  return c.what() + "/threads:" + std::to_string(threads);
}

// Fails the benchmark if more than a few bytes differ from OpenCV's, whose maps differ by a 32nd at a few places.
void check(benchmark::State &state, const Case &c, const std::uint8_t *output) {
  Peer peer(c);
  peer.run();
  const std::vector<std::uint8_t> &expected = peer.output.pixels();
  std::size_t differ = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) differ += output[i] != expected[i];
  if (differ > expected.size() / 100'000) state.SkipWithError("the picture is not that of OpenCV");
}

void measure_opencv(benchmark::State &state, const Case &c, int threads, bool makes_maps) {
  cv::setNumThreads(threads);
  Peer peer(c);
  peer.run();
  for (auto _ : state) {
    makes_maps ? peer.make_maps() : peer.run();
    benchmark::ClobberMemory();
  }
  count_frames(state, c.bytes());
}

void measure_cpu(benchmark::State &state, const Case &c, int threads, bool makes_maps) {
  const Workers workers(threads);
  std::unique_ptr<Remap> remap;
  Picture output(c.frame->size());
  const std::vector<RemapGrid> grids = c.grids();
  const std::vector<SampleGrid> from = c.samples(writable(*c.frame)), to = c.samples(writable(output));
  const auto run = [&] { return remap->run(from.data(), to.data(), {c.interpolation, Border::constant}); };
  const auto make_maps = [&] { return remap->set_view(Lens(c.size).view()); };
  Status status =
      make_remap({Backend::cpu, &workers, nullptr}, grids.data(), static_cast<int>(grids.size()), &remap);
  if (status.ok()) status = make_maps();
  if (status.ok()) status = run();
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, c, output.row(0));
  for (auto _ : state) {
    status = makes_maps ? make_maps() : run();
    benchmark::ClobberMemory();
  }
  if (!status.ok()) state.SkipWithError(status.text().c_str());
  count_frames(state, c.bytes());
}

// Adds the rows of a frame or of its maps: "remap/cpu" against "cv::remap" and so on.
void add_cpu(Comparison &comparison, const Case &c, bool makes_maps) {
  for (const int threads : thread_counts()) {
    const Name peer{makes_maps ? "cv::initUndistortRectifyMap" : "cv::remap", with_threads(c, threads)},
        ours{makes_maps ? "new map/cpu" : "remap/cpu", with_threads(c, threads)};
    comparison.add(peer, Clock::real,
                   [=](benchmark::State &state) { measure_opencv(state, c, threads, makes_maps); });
    comparison.add(ours, Clock::real,
                   [=](benchmark::State &state) { measure_cpu(state, c, threads, makes_maps); });
    comparison.compare(ours, peer);
  }
}

#if CUDAVISION_HAVE_CUDA
void measure_cuda(benchmark::State &state, const Device &device, const Case &c, bool makes_maps) {
  std::vector<DeviceImage<std::uint8_t>> in, out;
  std::unique_ptr<Remap> remap;
  const std::vector<RemapGrid> grids = c.grids();
  const int count = device.frames_beyond_cache(c.bytes());
  const auto run = [&](int i) {
    const auto frame = static_cast<std::size_t>(i % count);
    return remap->run(c.samples(in[frame].view()).data(), c.samples(out[frame].view()).data(),
                      {c.interpolation, Border::constant});
  };
  // The tables of all calls are the same, so that they may be written while they are copied.
  const auto make_maps = [&, view = Lens(c.size).view()] { return remap->set_view(view); };
  std::vector<std::uint8_t> bytes;
  Status status = device.upload(*c.frame, count, &in);
  if (status.ok()) status = device.upload(*c.frame, count, &out);
  if (status.ok())
    status = make_remap(device.execution(), grids.data(), static_cast<int>(grids.size()), &remap);
  if (status.ok()) status = make_maps();
  if (status.ok()) status = run(0);
  if (status.ok()) status = device.download(out[0].view(), &bytes);
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  check(state, c, bytes.data());
  device.measure(state, c.bytes(), [&](int i) { return makes_maps ? make_maps() : run(i); });
}

void add_cuda(Comparison &comparison, const Device &device, const Case &c, bool makes_maps) {
  const Name ours{makes_maps ? "new map/cuda" : "remap/cuda", c.what()};
  comparison.add(ours, Clock::manual,
                 [=, &device](benchmark::State &state) { measure_cuda(state, device, c, makes_maps); });
  for (const int threads : thread_counts())
    comparison.compare(ours,
                       {makes_maps ? "cv::initUndistortRectifyMap" : "cv::remap", with_threads(c, threads)});
}
#endif

int run(int argc, char **argv) {
  Comparison comparison;
  std::vector<std::unique_ptr<Picture>> frames;
  std::vector<Case> cases;
  std::string why_not;
  for (const Size size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}})
    for (const bool is_nv12 : {true, false}) {
      const Size rows = is_nv12 ? Size{size.width, size.height * 3 / 2} : Size{4 * size.width, size.height};
      frames.push_back(std::make_unique<Picture>(test::noise(rows, 1)));
      const std::vector<std::uint8_t> bytes = real_frame(is_nv12 ? "NV12" : "RGBA", size, &why_not);
      if (bytes.size() == frames.back()->pixels().size()) frames.back()->pixels() = bytes;
      for (const Interpolation interpolation : {Interpolation::linear, Interpolation::nearest})
        cases.push_back({size, is_nv12, interpolation, frames.back().get()});
    }
  if (!why_not.empty()) comparison.leave_out("the real picture, noise is taken instead,", why_not);
  const auto has_maps = [](const Case &c) { return c.is_nv12 && c.interpolation == Interpolation::linear; };
  for (const Case &c : cases) {
    add_cpu(comparison, c, false);
    if (has_maps(c)) add_cpu(comparison, c, true);
  }
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    for (const Case &c : cases) {
      add_cuda(comparison, device, c, false);
      if (has_maps(c)) add_cuda(comparison, device, c, true);
    }
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) { return cudavision::bench::run(argc, argv); }
