// SPDX-License-Identifier: LGPL-2.1-or-later
// Random scenarios: a pipeline and what happens to it, all determined by a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/elements/support.h"

namespace cudavision::test {

struct ScenarioOptions {
  std::string backend;          // of all elements
  int longest_side = 97;        // of most frames, in pixels
  bool uploads = false;         // cudaupload and cudadownload around the elements of the CUDA backend
  bool changes_beside = false;  // a second thread sets properties and asks queries all the time
};

struct ScenarioResult {
  std::string pipeline;
  // Each step, its flow returns, the bytes that came out and the messages; then the lines of JSON.
  std::vector<std::string> transcript;
  int steps = 0, frames = 0, errors = 0;
};

// Plays the scenario of the seed: caps, frames with strides and metas of all kinds, broken ones among them, properties
// that change, flushes, gaps, discontinuities, ends of the stream and restarts. folder: for the lines of JSON.
ScenarioResult play_scenario(std::uint64_t seed, const ScenarioOptions &options, const std::string &folder);

}  // namespace cudavision::test
