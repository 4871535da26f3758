// SPDX-License-Identifier: LGPL-2.1-or-later
// Collects the times of a run and prints ratios.
#include "tests/bench/harness/comparison.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace cudavision::bench {
namespace {

// Google Benchmark 1.8 renamed the flag of a failed run.
template <typename Run>
bool failed(const Run &run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<bool>(run.skipped);
  }
}

// Prints as usual and stores the times.
class CollectingReporter : public benchmark::ConsoleReporter {
 public:
  CollectingReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs) {
      if (failed(run))
        any_failed_ = true;
      else if (run.run_type == Run::RT_Iteration)
        seconds_[run.run_name.function_name].push_back(
            run.real_accumulated_time / static_cast<double>(std::max<std::int64_t>(run.iterations, 1)));
    }
    ConsoleReporter::ReportRuns(runs);
  }

  bool any_failed() const { return any_failed_; }
  std::map<std::string, double> median_seconds() const {
    std::map<std::string, double> medians;
    for (auto [name, times] : seconds_) {
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::nth_element(times.begin(), middle, times.end());
      medians[name] = *middle;
    }
    return medians;
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
  bool any_failed_ = false;
};

// A name as words: "canny cpu 1920x1080 real 1 thread".
std::string spoken(std::string name) {
  const std::string mark = "threads:";
  if (const auto at = name.find(mark); at != std::string::npos) {
    const std::string count = name.substr(at + mark.size());
    name = name.substr(0, at) + count + (count == "1" ? " thread" : " threads");
  }
  std::replace(name.begin(), name.end(), '/', ' ');
  std::replace(name.begin(), name.end(), ':', ' ');
  return name;
}

// The peer's name, followed by what its input has beyond ours, or by all of its input if it does not begin with ours.
std::string spoken_peer(const Name &peer, const Name &ours) {
  if (peer.what == ours.what) return peer.who;
  const bool more = peer.what.starts_with(ours.what + "/");
  return peer.who + " " + spoken(more ? peer.what.substr(ours.what.size() + 1) : peer.what);
}

}  // namespace

void Comparison::add(const Name &name, Clock clock, std::function<void(benchmark::State &)> body) {
  auto *registered =
      benchmark::RegisterBenchmark(name.text().c_str(), std::move(body))->Unit(benchmark::kMillisecond);
  if (clock == Clock::manual)
    registered->UseManualTime();
  else
    registered->UseRealTime();
  ++count_;
}

void Comparison::leave_out(const std::string &what, const std::string &why) {
  std::fprintf(stderr, "Not measured: %s: %s\n", what.c_str(), why.c_str());
}

int Comparison::run(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  constexpr int kSkipped = 77;
  if (count_ == 0) return kSkipped;

  CollectingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  seconds_ = reporter.median_seconds();

  struct Row {
    std::string ours, peer;
    double ours_seconds, peer_seconds, least;

    double ratio() const { return peer_seconds / ours_seconds; }
  };
  std::vector<Row> rows;
  std::size_t width = 0;
  for (const auto &[ours, peer, least] : pairs_) {
    const auto ours_seconds = seconds(ours), peer_seconds = seconds(peer);
    if (!ours_seconds || !peer_seconds) continue;
    rows.push_back({spoken(ours.text()), spoken_peer(peer, ours), *ours_seconds, *peer_seconds, least});
    width = std::max(width, rows.back().ours.size());
  }
  if (!rows.empty()) std::printf("\nRatios: the peer's time / ours, in the same run on the same pictures\n");
  bool too_slow = false;
  for (const Row &row : rows) {
    std::printf("%-*s %8.2fx %s (%.3f ms / %.3f ms)\n", static_cast<int>(width + 1), (row.ours + ":").c_str(),
                row.ratio(), row.peer.c_str(), 1e3 * row.peer_seconds, 1e3 * row.ours_seconds);
    if (row.ratio() >= row.least) continue;
    std::printf("  too slow: at least %.2fx is wanted\n", row.least);
    too_slow = true;
  }
  return reporter.any_failed() || too_slow ? 1 : 0;
}

std::optional<double> Comparison::seconds(const Name &name) const {
  const auto found = seconds_.find(name.text());
  return found == seconds_.end() ? std::nullopt : std::optional<double>(found->second);
}

std::vector<int> thread_counts() {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores > 1 ? std::vector<int>{1, cores} : std::vector<int>{1};
}

void count_frames(benchmark::State &state, double bytes_per_frame) {
  const double frames = static_cast<double>(state.iterations());
  state.counters["frames/s"] = benchmark::Counter(frames, benchmark::Counter::kIsRate);
  if (bytes_per_frame > 0) state.SetBytesProcessed(static_cast<std::int64_t>(frames * bytes_per_frame));
}

}  // namespace cudavision::bench
