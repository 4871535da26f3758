// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: files, pipes and the standard output, and their errors.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "tests/elements/json_lines.h"

namespace {

using namespace cudavision::test;

class CudaVisionJsonFile : public ElementTest {
 protected:
  Folder folder_;
};

// The frame numbers in the lines of a file.
std::vector<gint64> numbers_in(const std::string &file) {
  std::vector<gint64> numbers;
  for (const std::string &line : lines(file)) numbers.push_back(Json(line).whole("frame"));
  return numbers;
}

// A frame whose line exceeds the capacity of a pipe.
Owned<GstBuffer> long_frame() {
  Owned<GstBuffer> buffer = frame();
  add_tensor(buffer.get(), "numbers", std::vector<guint32>(10000, G_MAXUINT32));
  return buffer;
}

// --- whole lines ---

TEST_F(CudaVisionJsonFile, line_is_there_when_its_frame_has_passed) {
  JsonHarness json;
  EXPECT_EQ(content(json.file()), "");
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(lines(json.file()).size(), i);
  }
}

TEST_F(CudaVisionJsonFile, end_of_stream_and_stop_add_nothing) {
  JsonHarness json("tensor-data=full");
  EXPECT_EQ(json.push(long_frame()), GST_FLOW_OK);
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  const std::string before = content(json.file());
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_eos()));
  EXPECT_EQ(content(json.file()), before);
  gst_element_set_state(json.element(), GST_STATE_NULL);
  EXPECT_EQ(content(json.file()), before);
  EXPECT_EQ(lines(json.file()).size(), 2u);
}

TEST_F(CudaVisionJsonFile, flush_keeps_lines_and_count) {
  JsonHarness json;
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_segment(&segment)));
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(numbers_in(json.file()), (std::vector<gint64>{0, 1}));
}

TEST_F(CudaVisionJsonFile, start_empties_the_file_and_counts_anew) {
  JsonHarness json;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  json.restart();
  EXPECT_EQ(content(json.file()), "");
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(numbers_in(json.file()), (std::vector<gint64>{0}));
}

TEST_F(CudaVisionJsonFile, location_changed_while_playing_is_for_the_next_start) {
  JsonHarness json;
  const std::string next = folder_.path("next.jsonl");
  set(json.element(), "location", next);
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(lines(json.file()).size(), 1u);
  EXPECT_NE(access(next.c_str(), F_OK), 0);
  json.restart();
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(lines(next).size(), 1u);
}

TEST_F(CudaVisionJsonFile, two_elements_may_write_to_one_file) {
  const std::string file = folder_.path("shared.jsonl");
  JsonHarness one("source=one", file), two("source=two tensor-data=full", file);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(two.push(long_frame()), GST_FLOW_OK);
  }
  const std::vector<std::string> all = lines(file);
  ASSERT_EQ(all.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(Json(all[i]).text("source"), i % 2 == 0 ? "one" : "two");
}

TEST_F(CudaVisionJsonFile, hundred_starts_leave_nothing_open) {
  const auto next_descriptor = [] {
    const int descriptor = dup(STDIN_FILENO);
    close(descriptor);
    return descriptor;
  };
  JsonHarness json;
  json.restart();
  const int before = next_descriptor();
  for (int i = 0; i < 100; ++i) json.restart();
  EXPECT_EQ(next_descriptor(), before);
}

// --- the standard output ---

// Redirects the standard output to a file while it exists.
class RedirectedOutput {
 public:
  explicit RedirectedOutput(const std::string &file) : before_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(descriptor, STDOUT_FILENO);
    close(descriptor);
  }
  ~RedirectedOutput() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }
  RedirectedOutput(const RedirectedOutput &) = delete;
  RedirectedOutput &operator=(const RedirectedOutput &) = delete;

 private:
  int before_;
};

TEST_F(CudaVisionJsonFile, standard_output_keeps_the_order_of_what_others_print) {
  const std::string file = folder_.path("output");
  std::string line =
      R"({"frame":0,"pts":0,"running-time":0,"width":640,"height":480,"regions":[],"tensors":[]})";
  {
    const RedirectedOutput redirected(file);
    JsonHarness json("", "-");
    std::printf("before\n");  // stays in the buffer, because the output is a file
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    std::printf("after\n");
    json.restart();  // neither empties nor closes the output
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  }
  EXPECT_EQ(content(file), "before\n" + line + "\nafter\n" + line + "\n");
}

// --- errors at the start ---

void expect_no_start(const char *location, int code, const std::string &words) {
  const Owned<GstElement> json = parse("cudavisionjson");
  g_object_set(json.get(), "location", location, nullptr);
  EXPECT_EQ(gst_element_set_state(json.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(json.get()), GST_RESOURCE_ERROR, code, words));
}

TEST_F(CudaVisionJsonFile, what_cannot_be_opened_is_named_with_the_reason) {
  const int code = GST_RESOURCE_ERROR_OPEN_WRITE;
  const std::string missing = folder_.path("no/such/folder.jsonl");
  expect_no_start(missing.c_str(), code, "'" + missing + "': No such file or directory");
  expect_no_start(folder_.path("").c_str(), code, folder_.path("") + "': Is a directory");
  expect_no_start("", code, "No such file");
  expect_no_start(nullptr, code, "No such file");
}

TEST_F(CudaVisionJsonFile, start_succeeds_once_the_folder_is_there) {
  const std::string folder = folder_.path("late"), file = folder + "/lines.jsonl";
  const Owned<GstElement> json = parse("cudavisionjson location=" + file);
  EXPECT_EQ(gst_element_set_state(json.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(take_error(json.get()));
  gst_element_set_state(json.get(), GST_STATE_NULL);
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  EXPECT_NE(gst_element_set_state(json.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
}

// --- errors while writing ---

TEST_F(CudaVisionJsonFile, full_disk_is_named_with_the_reason) {
  JsonHarness json("", "/dev/full");
  EXPECT_EQ(json.push(frame()), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "'/dev/full': No space left on device"));
}

// Limits the length of files while it exists. The default action of SIGXFSZ, which a write beyond the limit
// raises, is to end the process.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit &) = delete;
  FileLimit &operator=(const FileLimit &) = delete;

 private:
  rlimit before_;
};

TEST_F(CudaVisionJsonFile, line_that_does_not_fit_leaves_no_half) {
  JsonHarness json("tensor-data=full");
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  const std::string before = content(json.file());
  {
    const FileLimit limit(10000);
    EXPECT_EQ(json.push(long_frame()), GST_FLOW_ERROR);
  }
  EXPECT_TRUE(
      is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, json.file()));
  EXPECT_EQ(content(json.file()), before);
}

// --- pipes ---

// A named pipe; the test holds the reading end.
class NamedPipe {
 public:
  explicit NamedPipe(const std::string &path) : path_(path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    end_ = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    EXPECT_GE(end_, 0);
  }
  ~NamedPipe() { close_end(); }
  NamedPipe(const NamedPipe &) = delete;
  NamedPipe &operator=(const NamedPipe &) = delete;

  const std::string &path() const { return path_; }
  void close_end() {
    if (end_ >= 0) close(end_);
    end_ = -1;
  }
  void wait_until_it_is_full() const {
    for (int before = 0, now = 0; now == 0 || now != before;) {
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ioctl(end_, FIONREAD, &now);
    }
  }
  // The data received so far.
  std::string take() const {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t n; (n = read(end_, part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(n));
    return text;
  }

 private:
  std::string path_;
  int end_ = -1;
};

TEST_F(CudaVisionJsonFile, pipe_gives_every_line_at_once) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("", pipe.path());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(Json(pipe.take()).whole("frame"), i);
  }
}

TEST_F(CudaVisionJsonFile, reader_of_a_pipe_may_be_slow) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  std::string text;
  std::thread reader([&] {
    while (text.empty() || text.back() != '\n') {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      text += pipe.take();
    }
  });
  EXPECT_EQ(json.push(long_frame()), GST_FLOW_OK);
  reader.join();
  EXPECT_EQ(Json(text).length("tensors.0.data"), 10000u);
}

TEST_F(CudaVisionJsonFile, pipe_without_its_reader_is_the_end_of_the_stream_and_no_signal) {
  NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("", pipe.path());
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  pipe.close_end();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(json.push(frame()), GST_FLOW_EOS);  // SIGPIPE would end the test here
  EXPECT_FALSE(take_error(json.element()));
  EXPECT_FALSE(take_warning(json.element()));
  sigset_t set;
  EXPECT_EQ(sigpending(&set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  EXPECT_EQ(sigismember(&set, SIGPIPE), 0);
}

TEST_F(CudaVisionJsonFile, reader_that_goes_ends_a_line_that_waits_for_it) {
  NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread streaming([&] { flow = json.push(long_frame()); });
  pipe.wait_until_it_is_full();
  pipe.close_end();
  streaming.join();
  EXPECT_EQ(flow, GST_FLOW_EOS);
  EXPECT_FALSE(take_error(json.element()));
}

// A flushing seek must not wait for the reader. The line that it interrupts is completed before the next one.
TEST_F(CudaVisionJsonFile, flush_does_not_wait_for_a_stalled_reader_and_no_line_is_torn) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread streaming([&] { flow = json.push(long_frame()); });
  pipe.wait_until_it_is_full();
  GstHarness *harness = json.get();
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_flush_start()));
  streaming.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
  std::string text;
  std::thread reader([&] {
    while (std::count(text.begin(), text.end(), '\n') < 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      text += pipe.take();
    }
  });
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  reader.join();
  const std::size_t end = text.find('\n');
  EXPECT_EQ(Json(text.substr(0, end + 1)).length("tensors.0.data"), 10000u);
  EXPECT_EQ(Json(text.substr(end + 1)).whole("frame"), 1);
}

TEST_F(CudaVisionJsonFile, pipe_without_a_reader_yet_blocks_neither_the_start_nor_the_stop) {
  const std::string path = folder_.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const int milliseconds : {0, 100}) {  // before the frame arrives, and while it waits
    JsonHarness json("", path);
    GstFlowReturn flow = GST_FLOW_OK;
    std::thread streaming([&] { flow = json.push(frame()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    gst_element_set_state(json.element(), GST_STATE_READY);
    streaming.join();
    EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  }
}

TEST_F(CudaVisionJsonFile, pipe_waits_for_its_first_reader) {
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

// As `gst-launch-1.0 … ! cudavisionjson ! fakesink | head -2` at a terminal.
TEST_F(CudaVisionJsonFile, pipeline_ends_as_at_the_end_of_the_stream_when_its_reader_goes) {
  NamedPipe pipe(folder_.path("pipe"));
  std::atomic<int> passed = 0;
  const Owned<GstElement> pipeline =
      parse("videotestsrc ! video/x-raw,width=64,height=48 ! cudahistogram backend=" + backend() +
            " ! cudavisionjson location=" + pipe.path() + " ! fakesink name=sink signal-handoffs=true");
  g_signal_connect(child(pipeline, "sink"), "handoff",
                   G_CALLBACK(+[](GstElement *, GstBuffer *, GstPad *, std::atomic<int> *n) { ++*n; }),
                   &passed);
  std::thread reader([&] {
    for (int i = 0; i < 600000 && passed < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pipe.close_end();
  });
  EXPECT_TRUE(plays_to_the_end(pipeline));  // the source has no end
  reader.join();
}

TEST_F(CudaVisionJsonFile, reader_that_never_reads_does_not_keep_the_element_from_stopping) {
  const NamedPipe pipe(folder_.path("pipe"));
  JsonHarness json("tensor-data=full", pipe.path());
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread streaming([&] { flow = json.push(long_frame()); });
  pipe.wait_until_it_is_full();
  EXPECT_EQ(gst_element_set_state(json.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  streaming.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_FALSE(take_error(json.element()));
}

}  // namespace
