// SPDX-License-Identifier: LGPL-2.1-or-later
// Random pipelines with random frames, properties and events: none may crash, hang or leak, and the emulated CUDA
// backend gives the same bytes, lines and errors as the CPU. CUDAVISION_FUZZ_STEPS and CUDAVISION_FUZZ_SEED change
// the number of steps and the first seed; a failure names the seed that replays it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/elements/every_element.h"
#include "tests/elements/json_lines.h"
#include "tests/fuzz/random_properties.h"
#include "tests/fuzz/scenario.h"

namespace {

using namespace cudavision::test;

std::uint64_t from_environment(const char *name, std::uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class FuzzPipelines : public ElementTest {
 protected:
  // Calls play(seed) until enough steps were taken or a scenario has failed.
  template <typename Play>
  void for_seeds(std::uint64_t steps, const Play &play) {
    const std::uint64_t first = from_environment("CUDAVISION_FUZZ_SEED", 1);
    steps = from_environment("CUDAVISION_FUZZ_STEPS", steps);
    std::uint64_t taken = 0, seed = first;
    int frames = 0, errors = 0;
    for (; taken < steps && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const ScenarioResult result = play(seed);
      taken += static_cast<std::uint64_t>(result.steps);
      frames += result.frames;
      errors += result.errors;
    }
    (void)take_glib_complaints();  // about properties out of range and bad buffers
    std::printf("%llu steps of %llu pipelines, %d frames, %d errors\n",
                static_cast<unsigned long long>(taken), static_cast<unsigned long long>(seed - first), frames,
                errors);
  }

  Folder folder_;
};

TEST_F(FuzzPipelines, keep_working) {
  for_seeds(kEmulated    ? 100
            : kSanitized ? 1500
                         : 4000,
            [&](std::uint64_t seed) {
              return play_scenario(
                  seed, {.backend = backend(), .longest_side = kEmulated ? 40 : 97, .uploads = kEmulated},
                  folder_.path(""));
            });
}

TEST_F(FuzzPipelines, keep_working_while_another_thread_changes_properties) {
  for_seeds(kEmulated    ? 100
            : kSanitized ? 800
                         : 2000,
            [&](std::uint64_t seed) {
              return play_scenario(seed + 1000000,
                                   {.backend = backend(), .longest_side = 40, .changes_beside = true},
                                   folder_.path(""));
            });
}

// Frames come from the pipeline's own streaming thread, so that a state change can interrupt a frame at any point.
TEST_F(FuzzPipelines, state_changes_meet_frames_anywhere) {
  Random random(from_environment("CUDAVISION_FUZZ_SEED", 1));
  int changes = 0;
  for (const std::string &use : every_element()) {
    const Owned<GstElement> pipeline = parse("videotestsrc ! video/x-raw,format=NV12,width=48,height=40 ! " +
                                             on_backend(use) + " name=e ! fakesink");
    for (int i = 0; i < (kEmulated ? 4 : 25); ++i, ++changes) {
      static const GstState kStates[] = {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING,
                                         GST_STATE_PLAYING};
      gst_element_set_state(pipeline.get(), random.pick(kStates));
      for (int k = 0; k < 5; ++k) set_random_property(random, child(pipeline, "e"), {48, 40});
      g_usleep(static_cast<gulong>(random.in(0, 3000)));
      if (take_error(pipeline.get())) {  // properties that contradict each other
        gst_element_set_state(pipeline.get(), GST_STATE_NULL);
        reset_properties(child(pipeline, "e"));
      }
    }
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
  (void)take_glib_complaints();
  std::printf("%d state changes\n", changes);
}

TEST_F(FuzzPipelines, both_backends_give_the_same) {
  if (!kEmulated) GTEST_SKIP() << "the program with emulated kernels has both backends";
  for_seeds(kSanitized ? 150 : 400, [&](std::uint64_t seed) {
    const ScenarioResult cpu = play_scenario(seed, {.backend = "cpu", .longest_side = 40}, folder_.path(""));
    const ScenarioResult cuda =
        play_scenario(seed, {.backend = "cuda", .longest_side = 40, .uploads = true}, folder_.path(""));
    EXPECT_EQ(cpu.transcript.size(), cuda.transcript.size()) << cpu.pipeline;
    for (std::size_t i = 0; i < std::min(cpu.transcript.size(), cuda.transcript.size()); ++i)
      if (cpu.transcript[i] != cuda.transcript[i]) {
        ADD_FAILURE() << cpu.pipeline << "\nstep " << i
                      << (i > 0 ? ", after " + cpu.transcript[i - 1].substr(0, 200) : "")
                      << "\ncpu:  " << cpu.transcript[i].substr(0, 2000)
                      << "\ncuda: " << cuda.transcript[i].substr(0, 2000);
        break;
      }
    return cuda;
  });
}

}  // namespace
