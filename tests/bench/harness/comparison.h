// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks that are compared with a peer's in the same run: at the end their ratios are printed.
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
  manual,  // what the body gives to SetIterationTime
};

struct Name {
  std::string who;   // what is measured, as "canny/cpu" or "cv::Canny"
  std::string what;  // on what, as "1920x1080/real/threads:1"; the same for both sides of a comparison where
                     // it can be

  std::string text() const { return who + "/" + what; }
};

class Comparison {
 public:
  // Registers a benchmark. Its times are per iteration: one frame.
  void add(const Name &name, Clock clock, std::function<void(benchmark::State &)> body);
  // Has the ratio of two benchmarks printed when both were run; a ratio below `least` makes the run fail.
  void compare(const Name &ours, const Name &peer, double least = 0) {
    pairs_.push_back({ours, peer, least});
  }
  // Has a line printed that says what is not measured, and why.
  void leave_out(const std::string &what, const std::string &why);

  // Runs what Google Benchmark's options in argv select, prints the ratios (the peer's time / ours, of
  // medians when there are repetitions) and returns the program's exit status: 0, 1 when a benchmark failed,
  // a ratio is below its least or an option is unknown, 77 when nothing was registered.
  int run(int argc, char **argv);
  // After run: seconds per iteration of a benchmark, if it was run.
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

// The thread counts that CPU benchmarks are run with: 1 and one per core.
std::vector<int> thread_counts();

// Counters of a benchmark whose iteration is a frame: frames/s, and bytes_per_second of the bytes that every
// implementation has to read and write at least (0: not counted).
void count_frames(benchmark::State &state, double bytes_per_frame);

}  // namespace cudavision::bench
