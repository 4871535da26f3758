// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts streams, monitors them and measures their use of the machine.
#include "tests/bench/harness/stream_group.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tests/bench/harness/cuda_streams.h"

namespace cudavision::bench {
namespace {

constexpr std::uint64_t kWarmUpFrames = 30;
constexpr std::int64_t kPatience = 20 * GST_SECOND;  // maximum time without a frame of some stream
constexpr unsigned kDeadlineSeconds = 120;
constexpr int kPollMicroseconds = 10000;

double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int thread_count() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error ? 0 : static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

double quantile(std::vector<std::int64_t> *values, double share) {
  if (values->empty()) return 0;
  const auto at =
      values->begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values->size() - 1));
  std::nth_element(values->begin(), at, values->end());
  return static_cast<double>(*at) / GST_SECOND;
}

// Makes the CUDA contexts of the streams, as the row requires.
class ContextSource {
 public:
  explicit ContextSource(std::optional<Contexts> contexts) : contexts_(contexts) {}
  ~ContextSource() { clear(); }
  ContextSource(const ContextSource &) = delete;
  ContextSource &operator=(const ContextSource &) = delete;

  // The context of the next stream; null, without an error, if the stream gets none. The source keeps it
  // until the next call.
  GstContext *next(std::string *error) {
    const bool none = !contexts_ || contexts_ == Contexts::shared;
    if (none || (contexts_ == Contexts::given && context_ != nullptr)) return context_;
    clear();
    return context_ = make_cuda_context(error);
  }

 private:
  void clear() {
    if (context_ != nullptr) gst_context_unref(context_);
    context_ = nullptr;
  }

  std::optional<Contexts> contexts_;
  GstContext *context_ = nullptr;
};

class Group {
 public:
  explicit Group(const GroupPlan &plan) : plan_(plan), contexts_(plan.contexts) {}
  ~Group() { stop(); }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;

  std::string open() {
    for (int i = 0; i < plan_.count; ++i) {
      const Deadline deadline;
      std::string error;
      GstContext *context = contexts_.next(&error);
      if (!error.empty()) return error;
      streams_.push_back(std::make_unique<Stream>(stream_plan(i)));
      if (error = streams_.back()->open(context); !error.empty()) return error;
    }
    return "";
  }

  // Measures how long one stream more takes to its first frame while all others run.
  void start_one_more(GroupResult *result) {
    const Deadline deadline;
    GstContext *context = contexts_.next(&result->error);
    if (!result->error.empty()) return;
    Stream more(stream_plan(plan_.count));
    result->error = more.open(context);
    if (result->error.empty()) result->start_seconds = more.seconds_to_first_frame();
  }

  void start() {
    const std::int64_t first = now_ns() + Stream::kFrameTime;
    for (int i = 0; i < plan_.count; ++i)  // live frames are spread over one frame time
      streams_[static_cast<std::size_t>(i)]->start(first + i * Stream::kFrameTime / plan_.count);
  }

  std::string warm_up() {
    return wait_until([this] {
      return std::all_of(streams_.begin(), streams_.end(),
                         [](const auto &stream) { return stream->frame_count() >= kWarmUpFrames; });
    });
  }

  void measure(GroupResult *result) {
    for (const auto &stream : streams_) stream->record_latencies(plan_.stream.live);
    const std::uint64_t frames_before = frame_count();
    const double cpu_before = cpu_seconds();
    const std::int64_t start = now_ns();
    const auto seconds = [start] { return static_cast<double>(now_ns() - start) / GST_SECOND; };
    result->error = wait_until([&] { return seconds() >= plan_.seconds && frame_count() > frames_before; });
    const double wall = seconds(), cpu = cpu_seconds() - cpu_before;
    const double frames = static_cast<double>(frame_count() - frames_before);
    for (const auto &stream : streams_) stream->record_latencies(false);
    result->frames_per_second = frames / wall;
    result->cpu_seconds_per_frame = cpu / frames;
    result->cores = cpu / wall;
    result->threads = thread_count();
    for (const auto &stream : streams_) result->fresh_buffers += stream->fresh_buffers();
  }

  // Stops all streams. Reads the latencies of each stream after its streaming thread has stopped. result: may be null.
  void stop(GroupResult *result = nullptr) {
    for (const auto &stream : streams_) stream->ask_to_stop();
    std::vector<std::int64_t> latencies;
    for (const auto &stream : streams_) {
      const Deadline deadline;
      stream->close();
      latencies.insert(latencies.end(), stream->latencies_ns().begin(), stream->latencies_ns().end());
    }
    streams_.clear();
    if (result == nullptr) return;
    result->median_latency = quantile(&latencies, 0.5);
    result->late_latency = quantile(&latencies, 0.99);
  }

 private:
  StreamPlan stream_plan(int number) const {
    StreamPlan plan = plan_.stream;
    if (plan_.devices > 1) plan.elements += " cuda-device-id=" + std::to_string(number % plan_.devices);
    return plan;
  }

  std::uint64_t frame_count() const {
    std::uint64_t sum = 0;
    for (const auto &stream : streams_) sum += stream->frame_count();
    return sum;
  }

  std::string first_error() const {
    for (const auto &stream : streams_)
      if (std::string text = stream->error(); !text.empty()) return text;
    return "";
  }

  std::string wait_until(const std::function<bool()> &done) const {
    struct Progress {
      std::uint64_t frames = 0;
      std::int64_t since;
    };
    std::vector<Progress> seen(streams_.size(), Progress{0, now_ns()});
    while (!done()) {
      if (std::string text = first_error(); !text.empty()) return text;
      const std::int64_t now = now_ns();
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const std::uint64_t frames = streams_[i]->frame_count();
        if (frames != seen[i].frames) seen[i] = {frames, now};
        if (now - seen[i].since > kPatience) return "no frame of a stream arrived for 20 s";
      }
      g_usleep(kPollMicroseconds);
    }
    return first_error();
  }

  GroupPlan plan_;
  ContextSource contexts_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

void give_up(int) {
  const char text[] = "\nstreams_bench: a pipeline neither starts nor stops; giving up\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
  _exit(1);
}

}  // namespace

Deadline::Deadline() {
  std::signal(SIGALRM, give_up);
  alarm(kDeadlineSeconds);
}

Deadline::~Deadline() { alarm(0); }

GroupResult run_group(const GroupPlan &plan) {
  GroupResult result;
  std::optional<std::int64_t> free_before, free_after;
  if (plan.contexts) free_before = free_device_memory();
  Group group(plan);
  result.error = group.open();
  if (!result.error.empty()) return result;
  group.start();
  result.error = group.warm_up();
  if (!result.error.empty()) return result;
  group.measure(&result);
  if (plan.contexts) free_after = free_device_memory();
  if (free_before && free_after)
    result.device_bytes_per_stream = static_cast<double>(*free_before - *free_after) / plan.count;
  if (!plan.stream.live) group.start_one_more(&result);
  group.stop(&result);
  return result;
}

}  // namespace cudavision::bench
