// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: files, the standard output, their errors, and the descriptors of the process.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/file_limit.h"
#include "tests/elements/json_outputs.h"

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
  json.flush();
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

TEST_F(CudaVisionJsonFile, append_keeps_the_lines_and_counts_anew) {
  JsonHarness json("append=true");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  for (int i = 0; i < 2; ++i) {
    json.restart();
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  }
  EXPECT_EQ(numbers_in(json.file()), (std::vector<gint64>{0, 1, 2, 0, 0}));
  g_object_set(json.element(), "append", FALSE, nullptr);
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);  // the property is for the next start
  json.restart();
  EXPECT_EQ(content(json.file()), "");
}

// A torn line is ended once, before the first line; a file that is empty or ends with a whole line gets no empty line.
TEST_F(CudaVisionJsonFile, append_ends_a_torn_line) {
  for (const std::string before : {"", "{}\n", "{\"frame\":0,\"pt", "{}\n{\"frame", "\n"}) {
    JsonHarness json("append=true");
    gst_element_set_state(json.element(), GST_STATE_NULL);
    std::ofstream(json.file()) << before;
    gst_element_set_state(json.element(), GST_STATE_PLAYING);
    EXPECT_EQ(content(json.file()), before) << "a start writes nothing";
    for (int i = 0; i < 2; ++i) EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    const bool torn = !before.empty() && before.back() != '\n';
    const std::string line = content(json.file()).substr(before.size() + (torn ? 1 : 0));
    EXPECT_EQ(content(json.file()), before + (torn ? "\n" : "") + line);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 2);
    EXPECT_EQ(line.substr(0, 11), "{\"frame\":0,");
  }
}

// A file system may let a user write a file that they may not read.
TEST_F(CudaVisionJsonFile, append_needs_no_right_to_read) {
  JsonHarness json("append=true");
  gst_element_set_state(json.element(), GST_STATE_NULL);
  std::ofstream(json.file()) << "{}\n";
  ASSERT_EQ(chmod(json.file().c_str(), 0222), 0);
  ASSERT_EQ(chmod(std::filesystem::path(json.file()).parent_path().c_str(), 0755), 0);
  const auto root =
      static_cast<uid_t>(setfsuid(65534));  // of this thread; without effect if this is not root
  gst_element_set_state(json.element(), GST_STATE_PLAYING);
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  setfsuid(root);
  ASSERT_EQ(chmod(json.file().c_str(), 0666), 0);
  EXPECT_EQ(content(json.file()).substr(0, 14), "{}\n{\"frame\":0,");
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

// --- the standard output ---

constexpr int kReadWrite = O_RDWR | O_CREAT | O_CLOEXEC;

TEST_F(CudaVisionJsonFile, standard_output_is_neither_emptied_nor_closed) {
  const std::string file = folder_.path("output");
  std::string line =
      R"({"frame":0,"pts":0,"running-time":0,"width":640,"height":480,"regions":[],"tensors":[]})";
  {
    const Descriptor output(open(file.c_str(), kReadWrite, 0600));
    const RedirectedOutput redirected(output.number());
    JsonHarness json("", "-");
    EXPECT_EQ(write(STDOUT_FILENO, "before\n", 7), 7);
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
    EXPECT_EQ(write(STDOUT_FILENO, "after\n", 6), 6);
    json.restart();
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  }
  EXPECT_EQ(content(file), "before\n" + line + "\nafter\n" + line + "\n");
}

TEST_F(CudaVisionJsonFile, line_does_not_wait_for_a_thread_that_has_the_lock_of_stdout) {
  const std::string file = folder_.path("output");
  bool passes = false;
  {
    const Descriptor output(open(file.c_str(), kReadWrite, 0600));
    const RedirectedOutput redirected(output.number());
    JsonHarness json("", "-");
    flockfile(stdout);
    passes = returns([&] { json.push(frame()); }, [] { funlockfile(stdout); });
    if (passes) funlockfile(stdout);
  }
  EXPECT_TRUE(passes);
  EXPECT_EQ(lines(file).size(), 1u);
}

// A program may close or redirect its standard output in the middle of a stream.
TEST_F(CudaVisionJsonFile, lines_stay_at_the_standard_output_of_the_start) {
  const std::string file = folder_.path("output"), other = folder_.path("other");
  const Descriptor output(open(file.c_str(), kReadWrite, 0600)), later(open(other.c_str(), kReadWrite, 0600));
  {
    const RedirectedOutput redirected(output.number());
    JsonHarness json("", "-");
    const RedirectedOutput again(later.number());
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  }
  EXPECT_EQ(lines(file).size(), 1u);
  EXPECT_EQ(content(other), "");
}

// --- descriptors ---

// The descriptors of the process, but for the one that lists them.
std::vector<int> descriptors() {
  std::vector<int> numbers;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    numbers.push_back(std::stoi(entry.path().filename()));
  std::erase_if(numbers, [](int number) { return fcntl(number, F_GETFD) < 0; });
  return numbers;
}

TEST_F(CudaVisionJsonFile, hundred_starts_leave_nothing_open) {
  const NamedPipe pipe(folder_.path("pipe"));
  for (const std::string &location : {std::string(), std::string("-"), pipe.path()}) {
    JsonHarness json("", location);
    json.restart();
    const std::vector<int> before = descriptors();
    for (int i = 0; i < 100; ++i) json.restart();
    EXPECT_EQ(descriptors(), before);
  }
}

// A program that the application starts inherits none. The flags of the standard output stay, since others use it.
TEST_F(CudaVisionJsonFile, descriptor_is_closed_at_exec_and_leaves_the_flags_of_the_standard_output) {
  const NamedPipe pipe(folder_.path("pipe"));
  const Descriptor end(open(pipe.path().c_str(), O_WRONLY | O_CLOEXEC));
  const RedirectedOutput redirected(end.number());
  for (const std::string &location : {std::string(), std::string("-"), pipe.path()}) {
    JsonHarness json("", location);
    gst_element_set_state(json.element(), GST_STATE_NULL);
    const std::vector<int> before = descriptors();
    json.restart();
    std::vector<int> opened = descriptors();
    std::erase_if(opened, [&](int one) { return std::count(before.begin(), before.end(), one) > 0; });
    EXPECT_EQ(opened.size(), 1u);
    for (const int one : opened) EXPECT_NE(fcntl(one, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(fcntl(end.number(), F_GETFL) & O_NONBLOCK, 0);
}

// Lets the process open only so many more files while it exists.
class FewDescriptors {
 public:
  explicit FewDescriptors(int free) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = fcntl(STDIN_FILENO, F_DUPFD, 0);
    EXPECT_GE(next, 0);
    close(next);
    const rlimit limit{static_cast<rlim_t>(next + free), before_.rlim_max};
    for (int one = next; one < next + free; ++one) EXPECT_LT(fcntl(one, F_GETFD), 0);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors &) = delete;
  FewDescriptors &operator=(const FewDescriptors &) = delete;

 private:
  rlimit before_;
};

TEST_F(CudaVisionJsonFile, start_without_free_descriptors_names_the_reason_and_spares_the_file) {
  for (const bool is_file : {true, false}) {
    JsonHarness json("", is_file ? "" : "-");
    gst_element_set_state(json.element(), GST_STATE_NULL);
    if (is_file) std::ofstream(json.file()) << "old\n";
    const int needed = is_file ? 2 : 1;
    for (int free = 0; free < needed; ++free) {
      const FewDescriptors few(free);
      EXPECT_EQ(gst_element_set_state(json.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
      EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
                     "Too many open files"));
      gst_element_set_state(json.element(), GST_STATE_NULL);
    }
    EXPECT_TRUE(!is_file || content(json.file()) == "old\n");
    const FewDescriptors few(needed);
    EXPECT_EQ(gst_element_set_state(json.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(json.element(), GST_STATE_NULL);
  }
}

// Closes the standard input, output and error while it exists.
class ClosedStandards {
 public:
  ClosedStandards() {
    std::fflush(stdout);
    for (int i = 0; i < 3; ++i) {
      before_[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
      close(i);
    }
  }
  ~ClosedStandards() {
    for (int i = 0; i < 3; ++i) {
      dup2(before_[i], i);
      close(before_[i]);
    }
  }
  ClosedStandards(const ClosedStandards &) = delete;
  ClosedStandards &operator=(const ClosedStandards &) = delete;

 private:
  int before_[3];
};

// The texts that a program prints to its closed standard output and error must not come into the file.
TEST_F(CudaVisionJsonFile, closed_standard_descriptors_stay_closed) {
  for (const bool has_output : {false, true}) {
    const std::string file = folder_.path(has_output ? "output" : "file");
    const Descriptor output(open(file.c_str(), kReadWrite, 0600));
    JsonHarness json("", has_output ? "-" : file);
    gst_element_set_state(json.element(), GST_STATE_NULL);
    std::vector<int> used;
    {
      const ClosedStandards closed;
      if (has_output) dup2(output.number(), STDOUT_FILENO);
      json.restart();
      json.push(frame());
      for (const int one : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(one, F_GETFD) >= 0) used.push_back(one);
    }
    EXPECT_EQ(used, has_output ? std::vector<int>{STDOUT_FILENO} : std::vector<int>());
    EXPECT_EQ(lines(file).size(), 1u);
  }
}

void expect_no_standard_output(int in_its_place) {
  const Owned<GstElement> json = parse("cudavisionjson");
  GstStateChangeReturn change = GST_STATE_CHANGE_SUCCESS;
  {
    const ClosedStandards closed;
    if (in_its_place >= 0) dup2(in_its_place, STDOUT_FILENO);
    change = gst_element_set_state(json.get(), GST_STATE_PAUSED);
  }
  EXPECT_EQ(change, GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(json.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
                 "the standard output: Bad file descriptor"));
}

TEST_F(CudaVisionJsonFile, closed_standard_output_is_an_error_also_if_gstreamer_has_taken_its_number) {
  int sockets[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const Descriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), socket(sockets[0]), other(sockets[1]);
  expect_no_standard_output(-1);
  expect_no_standard_output(event.number());
  expect_no_standard_output(socket.number());
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
  const std::string loop = folder_.path("loop"), socket = folder_.path("socket"), pipe = folder_.path("pipe");
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  expect_no_start(loop.c_str(), code, "'" + loop + "': Too many levels of symbolic links");
  ASSERT_EQ(mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  expect_no_start(socket.c_str(), code, "'" + socket + "': No such device or address");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_no_start(pipe.c_str(), code, "a pipe that nobody reads yet");
  expect_no_start("", code, "No such file");
  expect_no_start(nullptr, code, "No such file");
}

// Whether a second element is refused while a first one writes two lines, but not after the first one has stopped.
bool is_refused_meanwhile(const std::string &first, const std::string &second) {
  JsonHarness json("", first);
  const Owned<GstElement> other = parse("cudavisionjson location=" + second);
  bool refused = json.push(frame()) == GST_FLOW_OK;
  for (int i = 0; i < 2; ++i) {
    refused = refused && gst_element_set_state(other.get(), GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE &&
              is(take_error(other.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
                 "another element of the process writes to it");
    gst_element_set_state(other.get(), GST_STATE_NULL);
  }
  refused = refused && json.push(frame()) == GST_FLOW_OK;
  gst_element_set_state(json.element(), GST_STATE_NULL);
  return refused && gst_element_set_state(other.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
}

TEST_F(CudaVisionJsonFile, start_fails_while_another_element_writes_to_the_output) {
  const std::string file = folder_.path("output"), link = folder_.path("link");
  ASSERT_EQ(symlink(file.c_str(), link.c_str()), 0);
  for (const auto &[first, second] : {std::pair(file, link), {"-", "-"}, {"-", "/dev/stdout"}, {file, "-"}}) {
    bool refused = false;
    const Descriptor output(open(file.c_str(), kReadWrite | O_TRUNC | O_APPEND, 0600));
    {
      const RedirectedOutput redirected(output.number());
      refused = is_refused_meanwhile(first, second);
    }
    EXPECT_TRUE(refused) << first << " and " << second;
  }
  const NamedPipe pipe(folder_.path("pipe"));
  EXPECT_TRUE(is_refused_meanwhile(pipe.path(), pipe.path()));
}

// The element that is refused must not empty the file of the other one.
TEST_F(CudaVisionJsonFile, lines_stay_when_another_element_is_refused) {
  JsonHarness json;
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  expect_no_start(json.file().c_str(), GST_RESOURCE_ERROR_OPEN_WRITE, "another element");
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  EXPECT_EQ(numbers_in(json.file()), (std::vector<gint64>{0, 1}));
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

TEST_F(CudaVisionJsonFile, location_may_be_a_link_to_no_file_yet_a_descriptor_or_a_device) {
  const std::string link = folder_.path("link"), file = folder_.path("file"), other = folder_.path("other");
  ASSERT_EQ(symlink(file.c_str(), link.c_str()), 0);
  const Descriptor output(open(other.c_str(), kReadWrite, 0600));
  for (const std::string &location :
       {link, "/proc/self/fd/" + std::to_string(output.number()), std::string("/dev/null")}) {
    JsonHarness json("", location), null("", "/dev/null");
    EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  }
  EXPECT_EQ(lines(file).size(), 1u);
  EXPECT_EQ(lines(other).size(), 1u);
}

// --- errors while writing ---

TEST_F(CudaVisionJsonFile, full_disk_is_named_with_the_reason) {
  JsonHarness json("", "/dev/full");
  EXPECT_EQ(json.push(frame()), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "'/dev/full': No space left on device"));
}

TEST_F(CudaVisionJsonFile, line_that_does_not_fit_is_an_error_and_no_signal) {
  JsonHarness json("tensor-data=full append=true");
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  {
    const FileLimit limit(10000);
    EXPECT_EQ(json.push(long_frame()), GST_FLOW_ERROR);
  }
  EXPECT_TRUE(
      is(take_error(json.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, json.file()));
  json.restart();
  EXPECT_EQ(json.push(frame()), GST_FLOW_OK);
  const std::vector<std::string> written = lines(json.file());
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(Json(written[2]).whole("frame"), 0) << "the incomplete line has a line of its own";
}

}  // namespace
