// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames per second of appsrc ! cudacanny ! fakesink, compared with edgedetect of GStreamer's opencv plugin.
//
// Both write into or read from buffers of the pool that they propose upstream. A batch of buffers is refilled
// with the picture before the clock starts, because cudacanny works in place: only the elements' own copies
// are timed. On the GPU the frames lie in pinned memory, which cudacanny proposes, in pageable memory, as
// from a source with its own memory, and in CUDA memory. The plugin is found by GST_PLUGIN_PATH.
#include <opencv2/core.hpp>

#include "tests/bench/harness/comparison.h"
#include "tests/bench/harness/pipeline.h"
#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {
namespace {

constexpr Size kSize{1920, 1080};
constexpr const char *kThresholds = "low-threshold=50 high-threshold=100";
// edgedetect with cudacanny's thresholds and aperture (3). It also blurs, but does not use the result.
constexpr const char *kEdgedetect = "edgedetect threshold1=50 threshold2=100";

struct Mode {
  std::string name, ours, peer;  // properties
};
const Mode kModes[] = {
    {"edges", "output=edges", "mask=false"},
    // edgedetect's output: the picture where edges are, black elsewhere
    {"overlay", "output=overlay", "mask=true"},
    {"display=false", "display=false", "mask=false"},
};

struct Place {
  std::string name;
  Memory memory;
};
const Place kPlaces[] = {
    {"pinned", Memory::pinned},
    {"pageable", Memory::ordinary},
    {"CUDA memory", Memory::cuda},
};

void measure(benchmark::State &state, const std::string &elements, const std::string &format,
             const std::vector<std::uint8_t> &bytes, int threads, Memory memory) {
  cv::setNumThreads(threads);  // for edgedetect, which uses this process's OpenCV
  Pipeline pipeline(elements, format, kSize, bytes, memory);
  double seconds = 0;
  // the first batch includes allocations for the frame size
  std::string error = pipeline.run_batch(&seconds);
  while (error.empty() && state.KeepRunningBatch(Pipeline::kBatch)) {
    error = pipeline.run_batch(&seconds);
    state.SetIterationTime(seconds);
  }
  if (!error.empty()) return state.SkipWithError(error.c_str());
  count_frames(state, 0);
}

class Rows {
 public:
  explicit Rows(Comparison *comparison) : comparison_(comparison) {}

  void add_all() {
    const bool ours = have_element("cudacanny"), peer = have_element("edgedetect"),
               convert = have_element("videoconvert");
    if (!ours)
      comparison_->leave_out("cudacanny", "no such element: GST_PLUGIN_PATH must name the plugin's folder");
    if (!peer) comparison_->leave_out("edgedetect", "no such element (Debian: gstreamer1.0-opencv)");
    cuda_ = ours && runs("cudacanny backend=cuda");
    if (ours && !cuda_) comparison_->leave_out("cudacanny backend=cuda", why_not_);
    for (const std::string format : {"RGB", "NV12", "GRAY8"}) {
      const std::vector<std::uint8_t> bytes = real_frame(format, kSize, &why_not_);
      if (bytes.empty()) return comparison_->leave_out("pipelines", why_not_);
      for (const Mode &mode : kModes) {
        // edgedetect accepts only RGB: other formats must be converted for it.
        if (peer && (format == "RGB" || convert)) add_peer(format, bytes, mode);
        if (ours) add_ours(format, bytes, mode);
      }
    }
  }

 private:
  static std::string what(const std::string &format, const Mode &mode, int threads) {
    return format + "/" + mode.name + "/threads:" + std::to_string(threads);
  }
  static std::string peer_name(const std::string &format) {
    return format == "RGB" ? "edgedetect" : "videoconvert ! edgedetect";
  }

  bool runs(const std::string &elements) {
    Pipeline pipeline(elements, "GRAY8", {64, 64}, std::vector<std::uint8_t>(64 * 64));
    double seconds = 0;
    why_not_ = pipeline.run_batch(&seconds);
    return why_not_.empty();
  }

  void add(const Name &name, const std::string &elements, const std::string &format,
           const std::vector<std::uint8_t> &bytes, int threads, Memory memory = Memory::any) {
    comparison_->add(name, Clock::manual, [=](benchmark::State &state) {
      measure(state, elements, format, bytes, threads, memory);
    });
  }

  void add_peer(const std::string &format, const std::vector<std::uint8_t> &bytes, const Mode &mode) {
    if (mode.name == "display=false") return;  // edgedetect always draws
    for (const int threads : thread_counts())
      add({peer_name(format), what(format, mode, threads)},
          (format == "RGB" ? "" : "videoconvert ! ") + std::string(kEdgedetect) + " " + mode.peer, format,
          bytes, threads);
  }

  void add_ours(const std::string &format, const std::vector<std::uint8_t> &bytes, const Mode &mode) {
    const Mode &peer_mode = mode.name == "display=false" ? kModes[0] : mode;
    const std::string element = "cudacanny " + std::string(kThresholds) + " " + mode.ours;
    for (const int threads : thread_counts()) {
      const Name ours{"cudacanny/cpu", what(format, mode, threads)};
      add(ours, element + " backend=cpu n-threads=" + std::to_string(threads), format, bytes, threads);
      comparison_->compare(ours, {peer_name(format), what(format, peer_mode, threads)});
    }
    if (!cuda_) return;
    for (const Place &place : kPlaces) {
      if (format == "GRAY8" && place.memory == Memory::cuda) continue;  // not supported in CUDA memory
      const Name ours{"cudacanny/cuda", format + "/" + mode.name + "/" + place.name};
      add(ours, element + " backend=cuda", format, bytes, 1, place.memory);
      for (const int threads : thread_counts())
        comparison_->compare(ours, {peer_name(format), what(format, peer_mode, threads)});
    }
  }

  Comparison *comparison_;
  bool cuda_ = false;
  std::string why_not_;
};

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  cudavision::bench::Comparison comparison;
  cudavision::bench::Rows(&comparison).add_all();
  return comparison.run(argc, argv);
}
