// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of streams_bench.
#pragma once

#include <string>
#include <vector>

#include "cuda/common/image.h"
#include "tests/bench/harness/pipeline.h"

namespace cudavision::bench {

// The owner of the CUDA contexts of the pipelines.
enum class Contexts {
  own,     // the benchmark, one per pipeline
  shared,  // the plugin: the benchmark sets none
  given,   // the benchmark, one for all pipelines
};

// The name in --elements of the rows that need a file (--decode).
inline constexpr char kDecoder[] = "decoder";

struct StreamOptions {
  std::vector<int> streams = {1, 4, 16, 64};
  std::vector<std::string> elements;  // empty: all that exist
  std::vector<Memory> memory = {Memory::cuda, Memory::pinned, Memory::ordinary};
  std::vector<Contexts> contexts = {Contexts::own, Contexts::shared, Contexts::given};
  double seconds = 2;  // measured time per row
  int devices = 1;     // the pipelines take turns on so many devices
  Size size = {1920, 1080};
  int live_streams = 64;
  std::string decode;  // a file; empty: none
  std::string backend = "auto";
  bool live = false, peers = false, start = false, help = false;
};

// Returns the error's text; empty on success.
std::string parse_options(int argc, char **argv, StreamOptions *options);
const char *usage();

const char *text_of(Memory memory);
const char *text_of(Contexts contexts);

}  // namespace cudavision::bench
