// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: several elements of a process that write to one file, one pipe or the standard output.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/elements/json_outputs.h"

namespace {

using namespace cudavision::test;

class CudaVisionJsonShared : public ElementTest {
 protected:
  Folder folder_;
};

std::vector<Json> parsed(const std::string &text) {
  std::vector<Json> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.emplace_back(line);
  return all;
}

// The sources of whole lines.
std::vector<std::string> sources_in(const std::string &text) {
  std::vector<std::string> sources;
  for (const Json &line : parsed(text)) sources.push_back(line.text("source"));
  return sources;
}

using Sources = std::vector<std::string>;

constexpr const char *kOne = "source=one tensor-data=full", *kTwo = "source=two tensor-data=full";

TEST_F(CudaVisionJsonShared, two_elements_may_write_to_one_file) {
  const std::string file = folder_.path("shared.jsonl");
  JsonHarness one("source=one", file), two(kTwo, file);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(two.push(long_frame()), GST_FLOW_OK);
  }
  const Sources sources = sources_in(content(file));
  ASSERT_EQ(sources.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(sources[i], i % 2 == 0 ? "one" : "two");
}

// The lines exceed the capacity of the pipe, so that each waits for the reader many times.
TEST_F(CudaVisionJsonShared, lines_of_two_threads_stay_whole_in_a_pipe) {
  constexpr int kLines = 20;
  const NamedPipe pipe(folder_.path("pipe"));
  const Descriptor end(open(pipe.path().c_str(), O_WRONLY | O_CLOEXEC));
  std::string text;
  {
    const RedirectedOutput redirected(end.number());
    JsonHarness one(kOne, "-"), two(kTwo, pipe.path());
    const auto push_all = [](JsonHarness *json) {
      for (int i = 0; i < kLines; ++i) json->push(long_frame());
    };
    const auto first = std::async(std::launch::async, push_all, &one);
    const auto second = std::async(std::launch::async, push_all, &two);
    text = pipe.take_lines(2 * kLines);
  }
  const Sources sources = sources_in(text);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "one"), kLines);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "two"), kLines);
}

// One element waits for the reader and the other one for its turn. first: which is stopped first.
void expect_both_stop(const std::string &location, const ReadingEnd &reader, const std::string &first) {
  bool in_time = false;
  GstFlowReturn flow_of_one = GST_FLOW_OK, flow_of_two = GST_FLOW_OK;
  JsonHarness one(kOne, location), two(kTwo, location);
  Pushing with_turn(&one, long_frame());
  reader.wait_until_it_is_full();
  Pushing without(&two, long_frame());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto stop = [&](const std::string &which) {
    gst_element_set_state((which == "one" ? one : two).element(), GST_STATE_NULL);
    which == "one" ? flow_of_one = with_turn.flow() : flow_of_two = without.flow();
  };
  const auto stop_both = [&] {
    stop(first);
    stop(first == "one" ? "two" : "one");
  };
  in_time = returns(stop_both, [&] { reader.take_lines(1 << 20); });
  EXPECT_TRUE(in_time) << "first " << first;
  EXPECT_EQ(flow_of_one, GST_FLOW_FLUSHING);
  EXPECT_EQ(flow_of_two, GST_FLOW_FLUSHING);
}

TEST_F(CudaVisionJsonShared, stop_waits_neither_for_the_turn_nor_with_it) {
  for (const char *first : {"one", "two"}) {
    const NamedPipe pipe(folder_.path(first));
    expect_both_stop(pipe.path(), pipe, first);
  }
}

TEST_F(CudaVisionJsonShared, signals_do_not_end_the_wait_for_the_turn) {
  const InterruptingSignal signal;
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness one(kOne, pipe.path()), two(kTwo, pipe.path());
  Pushing with_turn(&one, long_frame());
  pipe.wait_until_it_is_full();
  Pushing without(&two, frame());
  for (int i = 0; i < 100; ++i) {
    without.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sources_in(pipe.take_lines(2)), (Sources{"one", "two"}));
  EXPECT_EQ(without.flow(), GST_FLOW_OK);
}

// --- the rest of a line ---

// Starts a line of the element and stops it in the middle.
void stop_within_a_line(JsonHarness *json, const ReadingEnd &reader) {
  Pushing pushing(json, long_frame());
  reader.wait_until_it_is_full();
  gst_element_set_state(json->element(), GST_STATE_NULL);
  pushing.flow();
}

TEST_F(CudaVisionJsonShared, line_of_a_stopped_element_is_completed_before_the_next_line_of_another) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness one(kOne, pipe.path()), two(kTwo, pipe.path());
  stop_within_a_line(&one, pipe);
  Pushing pushing(&two, frame());
  EXPECT_EQ(sources_in(pipe.take_lines(2)), (Sources{"one", "two"}));
  EXPECT_EQ(pushing.flow(), GST_FLOW_OK);
}

TEST_F(CudaVisionJsonShared, line_of_a_stopped_element_is_completed_at_the_end_of_the_stream_of_another) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness one(kOne, pipe.path()), two(kTwo, pipe.path());
  stop_within_a_line(&one, pipe);
  const auto ended =
      std::async(std::launch::async, [&] { return gst_harness_push_event(two.get(), gst_event_new_eos()); });
  EXPECT_EQ(sources_in(pipe.take_lines(1)), (Sources{"one"}));
}

TEST_F(CudaVisionJsonShared, rest_that_is_cancelled_again_is_completed_later) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness one(kOne, pipe.path()), two(kTwo, pipe.path()), three("source=three", pipe.path());
  stop_within_a_line(&one, pipe);
  Pushing cancelled(&two, frame());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  gst_element_set_state(two.element(), GST_STATE_NULL);
  EXPECT_EQ(cancelled.flow(), GST_FLOW_FLUSHING);
  Pushing pushing(&three, frame());
  EXPECT_EQ(sources_in(pipe.take_lines(2)), (Sources{"one", "three"}));
  EXPECT_EQ(pushing.flow(), GST_FLOW_OK);
}

// The standard output stays open when the element ends, so the next start can complete the line.
TEST_F(CudaVisionJsonShared, line_on_the_standard_output_is_completed_by_the_next_start) {
  const NamedPipe pipe(folder_.path("pipe"));
  const Descriptor end(open(pipe.path().c_str(), O_WRONLY | O_CLOEXEC));
  std::string text;
  {
    const RedirectedOutput redirected(end.number());
    auto one = std::make_unique<JsonHarness>(kOne, "-");
    stop_within_a_line(one.get(), pipe);
    one.reset();
    JsonHarness two(kTwo, "-");
    Pushing pushing(&two, frame());
    text = pipe.take_lines(2);
    pushing.flow();
  }
  EXPECT_EQ(sources_in(text), (Sources{"one", "two"}));
}

// The next reader of a named pipe has not seen the beginning.
TEST_F(CudaVisionJsonShared, rest_of_a_line_is_given_up_when_all_elements_have_closed_a_pipe) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json(kOne, pipe.path());
  stop_within_a_line(&json, pipe);
  pipe.take();
  json.restart();
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(sources_in(pipe.take()), (Sources{"one"}));
}

}  // namespace
