// SPDX-License-Identifier: LGPL-2.1-or-later
// What more threads bring: prints the time and the CPU time of a frame for each element on the CPU backend, with 1, 2,
// 4, 8 and 16 threads, as a Markdown table. The frames are those of a video, one after the other. The argument, if
// given, selects the rows whose name contains it.
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "tests/bench/harness/pipeline.h"
#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {
namespace {

struct Work {
  const char *name, *element;
};
const Work kWorks[] = {
    {"canny", "cudacanny display=false"},
    {"histogram", "cudahistogram display=false"},
    {"localhist", "cudalocalhist window-width=16 window-height=16 display=false"},
    {"hough lines", "cudahough nms-radius=0 threshold=150 display=false"},
    {"hough segments", "cudahough mode=segments display=false"},
    {"opticalflow", "cudaopticalflow display=false"},
    {"opticalflow fast", "cudaopticalflow preset=fast display=false"},
    {"sigma2kp", "cudasigma2kp display=false"},
    {"sigma2kp orientation", "cudasigma2kp orientation=true display=false"},
    {"hog", "cudahog display=false"},
    {"detector", "cudahog model=people display=false"},
    {"bgsub", "cudabgsub display=false"},
    {"inpaint", "cudainpaint region-x=200 region-y=200 region-width=48 region-height=48 search-radius=64"},
};
const Size kSizes[] = {{768, 576}, {1920, 1080}};
constexpr int kThreads[] = {1, 2, 4, 8, 16};
constexpr int kFrames = 8, kLeast = 4;
constexpr double kSeconds = 0.25;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::vector<GstBuffer *> video(Size size, std::string *why_not) {
  std::vector<GstBuffer *> frames;
  for (int i = 0; i < kFrames; ++i) {
    const std::vector<std::uint8_t> bytes = real_frame("NV12", size, why_not, i);
    if (!bytes.empty()) frames.push_back(gst_buffer_new_memdup(bytes.data(), bytes.size()));
  }
  return frames;
}

struct Times {
  double wall = 0, cpu = 0;  // milliseconds for a frame
};

class Element {
 public:
  Element(const Work &work, Size size, int threads)
      : harness_(gst_harness_new_parse(
            (std::string(work.element) + " backend=cpu n-threads=" + std::to_string(threads)).c_str())) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, static_cast<guint>(size.width),
                              static_cast<guint>(size.height));
    info.fps_n = 25;
    gst_harness_set_src_caps(harness_, gst_video_info_to_caps(&info));
  }
  ~Element() { gst_harness_teardown(harness_); }
  Element(const Element &) = delete;
  Element &operator=(const Element &) = delete;

  // Pushes a copy of the frame and takes the element's output. Returns false if the element refuses the frame.
  bool push(GstBuffer *frame) {
    GstBuffer *buffer = gst_buffer_copy(frame);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(count_++) * 40 * GST_MSECOND;
    if (gst_harness_push(harness_, buffer) != GST_FLOW_OK) return false;
    gst_buffer_unref(gst_harness_pull(harness_));
    return true;
  }

 private:
  GstHarness *harness_;
  int count_ = 0;
};

bool measure(const Work &work, Size size, int threads, const std::vector<GstBuffer *> &frames, Times *times) {
  using Clock = std::chrono::steady_clock;
  Element element(work, size, threads);
  for (int i = 0; i < 2; ++i)  // the first frames allocate
    if (!element.push(frames[0])) return false;
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  double wall = 0;
  int count = 0;
  for (; count < kLeast || wall < kSeconds; ++count) {
    if (!element.push(frames[static_cast<std::size_t>(count) % frames.size()])) return false;
    wall = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  *times = {1e3 * wall / count, 1e3 * (cpu_seconds() - cpu) / count};
  return true;
}

int run(const std::string &filter) {
  std::printf("| element, size |");
  for (const int threads : kThreads) std::printf(" %d |", threads);
  std::printf("\n|---|---|---|---|---|---|\n");
  for (const Size size : kSizes) {
    std::string why_not;
    const std::vector<GstBuffer *> frames = video(size, &why_not);
    if (frames.empty()) {
      std::fprintf(stderr, "no frames: %s\n", why_not.c_str());
      return 77;
    }
    for (const Work &work : kWorks) {
      if (std::string(work.name).find(filter) == std::string::npos) continue;
      std::printf("| %s, %d×%d |", work.name, size.width, size.height);
      for (const int threads : kThreads) {
        Times times;
        if (!measure(work, size, threads, frames, &times)) {
          std::fprintf(stderr, "%s refused a frame\n", work.element);
          return 1;
        }
        std::printf(" %.3g, %.3g |", times.wall, times.cpu);
        std::fflush(stdout);
      }
      std::printf("\n");
    }
    for (GstBuffer *frame : frames) gst_buffer_unref(frame);
  }
  return 0;
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (!cudavision::bench::have_element("cudacanny")) {
    std::fprintf(stderr, "no such element: GST_PLUGIN_PATH must name the plugin's folder\n");
    return 77;
  }
  return cudavision::bench::run(argc > 1 ? argv[1] : "");
}
