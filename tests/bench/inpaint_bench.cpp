// SPDX-License-Identifier: LGPL-2.1-or-later
// Inpainting on both backends, compared with OpenCV's Telea, Navier-Stokes and shift map, on holes cut from
// photographs. Each row states the quality of the result (PSNR and SSIM over the hole), because speed alone
// is not comparable. Other rows remove two regions from the frames of a video; nobody knows what they hide.
#include "cuda/inpaint/inpaint.h"

#include <cmath>
#include <functional>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <opencv2/photo.hpp>
#include <opencv2/xphoto/inpainting.hpp>
#include <string>
#include <vector>

#include "cuda/common/stop.h"
#include "tests/bench/harness/backends.h"
#include "tests/support/decode.h"

namespace cudavision::bench {
namespace {

// An RGB picture and the mask of the removed part.
struct Scene {
  std::string what;
  cv::Mat3b picture;
  cv::Mat1b mask;

  Size size() const { return {picture.cols, picture.rows}; }
  // The input of every implementation, without the removed part.
  cv::Mat3b with_hole() const {
    cv::Mat3b broken = picture.clone();
    broken.setTo(cv::Scalar(0, 0, 0), mask);
    return broken;
  }
};

// The pixels of a photograph in colour, which are not copied.
cv::Mat3b mat_of(const test::Photo &photo) {
  return {photo.pixels.height(), photo.pixels.width() / 3,
          reinterpret_cast<cv::Vec3b *>(const_cast<std::uint8_t *>(photo.pixels.row(0)))};
}

struct Variant {
  std::string name;
  InpaintParams params;
};

std::vector<Variant> variants() {
  Variant whole{"whole", {}}, radius{"radius64", {}}, live{"patches50", {}}, lab{"lab", {}};
  radius.params.search_radius = 64;
  live.params.search_radius = 64, live.params.max_patches = 50;
  lab.params.lab = true;
  return {whole, radius, live, lab};
}

// --- quality: the filled hole against the original picture ---

double psnr_over(const cv::Mat1b &mask, const cv::Mat3b &a, const cv::Mat3b &b) {
  double sum = 0, count = 0;
  for (int y = 0; y < mask.rows; ++y)
    for (int x = 0; x < mask.cols; ++x)
      if (mask(y, x) != 0)
        for (int c = 0; c < 3; ++c) sum += std::pow(double{a(y, x)[c] * 1.0} - b(y, x)[c], 2), ++count;
  return 10 * std::log10(255 * 255 / std::max(sum / count, 1e-9));
}

// SSIM of the luma, in Gaussian windows of 11 pixels and sigma 1.5 around each pixel of the hole. Z. Wang et
// al., "Image Quality Assessment: From Error Visibility to Structural Similarity", IEEE Transactions on Image
// Processing, 2004.
double ssim_over(const cv::Mat1b &mask, const cv::Mat3b &picture_a, const cv::Mat3b &picture_b) {
  const auto luma = [](const cv::Mat3b &picture) {
    cv::Mat gray, real;
    cv::cvtColor(picture, gray, cv::COLOR_RGB2GRAY);
    gray.convertTo(real, CV_64F);
    return real;
  };
  const auto blurred = [](const cv::Mat &m) {
    cv::Mat mean;
    cv::GaussianBlur(m, mean, {11, 11}, 1.5);
    return mean;
  };
  const cv::Mat a = luma(picture_a), b = luma(picture_b);
  const cv::Mat mean_a = blurred(a), mean_b = blurred(b);
  const cv::Mat aa = blurred(a.mul(a)) - mean_a.mul(mean_a), bb = blurred(b.mul(b)) - mean_b.mul(mean_b),
                ab = blurred(a.mul(b)) - mean_a.mul(mean_b);
  constexpr double kC1 = 6.5025, kC2 = 58.5225;
  const cv::Mat above = (2 * mean_a.mul(mean_b) + kC1).mul(2 * ab + kC2);
  const cv::Mat below = (mean_a.mul(mean_a) + mean_b.mul(mean_b) + kC1).mul(aa + bb + kC2);
  cv::Mat ssim;
  cv::divide(above, below, ssim);
  return cv::mean(ssim, mask)[0];
}

void report_quality(benchmark::State &state, const Scene &scene, const cv::Mat3b &filled) {
  state.counters["PSNR dB"] = psnr_over(scene.mask, scene.picture, filled);
  state.counters["SSIM"] = ssim_over(scene.mask, scene.picture, filled);
}

// --- this project ---

// data: a picture of this size in the backend's memory.
InpaintFrame frame_of(Size size, std::uint8_t *data, std::ptrdiff_t pitch_bytes,
                      ImageView<const std::uint8_t> mask) {
  InpaintFrame frame{{ColorModel::rgb, size.width, size.height, {}}, {}, mask, {}};
  for (int c = 0; c < 3; ++c) frame.frame.component[c] = {data + c, pitch_bytes, 3, 0, 0};
  return frame;
}

void measure_cpu(benchmark::State &state, const Scene &scene, const InpaintParams &params, int threads) {
  const Workers workers(threads);
  std::unique_ptr<Inpaint> inpaint;
  Status status = make_inpaint({Backend::cpu, &workers, nullptr}, scene.size(), &inpaint);
  cv::Mat3b picture = scene.with_hole();
  const InpaintFrame frame = frame_of(
      scene.size(), picture.data, static_cast<std::ptrdiff_t>(picture.step),
      {scene.mask.data, static_cast<std::ptrdiff_t>(scene.mask.step), scene.mask.cols, scene.mask.rows});
  InpaintReport report;
  // The contents of the hole are not read, so each iteration can fill the same picture again.
  for (auto _ : state)
    if (status.ok()) status = inpaint->run(frame, params, &report, {}, {});
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  report_quality(state, scene, picture);
  state.counters["patches"] = report.patches;
  count_frames(state, 0);
}

#if CUDAVISION_HAVE_CUDA
Status upload(const Execution &execution, const cv::Mat &from, const DeviceImage<std::uint8_t> &to) {
  return CUDAVISION_CHECK_CUDA(
      cudaMemcpy2DAsync(to.view().data, static_cast<std::size_t>(to.view().pitch_bytes), from.data, from.step,
                        from.elemSize() * static_cast<std::size_t>(from.cols),
                        static_cast<std::size_t>(from.rows), cudaMemcpyHostToDevice, execution.stream));
}

void measure_cuda(benchmark::State &state, const Device &device, const Scene &scene,
                  const InpaintParams &params) {
  const Size size = scene.size();
  DeviceImage<std::uint8_t> picture, mask;
  const StopFlag stop;  // the kernel reads it before each patch, as in an element
  Execution execution = device.execution();
  execution.stop = &stop;
  std::unique_ptr<Inpaint> inpaint;
  InpaintFrame frame;
  InpaintReport report;
  cv::Mat3b filled = scene.with_hole();
  const cudaStream_t stream = execution.stream;
  const auto prepare = [&]() -> Status {
    CUDAVISION_TRY(picture.allocate({3 * size.width, size.height}));
    CUDAVISION_TRY(mask.allocate(size));
    CUDAVISION_TRY(upload(execution, filled, picture));
    CUDAVISION_TRY(upload(execution, scene.mask, mask));
    frame = frame_of(size, picture.view().data, picture.view().pitch_bytes, mask.view());
    CUDAVISION_TRY(make_inpaint(execution, size, &inpaint));
    CUDAVISION_TRY(inpaint->run(frame, params, &report, {}, {}));
    CUDAVISION_TRY(CUDAVISION_CHECK_CUDA(cudaMemcpy2DAsync(
        filled.data, filled.step, picture.view().data, static_cast<std::size_t>(picture.view().pitch_bytes),
        static_cast<std::size_t>(3 * size.width), static_cast<std::size_t>(size.height),
        cudaMemcpyDeviceToHost, stream)));
    return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream));
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  report_quality(state, scene, filled);
  state.counters["patches"] = report.patches;
  device.measure(state, 6.0 * size.width * size.height,
                 [&](int) { return inpaint->run(frame, params, &report, {}, {}); });
}
#endif

// --- video of a still camera ---

// Frames of a video, each with two holes as large as people, which move by some pixels from frame to frame.
struct Film {
  std::vector<cv::Mat3b> frames;
  std::vector<cv::Mat1b> masks;
  std::string what;

  Size size() const { return {frames[0].cols, frames[0].rows}; }
};

std::unique_ptr<Film> make_film(const char *file, std::string *why_not) {
  constexpr int kFrames = 16, kEvery = 3, kStep = 6;
  auto film = std::make_unique<Film>();
  for (int i = 0; i < kFrames; ++i) {
    const test::Photo &photo = test::rgb_photo(file, i * kEvery);
    if (!photo.ok()) {
      *why_not = photo.why_not;
      return nullptr;
    }
    film->frames.push_back(mat_of(photo));
    cv::Mat1b mask(film->size().height, film->size().width, uchar{0});
    mask(cv::Rect(200 + i * kStep, 200, 64, 160)).setTo(255),
        mask(cv::Rect(600 - i * kStep, 300, 56, 140)).setTo(255);
    film->masks.push_back(mask);
  }
  film->what = std::to_string(film->size().width) + "x" + std::to_string(film->size().height);
  return film;
}

// Ways to remove people from the video: fill each frame alone, or restore what earlier frames have shown behind them.
std::vector<Variant> film_variants() {
  Variant frame{"video/frame", {}}, temporal{"video/temporal", {}};
  frame.params.search_radius = temporal.params.search_radius = 64;
  temporal.params.temporal = true;
  return {frame, temporal};
}

void measure_film_cpu(benchmark::State &state, const Film &film, const InpaintParams &params, int threads) {
  const Workers workers(threads);
  std::unique_ptr<Inpaint> inpaint;
  Status status = make_inpaint({Backend::cpu, &workers, nullptr}, film.size(), &inpaint);
  std::vector<cv::Mat3b> frames;
  for (const cv::Mat3b &frame : film.frames) frames.push_back(frame.clone());
  InpaintReport report;
  std::size_t i = 0;
  for (auto _ : state) {
    const cv::Mat1b &mask = film.masks[i];
    if (i == 0 && status.ok()) inpaint->drop_history();  // each time as a new film
    const InpaintFrame frame =
        frame_of(film.size(), frames[i].data, static_cast<std::ptrdiff_t>(frames[i].step),
                 {mask.data, static_cast<std::ptrdiff_t>(mask.step), mask.cols, mask.rows});
    if (status.ok()) status = inpaint->run(frame, params, &report, {}, {});
    i = (i + 1) % frames.size();
  }
  if (!status.ok()) return state.SkipWithError(status.text().c_str());
  count_frames(state, 0);
}

#if CUDAVISION_HAVE_CUDA
void measure_film_cuda(benchmark::State &state, const Device &device, const Film &film,
                       const InpaintParams &params) {
  const StopFlag stop;
  Execution execution = device.execution();
  execution.stop = &stop;
  const Size size = film.size();
  std::vector<DeviceImage<std::uint8_t>> pictures(film.frames.size()), masks(film.frames.size());
  std::unique_ptr<Inpaint> inpaint;
  const auto prepare = [&]() -> Status {
    for (std::size_t i = 0; i < film.frames.size(); ++i) {
      CUDAVISION_TRY(pictures[i].allocate({3 * size.width, size.height}));
      CUDAVISION_TRY(masks[i].allocate(size));
      CUDAVISION_TRY(upload(execution, film.frames[i], pictures[i]));
      CUDAVISION_TRY(upload(execution, film.masks[i], masks[i]));
    }
    return make_inpaint(execution, size, &inpaint);
  };
  if (const Status status = prepare(); !status.ok()) return state.SkipWithError(status.text().c_str());
  InpaintReport report;
  device.measure(state, 6.0 * size.width * size.height, [&](int frame) {
    const std::size_t i = static_cast<std::size_t>(frame) % pictures.size();
    if (i == 0) inpaint->drop_history();
    return inpaint->run(
        frame_of(size, pictures[i].view().data, pictures[i].view().pitch_bytes, masks[i].view()), params,
        &report, {}, {});
  });
}
#endif

// --- OpenCV ---

using Peer = std::function<void(const cv::Mat3b &broken, const cv::Mat1b &mask, cv::Mat &filled)>;

void fill_by_shift_map(const cv::Mat3b &broken, const cv::Mat1b &mask, cv::Mat &filled) {
  cv::Mat lab, result, known;
  cv::cvtColor(broken, lab, cv::COLOR_RGB2Lab);
  cv::bitwise_not(mask, known);
  cv::xphoto::inpaint(lab, known, result, cv::xphoto::INPAINT_SHIFTMAP);
  cv::cvtColor(result, filled, cv::COLOR_Lab2RGB);
}

// cv::xphoto's shift map takes seconds for a small frame and up to 20 s for a large one, so it is run for small frames
// only, with one thread.
constexpr const char *kShiftMap = "cv::xphoto::inpaint/shiftmap";

std::vector<std::pair<std::string, Peer>> peers() {
  const auto inpaint = [](int method) {
    return [method](const cv::Mat3b &broken, const cv::Mat1b &mask, cv::Mat &filled) {
      cv::inpaint(broken, mask, filled, 3, method);
    };
  };
  return {{"cv::inpaint/telea", inpaint(cv::INPAINT_TELEA)},
          {"cv::inpaint/ns", inpaint(cv::INPAINT_NS)},
          {kShiftMap, fill_by_shift_map}};
}

void measure_peer(benchmark::State &state, const Scene &scene, const Peer &peer, int threads) {
  cv::setNumThreads(threads);
  const cv::Mat3b broken = scene.with_hole();
  cv::Mat filled;
  for (auto _ : state) peer(broken, scene.mask, filled);
  report_quality(state, scene, filled);
  count_frames(state, 0);
}

// A photograph scaled to this size. A square of `hole` pixels is removed around (x, y), given as fractions of the size.
std::unique_ptr<Scene> make_scene(const char *file, Size size, int hole, double x, double y,
                                  std::string *why_not) {
  const test::Photo &photo = test::rgb_photo(file);
  if (!photo.ok()) {
    *why_not = photo.why_not;
    return nullptr;
  }
  const cv::Mat3b whole = mat_of(photo);
  auto scene = std::make_unique<Scene>();
  const double scale = std::max({1.0 * size.width / whole.cols, 1.0 * size.height / whole.rows});
  cv::Mat scaled;
  cv::resize(whole, scaled, {}, scale, scale, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  scene->picture = cv::Mat3b(scaled(cv::Rect(0, 0, size.width, size.height))).clone();
  scene->mask = cv::Mat1b::zeros(size.height, size.width);
  const int left = static_cast<int>(x * size.width) - hole / 2,
            top = static_cast<int>(y * size.height) - hole / 2;
  scene->mask(cv::Rect(left, top, hole, hole)).setTo(255);
  const std::string name = file;
  scene->what = std::to_string(size.width) + "x" + std::to_string(size.height) + "/" +
                name.substr(0, name.find('.')) + "/hole:" + std::to_string(hole);
  return scene;
}

std::string with_threads(const std::string &what, int threads) {
  return what + "/threads:" + std::to_string(threads);
}

int run(int argc, char **argv) {
  Comparison comparison;
  benchmark::AddCustomContext("the source, 400x400, hole 90x90",
                              "0.01 frames/s in C, 0.79 in OpenCL on a GeForce 940M");
  std::vector<std::unique_ptr<Scene>> scenes;
  std::string why_not;
  const struct {
    const char *file;
    Size size;
    int hole;
    double x, y;
  } cases[] = {{"fruits.jpg", {400, 400}, 90, 0.5, 0.5},   {"home.jpg", {400, 400}, 90, 0.3, 0.2},
               {"building.jpg", {400, 400}, 90, 0.6, 0.5}, {"aloeL.jpg", {400, 400}, 90, 0.2, 0.3},
               {"aloeL.jpg", {1280, 720}, 96, 0.2, 0.3},   {"home.jpg", {1280, 720}, 96, 0.6, 0.7},
               {"aloeL.jpg", {1920, 1080}, 144, 0.2, 0.3}};
  for (const auto &c : cases)
    if (auto scene = make_scene(c.file, c.size, c.hole, c.x, c.y, &why_not))
      scenes.push_back(std::move(scene));
  if (!why_not.empty()) comparison.leave_out("real pictures", why_not);
  for (const auto &scene : scenes)
    for (const int threads : thread_counts()) {
      const std::string what = with_threads(scene->what, threads);
      for (const Variant &v : variants())
        comparison.add({"inpaint/cpu/" + v.name, what}, Clock::real,
                       [=, &scene](auto &state) { measure_cpu(state, *scene, v.params, threads); });
      for (const auto &[name, peer] : peers()) {
        if (name == kShiftMap && (threads > 1 || scene->size().height > 400)) continue;
        comparison.add({name, what}, Clock::real,
                       [=, &scene, peer = peer](auto &state) { measure_peer(state, *scene, peer, threads); });
        comparison.compare({"inpaint/cpu/whole", what}, {name, what});
      }
    }
  const std::unique_ptr<Film> film = make_film("vtest.avi", &why_not);
  if (film == nullptr)
    comparison.leave_out("real video", why_not);
  else
    for (const int threads : thread_counts())
      for (const Variant &v : film_variants())
        comparison.add({"inpaint/cpu/" + v.name, with_threads(film->what, threads)}, Clock::real,
                       [=, &film](auto &state) { measure_film_cpu(state, *film, v.params, threads); });
  return run_on_backends(comparison, argc, argv, [&](const auto &device) {
    if (film != nullptr)
      for (const Variant &v : film_variants())
        comparison.add(
            {"inpaint/cuda/" + v.name, film->what}, Clock::manual,
            [=, &device, &film](auto &state) { measure_film_cuda(state, device, *film, v.params); });
    for (const auto &scene : scenes)
      for (const Variant &v : variants()) {
        comparison.add({"inpaint/cuda/" + v.name, scene->what}, Clock::manual,
                       [=, &device, &scene](auto &state) { measure_cuda(state, device, *scene, v.params); });
        for (const int threads : thread_counts())
          comparison.compare({"inpaint/cuda/" + v.name, scene->what},
                             {"inpaint/cpu/" + v.name, with_threads(scene->what, threads)});
      }
  });
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) {
  // 0.1 s per row instead of Google Benchmark's 0.5 s, because there are a hundred rows. The user's own option comes
  // later in argv and wins.
  char least[] = "--benchmark_min_time=0.1";
  std::vector<char *> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, least);
  arguments.push_back(nullptr);
  return cudavision::bench::run(argc + 1, arguments.data());
}
