// SPDX-License-Identifier: LGPL-2.1-or-later
// What the command line of streams_bench says.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/harness/pipeline.h"
#include "cuda/common/image.h"

namespace cudavision::bench {

// Who makes the CUDA contexts of the pipelines.
enum class Contexts {
  own,     // the bench, one for each pipeline
  shared,  // the plugin: the bench gives none
  given,   // the bench, one for all pipelines
};

// Names of works that need a file are given to --elements as well.
inline constexpr char kDecoder[] = "decoder", kPeople[] = "people";

struct StreamOptions {
  std::vector<int> streams = {1, 4, 16, 64};
  std::vector<std::string> elements;  // empty: all that exist
  std::vector<Memory> memory = {Memory::cuda, Memory::page_locked, Memory::ordinary};
  std::vector<Contexts> contexts = {Contexts::own, Contexts::shared, Contexts::given};
  double seconds = 2;  // that a row is measured for
  Size size = {1920, 1080};
  int live_streams = 64;
  std::string decode, model;  // files; empty: none
  std::string backend = "auto";
  bool live = false, peers = false, start = false, help = false;
};

// Returns the error's text, empty if there is none.
std::string parse_options(int argc, char **argv, StreamOptions *options);
const char *usage();

const char *text_of(Memory memory);
const char *text_of(Contexts contexts);

}  // namespace cudavision::bench
