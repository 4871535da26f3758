// SPDX-License-Identifier: LGPL-2.1-or-later
// What the boxes of a frame cost: `identity` passes them on, cudavisiontrack gives them ids, cudavisionoverlay draws
// them with labels and trails, and cudavisionredact hides what is in them. The last two run on the CPU and, where there
// is a GPU, on frames that `cudaupload` has copied into its memory. The boxes wander and are missed now and then, as
// those of a detector.
#include <benchmark/benchmark.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kWidth = 1920, kHeight = 1080, kFrames = 64;

// Frames that share one picture, each with its own boxes.
std::vector<GstBuffer *> frames_with(int boxes) {
  std::minstd_rand random(1);
  const auto below = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  GstMemory *picture = gst_allocator_alloc(nullptr, kWidth * kHeight * 3 / 2, nullptr);
  std::vector<std::pair<int, int>> places;
  for (int i = 0; i < boxes; ++i) places.emplace_back(20 + below(kWidth - 120), 20 + below(kHeight - 160));
  std::vector<GstBuffer *> frames;
  for (int frame = 0; frame < kFrames; ++frame) {
    GstBuffer *buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_memory_ref(picture));
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frame) * 40 * GST_MSECOND;
    for (auto &[x, y] : places) {
      x += below(5) - 2, y += below(5) - 2;
      if (below(20) == 0) continue;
      GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
          buffer, "person", static_cast<guint>(std::max(0, x)), static_cast<guint>(std::max(0, y)), 60, 120);
      gst_video_region_of_interest_meta_add_param(
          region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 1.25, nullptr));
    }
    frames.push_back(buffer);
  }
  gst_memory_unref(picture);
  return frames;
}

void measure(benchmark::State &state, const std::string &elements) {
  const std::vector<GstBuffer *> frames = frames_with(static_cast<int>(state.range(0)));
  GstHarness *harness = gst_harness_new_parse(elements.c_str());
  gst_harness_set_src_caps_str(harness, "video/x-raw,format=NV12,width=1920,height=1080,framerate=25/1");
  std::size_t next = 0;
  for (auto _ : state) {
    GstBuffer *buffer = gst_buffer_copy(frames[next]);
    next = (next + 1) % frames.size();
    if (gst_harness_push(harness, buffer) != GST_FLOW_OK) {
      state.SkipWithError("the element refused a frame: GST_PLUGIN_PATH must name the plugin's folder");
      break;
    }
    gst_buffer_unref(gst_harness_pull(harness));
  }
  gst_harness_teardown(harness);
  for (GstBuffer *frame : frames) gst_buffer_unref(frame);
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  const std::string upload = "cudaupload ! video/x-raw(memory:CUDAMemory)";
  std::vector<std::string> lines{"identity", "cudavisiontrack", "cudavisiontrack method=sort", upload};
  for (const std::string element : {"cudavisionoverlay", "cudavisiontrack ! cudavisionoverlay",
                                    "cudavisiontrack ! cudavisionoverlay trail=2", "cudavisionredact",
                                    "cudavisionredact mode=pixelate", "cudavisionredact mode=blur"}) {
    lines.push_back(element + " backend=cpu n-threads=1");
    lines.push_back(upload + " ! " + element + " backend=cuda");
  }
  for (const std::string &line : lines) {
    const char *elements = line.c_str();
    GError *error = nullptr;
    GstElement *known = gst_parse_launch(elements, &error);
    if (known != nullptr) gst_object_unref(known);
    if (error != nullptr) {
      std::printf("Not measured: %s: %s: GST_PLUGIN_PATH must name the plugin's folder\n", elements,
                  error->message);
      g_error_free(error);
      continue;
    }
    benchmark::RegisterBenchmark(elements, measure, line)
        ->ArgName("boxes")
        ->Arg(10)
        ->Arg(100)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
