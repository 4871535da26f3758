// SPDX-License-Identifier: LGPL-2.1-or-later
// Many pipelines in one process: frames per second, CPU time per frame, and device memory per stream.
//
// A row is one element in that many pipelines, which start together: appsrc ! element ! fakesink. The sources
// reuse a set of buffers, so that only the elements allocate and copy. The device memory of a row is the
// memory in use while it runs, minus that in use before its contexts were made.
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/harness/cuda_streams.h"
#include "tests/bench/harness/stream_group.h"
#include "tests/bench/harness/stream_options.h"

namespace cudavision::bench {
namespace {

constexpr int kPeerStreams = 16;

struct Work {
  std::string name;
  std::vector<std::string> elements;  // in the order of the chain
  bool ours = true;                   // all but cudavisiontrack take backend and display
};

// without cudainpaint: inpaint_bench measures it, because its time depends on the holes
// without cudavisionredact: its time depends on the boxes
// without cudavisiontrack: boxes_bench measures it
// without cudavisionzones: it does not read pixels
// without cudavisionoverlay: boxes_bench measures it
// without cudavisionjson: it processes no pixels
const Work kWorks[] = {
    {"canny", {"cudacanny"}},
    {"histogram", {"cudahistogram"}},
    {"localhist", {"cudalocalhist window-width=16 window-height=16"}},
    {"hough", {"cudahough nms-radius=0 threshold=150"}},
    {"opticalflow", {"cudaopticalflow"}},
    {"sigma2kp", {"cudasigma2kp"}},
    {"hog", {"cudahog"}},
    {"people", {"cudahog model=people"}},
    {"bgsub", {"cudabgsub"}},
    {"cameracheck", {"cudacameracheck"}},
    {"rectify", {"cudarectify view=plane corners=\"0.4,0.3 0.6,0.3 0.9,1 0.1,1\""}},
    {"chain", {"cudacanny", "cudahistogram", "cudasigma2kp", "cudahough"}},
};

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string description(const Work &work, const std::string &backend) {
  std::string text;
  for (const std::string &element : work.elements) {
    if (!text.empty()) text += " ! ";
    text += element;
    if (work.ours && element != "cudavisiontrack") text += " display=false backend=" + backend;
  }
  return text;
}

bool exists(const Work &work) {
  return std::all_of(work.elements.begin(), work.elements.end(), [](const std::string &element) {
    return have_element(element.substr(0, element.find(' ')).c_str());
  });
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

void print_head() {
  const std::time_t now = std::time(nullptr);
  char date[64];
  std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", std::localtime(&now));
  const std::string device = cuda_device_name();
  gchar *version = gst_version_string();
  std::printf("%s\nCPU: %s, %u cores\ndevice: %s\n%s\n", date, cpu_model().c_str(),
              std::thread::hardware_concurrency(), device.empty() ? "none" : device.c_str(), version);
  g_free(version);
}

class Program {
 public:
  explicit Program(const StreamOptions &options) : options_(options) {}

  // Returns the exit status.
  int run() {
    if (std::string error = choose_works(); !error.empty()) {
      std::fprintf(stderr, "streams_bench: %s\n", error.c_str());
      return 1;
    }
    if (options_.start) {
      time_start();
      return failed_ ? 1 : 0;
    }
    print_head();
    choose_backend();
    if (!options_.decode.empty()) choose_decoders();
    show_picture();
    run_rows(false);
    if (options_.peers) run_peers();
    if (options_.live) run_rows(true);
    return failed_ ? 1 : 0;
  }

 private:
  struct Row {
    std::string name;
    GroupPlan plan;
    bool live = false;
  };

  // --- selection of the rows ---

  std::string choose_works() {
    if (options_.elements.empty()) {
      for (const Work &work : kWorks)
        if (exists(work)) works_.push_back(work);
      decoders_wanted_ = true;
      return works_.empty() ? "none of the elements exists: GST_PLUGIN_PATH must name the plugin's folder"
                            : "";
    }
    for (const std::string &name : options_.elements)
      if (std::string error = choose_work(name); !error.empty()) return error;
    return "";
  }

  std::string choose_work(const std::string &name) {
    if (name == kDecoder) {
      decoders_wanted_ = true;
      return options_.decode.empty() ? "--elements decoder needs --decode" : "";
    }
    const auto found = std::find_if(std::begin(kWorks), std::end(kWorks),
                                    [&](const Work &work) { return work.name == name; });
    if (found == std::end(kWorks)) return "--elements: there is no '" + name + "'";
    works_.push_back(*found);
    return "";
  }

  // Without a device, and without an option about CUDA, the rows use the CPU.
  void choose_backend() {
    cuda_ = options_.backend == "cuda";
    if (options_.backend != "auto") return;
    const SourcePicture small("GRAY8", {64, 64});
    Stream stream({"", "cudacanny display=false backend=cuda", &small});
    const std::string why_not = stream.open(nullptr);
    cuda_ = why_not.empty();
    if (!cuda_) std::printf("CUDA is left out: %s\n", why_not.c_str());
  }

  void choose_decoders() {
    if (!decoders_wanted_) return;
    if (!have_element("nvh264dec")) {
      std::printf("decoder rows are left out: there is no element nvh264dec\n");
      return;
    }
    decoders_ = {{"decoder", {}},
                 {"decoder+canny", {"cudacanny"}},
                 {"decoder+people", {"cudahog model=people", "cudavisiontrack"}},
                 {"decoder+bgsub+people",
                  {"cudabgsub close=8 min-area=100 max-regions=32", "cudahog model=people roi-type=motion",
                   "cudavisiontrack"}}};
  }

  void show_picture() const {
    if (const std::string &why = picture().why_computed(); !why.empty())
      std::printf("the picture is a computed one: %s\n", why.c_str());
  }

  const SourcePicture &picture() const {
    if (!picture_) picture_ = std::make_unique<SourcePicture>("NV12", options_.size);
    return *picture_;
  }

  std::string backend() const { return cuda_ ? options_.backend : "cpu"; }

  // --- rows ---

  std::vector<Memory> memories(bool live) const {
    if (!cuda_) return {Memory::ordinary};
    std::vector<Memory> memories = options_.memory;
    if (live) std::erase(memories, Memory::ordinary);
    return memories;
  }

  std::vector<std::optional<Contexts>> contexts() const {
    if (!cuda_) return {std::nullopt};
    return {options_.contexts.begin(), options_.contexts.end()};
  }

  void run_rows(bool live) {
    std::printf("\n%s, %dx%d NV12, %s\n", live ? "live sources of 30 frames/s" : "as fast as they go",
                options_.size.width, options_.size.height, cuda_ ? "CUDA" : "CPU");
    print_columns(live);
    const std::vector<int> counts = live ? std::vector<int>{options_.live_streams} : options_.streams;
    for (const Work &work : works_)
      for (const Memory memory : memories(live))
        for (const auto &mode : contexts())
          for (const int count : counts) {
            const StreamPlan stream{"", description(work, backend()), &picture(), memory, live};
            run_row({work.name, {stream, count, mode, options_.devices, options_.seconds}, live});
          }
    if (!live) run_decoders();
  }

  void run_decoders() {
    const std::string source =
        "multifilesrc location=" + quoted(options_.decode) + " loop=true ! h264parse ! nvh264dec";
    for (const Work &work : decoders_)
      for (const auto &mode : contexts())
        for (const int count : options_.streams) {
          const StreamPlan stream{source, description(work, backend()), nullptr, Memory::any};
          run_row({work.name, {stream, count, mode, 1, options_.seconds}});
        }
  }

  void run_peers() {
    const Work works[] = {{"edgedetect", {"edgedetect threshold1=50 threshold2=100 mask=false"}, false},
                          {"cudacanny", {"cudacanny low-threshold=50 high-threshold=100"}}};
    const SourcePicture rgb("RGB", options_.size);
    std::printf("\nbeside a peer, %dx%d RGB, CPU\n", options_.size.width, options_.size.height);
    print_columns(false);
    for (const Work &work : works) {
      const StreamPlan stream{"", description(work, "cpu"), &rgb};
      run_row({work.name, {stream, kPeerStreams, std::nullopt, 1, options_.seconds}});
    }
  }

  static void print_columns(bool live) {
    std::printf("%-15s %-8s %-8s %7s %10s %12s %6s %8s %8s %10s", "element", "memory", "contexts", "streams",
                "frames/s", "CPU us/frame", "cores", "threads", "start ms", "MB/stream");
    if (live) std::printf(" %10s %10s", "median us", "99 % us");
    std::printf("\n");
  }

  void run_row(const Row &row) {
    const GroupPlan &plan = row.plan;
    std::printf("%-15s %-8s %-8s %7d ", row.name.c_str(), text_of(plan.stream.memory),
                plan.contexts ? text_of(*plan.contexts) : "-", plan.count);
    std::fflush(stdout);
    const GroupResult result = run_group(plan);
    if (result.error.empty()) {
      print_result(result, row.live);
    } else {
      std::printf("error: %s\n", result.error.c_str());
      failed_ = true;
    }
    std::fflush(stdout);
  }

  static void print_result(const GroupResult &result, bool live) {
    std::printf("%10.1f %12.1f %6.2f %8d %8.1f ", result.frames_per_second,
                result.cpu_seconds_per_frame * 1e6, result.cores, result.threads, result.start_seconds * 1e3);
    if (result.device_bytes_per_stream)
      std::printf("%10.1f", *result.device_bytes_per_stream / 1e6);
    else
      std::printf("%10s", "-");
    if (live) std::printf(" %10.0f %10.0f", result.median_latency * 1e6, result.late_latency * 1e6);
    if (result.fresh_buffers > 0) std::printf("  %d buffers were made anew", result.fresh_buffers);
    std::printf("\n");
  }

  // --- time until the first frame ---

  // Measures how long the first and the second pipeline take to their first frame. The first one is also the
  // process's first use of CUDA, and it still runs when the second starts. Frames lie in pageable memory.
  void time_start() {
    if (works_.empty()) return;
    const StreamPlan plan{"", description(works_.front(), options_.backend), &picture()};
    Stream first(plan), second(plan);
    const std::string first_text = start_text(&first), second_text = start_text(&second);
    print_head();
    show_picture();
    std::printf(
        "\ntime to the first frame of %s, backend=%s, %dx%d NV12\nfirst pipeline:  %s\nsecond pipeline: %s\n",
        works_.front().name.c_str(), options_.backend.c_str(), options_.size.width, options_.size.height,
        first_text.c_str(), second_text.c_str());
  }

  std::string start_text(Stream *stream) {
    const Deadline deadline;
    const std::string error = stream->open(nullptr);
    if (!error.empty()) {
      failed_ = true;
      return "error: " + error;
    }
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f ms", stream->seconds_to_first_frame() * 1e3);
    return text;
  }

  StreamOptions options_;
  std::vector<Work> works_, decoders_;
  mutable std::unique_ptr<SourcePicture> picture_;
  bool decoders_wanted_ = false, cuda_ = false, failed_ = false;
};

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char **argv) {
  cudavision::bench::StreamOptions options;
  const std::string error = cudavision::bench::parse_options(argc, argv, &options);
  if (!error.empty()) {
    std::fprintf(stderr, "streams_bench: %s\n%s", error.c_str(), cudavision::bench::usage());
    return 1;
  }
  if (options.help) return std::fputs(cudavision::bench::usage(), stdout) < 0;
  gst_init(nullptr, nullptr);
  return cudavision::bench::Program(options).run();
}
