// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: readers that are slow or gone, and stops meanwhile.

#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tests/elements/json_outputs.h"

namespace {

using namespace cudavision::test;

class CudaVisionJsonPipe : public ElementTest {
 protected:
  Folder folder_;
};

TEST_F(CudaVisionJsonPipe, pipe_gives_every_line_at_once) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("", pipe.path());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(Json(pipe.take()).whole("frame"), i);
  }
}

TEST_F(CudaVisionJsonPipe, pipe_without_its_reader_is_an_error_and_no_signal) {
  NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("", pipe.path());
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  pipe.close();
  EXPECT_EQ(json.push(frame()), GST_FLOW_ERROR);  // SIGPIPE would end the test here
  EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "Broken pipe"));
  sigset_t set;
  EXPECT_EQ(sigpending(&set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
}

TEST_F(CudaVisionJsonPipe, reader_that_goes_ends_a_line_that_waits_for_it) {
  NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  Pushing pushing(&json, long_frame());
  pipe.wait_until_it_is_full();
  pipe.close();
  EXPECT_EQ(pushing.flow(), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "Broken pipe"));
}

// A flushing seek must not wait for the reader. The line that it interrupts is completed before the next one.
TEST_F(CudaVisionJsonPipe, line_that_a_flush_interrupts_is_completed_before_the_next) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  Pushing first(&json, long_frame());
  pipe.wait_until_it_is_full();
  json.flush();
  EXPECT_EQ(first.flow(), GST_FLOW_FLUSHING);
  Pushing second(&json, frame());
  const std::string text = pipe.take_lines(2);
  EXPECT_EQ(second.flow(), GST_FLOW_OK);
  const std::size_t end = text.find('\n');
  EXPECT_EQ(Json(text.substr(0, end + 1)).length("tensors.0.data"), 10000u);
  EXPECT_EQ(Json(text.substr(end + 1)).whole("frame"), 1);
}

// --- readers that stall ---

// An output that the test reads, and the name by which the element opens it.
struct Output {
  std::unique_ptr<ReadingEnd> reader;
  std::string location = "-";
  std::unique_ptr<Descriptor> standard_output;  // replaces the standard output, unless null
};

Output unnamed_pipe(const std::string &location) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {std::make_unique<ReadingEnd>(ends[0]), location, std::make_unique<Descriptor>(ends[1])};
}

class CudaVisionJsonStalled : public CudaVisionJsonPipe, public testing::WithParamInterface<const char *> {
 protected:
  Output output() const {
    const std::string kind = GetParam();
    if (kind == "pipe") return unnamed_pipe("-");
    if (kind == "pipe_by_name") return unnamed_pipe("/dev/stdout");
    auto pipe = std::make_unique<NamedPipe>(folder_.path("pipe"));
    const std::string path = pipe->path();
    return {std::move(pipe), path, nullptr};
  }

  // Lets a line wait for its reader and calls `stop`. Returns what went wrong.
  std::string stop_while_it_waits(const std::function<void(JsonHarness *)> &stop) const {
    const Output output = this->output();
    std::optional<RedirectedOutput> redirected;
    if (output.standard_output) redirected.emplace(output.standard_output->number());
    JsonHarness json("tensor-data=full", output.location);
    Pushing pushing(&json, long_frame());
    output.reader->wait_until_it_is_full();
    std::string wrong = pushing.waits() ? "" : "the line does not wait; ";
    if (ftrylockfile(stdout) == 0)
      funlockfile(stdout);
    else
      wrong += "the lock of stdout is held; ";
    GstFlowReturn flow = GST_FLOW_OK;
    const auto stop_and_wait = [&] {
      stop(&json);
      flow = pushing.flow();
    };
    if (!returns(stop_and_wait, [&] { output.reader->close(); })) wrong += "the stop waits; ";
    return flow == GST_FLOW_FLUSHING ? wrong : wrong + "the line ends with " + gst_flow_get_name(flow);
  }
};

INSTANTIATE_TEST_SUITE_P(Outputs, CudaVisionJsonStalled,
                         testing::Values("named_pipe", "pipe", "pipe_by_name"),
                         [](const auto &output) { return std::string(output.param); });

TEST_P(CudaVisionJsonStalled, ready_does_not_wait) {
  EXPECT_EQ(
      stop_while_it_waits([](JsonHarness *json) { gst_element_set_state(json->element(), GST_STATE_READY); }),
      "");
}

TEST_P(CudaVisionJsonStalled, null_does_not_wait) {
  EXPECT_EQ(
      stop_while_it_waits([](JsonHarness *json) { gst_element_set_state(json->element(), GST_STATE_NULL); }),
      "");
}

TEST_P(CudaVisionJsonStalled, flush_does_not_wait) {
  EXPECT_EQ(stop_while_it_waits([](JsonHarness *json) { json->flush(); }), "");
}

TEST_P(CudaVisionJsonStalled, line_arrives_whole_once_it_is_read) {
  const Output output = this->output();
  std::string text;
  {
    std::optional<RedirectedOutput> redirected;
    if (output.standard_output) redirected.emplace(output.standard_output->number());
    JsonHarness json("tensor-data=full", output.location);
    Pushing pushing(&json, long_frame());
    text = output.reader->take_lines(1);
    pushing.flow();
  }
  EXPECT_EQ(Json(text).length("tensors.0.data"), 10000u);
}

TEST_P(CudaVisionJsonStalled, line_arrives_whole_amid_signals) {
  const InterruptingSignal signal;
  const Output output = this->output();
  GstFlowReturn flow = GST_FLOW_ERROR;
  std::string text;
  {
    std::optional<RedirectedOutput> redirected;
    if (output.standard_output) redirected.emplace(output.standard_output->number());
    JsonHarness json("tensor-data=full", output.location);
    Pushing pushing(&json, long_frame());
    for (int i = 0; i < 30000 && pushing.waits(); ++i) {
      pushing.interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i % 10 == 9) text += output.reader->take();
    }
    if (pushing.waits()) output.reader->close();
    flow = pushing.flow();
    text += output.reader->take();
  }
  EXPECT_EQ(flow, GST_FLOW_OK);
  EXPECT_EQ(Json(text).length("tensors.0.data"), 10000u);
}

}  // namespace
