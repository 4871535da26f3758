// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: readers that are slow, late, gone or never there, and stops meanwhile.
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

TEST_F(CudaVisionJsonPipe, pipe_without_its_reader_is_the_end_of_the_stream_and_no_signal) {
  NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("", pipe.path());
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  pipe.close();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(json.push(frame()), GST_FLOW_EOS);  // SIGPIPE would end the test here
  EXPECT_FALSE(take_error(json.element()));
  EXPECT_FALSE(take_warning(json.element()));
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
  EXPECT_EQ(pushing.flow(), GST_FLOW_EOS);
  EXPECT_FALSE(take_error(json.element()));
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

// --- named pipes without a reader ---

TEST_F(CudaVisionJsonPipe, pipe_without_a_reader_yet_blocks_neither_the_start_nor_the_stop) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const int milliseconds : {0, 100}) {  // before the frame arrives, and while it waits
    JsonHarness json("", path);
    Pushing pushing(&json, frame());
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    gst_element_set_state(json.element(), GST_STATE_READY);
    EXPECT_EQ(pushing.flow(), GST_FLOW_FLUSHING);
  }
}

TEST_F(CudaVisionJsonPipe, signals_do_not_end_the_wait_for_a_first_reader) {
  const InterruptingSignal signal;
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  JsonHarness json("", path);
  Pushing pushing(&json, frame());
  for (int i = 0; i < 100; ++i) {
    pushing.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(pushing.waits());
  const ReadingEnd reader(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(pushing.flow(), GST_FLOW_OK);
  EXPECT_EQ(Json(reader.take()).whole("frame"), 0);
}

TEST_F(CudaVisionJsonPipe, end_of_the_stream_does_not_wait_for_a_first_reader) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  JsonHarness json("", path);
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_eos()));
}

TEST_F(CudaVisionJsonPipe, pipe_that_is_removed_before_it_has_a_reader_is_an_error_and_no_new_file) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  JsonHarness json("", path);
  Pushing pushing(&json, frame());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(pushing.flow(), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "No such file"));
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(CudaVisionJsonPipe, pipe_waits_for_its_first_reader) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  JsonHarness json("", path);
  std::thread streaming([&] { EXPECT_EQ(json.push(frame()), GST_FLOW_OK); });
  std::ifstream reader(path);
  std::string line;
  EXPECT_TRUE(std::getline(reader, line));
  streaming.join();
  EXPECT_EQ(Json(line).whole("frame"), 0);
}

// Ends like `gst-launch-1.0 … ! cudavisionjson ! fakesink | head -2` at a terminal.
TEST_F(CudaVisionJsonPipe, pipeline_ends_as_at_the_end_of_the_stream_when_its_reader_goes) {
  NamedPipe pipe(folder_.path("pipe"));
  std::atomic<int> passed = 0;
  const Owned<GstElement> pipeline =
      parse("videotestsrc ! video/x-raw,width=64,height=48 ! cudahistogram backend=" + backend() +
            " ! cudavisionjson location=" + pipe.path() + " ! fakesink name=sink signal-handoffs=true");
  g_signal_connect(child(pipeline, "sink"), "handoff",
                   G_CALLBACK(+[](GstElement *, GstBuffer *, GstPad *, std::atomic<int> *n) { ++*n; }),
                   &passed);
  std::thread reader([&] {
    for (int i = 0; i < 30000 && passed < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pipe.close();
  });
  EXPECT_TRUE(plays_to_the_end(pipeline));  // the source has no end
  reader.join();
}

// --- readers that stall ---

// An output that the test reads, and the name by which the element opens it.
struct Output {
  std::unique_ptr<ReadingEnd> reader;
  std::string location = "-";
  std::unique_ptr<Descriptor> standard_output;  // replaces the standard output, unless null
};

Output terminal() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(master), 0);
  EXPECT_EQ(unlockpt(master), 0);
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  return {std::make_unique<ReadingEnd>(master), "-", std::make_unique<Descriptor>(slave)};
}

// As of a service that inetd starts: of a pair of local sockets the element could tell that this process has made them.
Output connected_socket() {
  const Descriptor listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int writing = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 1;  // the least buffers
  EXPECT_EQ(setsockopt(listening.number(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  EXPECT_EQ(setsockopt(writing, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto *where = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(bind(listening.number(), where, size), 0);
  EXPECT_EQ(getsockname(listening.number(), where, &size), 0);
  EXPECT_EQ(listen(listening.number(), 1), 0);
  EXPECT_EQ(connect(writing, where, size), 0);
  const int reading = accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC);
  return {std::make_unique<ReadingEnd>(reading), "-", std::make_unique<Descriptor>(writing)};
}

Output unnamed_pipe(const std::string &location) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {std::make_unique<ReadingEnd>(ends[0]), location, std::make_unique<Descriptor>(ends[1])};
}

class CudaVisionJsonStalled : public CudaVisionJsonPipe, public testing::WithParamInterface<const char *> {
 protected:
  Output output() const {
    const std::string kind = GetParam();
    if (kind == "terminal") return terminal();
    if (kind == "socket") return connected_socket();
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
                         testing::Values("named_pipe", "pipe", "pipe_by_name", "terminal", "socket"),
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

// What a program has printed stays in the buffer of `stdout`, and comes before the line when the reader has made room.
TEST_F(CudaVisionJsonPipe, text_in_the_buffer_of_stdout_waits_without_its_lock) {
  const Output output = unnamed_pipe("-");
  const Descriptor filler(open(("/proc/self/fd/" + std::to_string(output.standard_output->number())).c_str(),
                               O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  while (write(filler.number(), "x\n", 2) > 0) {
  }
  bool locked = true;
  std::string text;
  {
    const RedirectedOutput redirected(output.standard_output->number());
    std::printf("text\n");
    JsonHarness json("", "-");
    Pushing pushing(&json, frame());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    locked = ftrylockfile(stdout) != 0;
    if (!locked) funlockfile(stdout);
    text = output.reader->take();
    pushing.flow();
    text += output.reader->take();
  }
  EXPECT_FALSE(locked);
  const std::size_t begin = text.find("text\n{");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(Json(text.substr(begin + 5)).whole("frame"), 0);
}

}  // namespace
