// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks that are compared with a peer in the same run; the ratios are printed at the end.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudavision::bench {

enum class Clock {
  real,    // from the first iteration to the last
  manual,  // the body passes it to SetIterationTime
};

struct Name {
  // The implementation: "canny/cpu" or "cv::Canny".
  std::string who;
  // The input: "1920x1080/real/threads:1". Both sides of a comparison use the same text if possible.
  std::string what;

  std::string text() const { return who + "/" + what; }
};

class Comparison {
 public:
  // Registers a benchmark. Its times are per iteration, which is one frame.
  void add(const Name &name, Clock clock, std::function<void(benchmark::State &)> body);
  // Prints the ratio of two benchmarks if both were run. A ratio below `least` makes the run fail.
  void compare(const Name &ours, const Name &peer, double least = 0) {
    pairs_.push_back({ours, peer, least});
  }
  // Prints that something is not measured, and why.
  void leave_out(const std::string &what, const std::string &why);

  // Runs the benchmarks that Google Benchmark's options in argv select, prints the ratios (the peer's time /
  // ours; medians if there are repetitions) and returns the exit status: 0; 1 if a benchmark failed, a ratio
  // is below its minimum or an option is unknown; 77 if no benchmark is registered.
  int run(int argc, char **argv);
  // The seconds per iteration of a benchmark, if it was run. Call it after run().
  std::optional<double> seconds(const Name &name) const;

 private:
  struct Pair {
    Name ours, peer;
    double least;
  };
  int count_ = 0;
  std::vector<Pair> pairs_;
  std::map<std::string, double> seconds_;  // medians, by the benchmark's name
};

// The thread counts of CPU benchmarks: 1 and one per core.
std::vector<int> thread_counts();

// Sets the counters of a benchmark whose iteration is a frame: frames/s, and bytes_per_second of the minimum
// traffic of any implementation (0: not counted).
void count_frames(benchmark::State &state, double bytes_per_frame);

}  // namespace cudavision::bench
