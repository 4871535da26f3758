// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame on the CPU needs no system call.
#include <gst/gst.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/elements/every_element.h"
#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace {

using namespace cudavision::test;

using Counts = std::map<std::uint64_t, int>;  // by the numbers of the system calls

// Calls work() in a child process and counts the system calls of its main thread. Expects that work() returns true.
Counts system_calls_of(const std::function<bool()> &work) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    (void)raise(SIGSTOP);
    _exit(work() ? 0 : 1);
  }
  Counts counts;
  int state = 0, signal = 0;
  waitpid(child, &state, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (WIFSTOPPED(state)) {
    __ptrace_syscall_info info{};
    const bool is_call = WSTOPSIG(state) == (SIGTRAP | 0x80);
    if (is_call) ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
    if (is_call && info.op == PTRACE_SYSCALL_INFO_ENTRY) ++counts[info.entry.nr];
    signal = is_call || WSTOPSIG(state) == SIGSTOP ? 0 : WSTOPSIG(state);
    ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    waitpid(child, &state, 0);
  }
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << "the child ended with the state " << state;
  return counts;
}

GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

// Sends a frame again and again through the element. Between pads alone: a GstHarness signals each frame, which is a
// system call.
bool work_on(const VideoFrame &frame, const std::string &use, int count) {
  const Owned<GstElement> element = parse(use);
  const auto connect = [&element](GstStaticPadTemplate *made_from, const char *name) {
    GstPad *pad = GST_PAD(g_object_ref_sink(gst_pad_new_from_static_template(made_from, "test")));
    GstPad *theirs = gst_element_get_static_pad(element.get(), name);
    const bool is_source = GST_PAD_IS_SRC(pad);
    (void)gst_pad_link(is_source ? pad : theirs, is_source ? theirs : pad);
    gst_object_unref(theirs);
    return pad;
  };
  const Owned<GstPad> source(connect(&source_template, "sink")), sink(connect(&sink_template, "src"));
  gst_pad_set_chain_function(sink.get(), [](GstPad *, GstObject *, GstBuffer *buffer) {
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  });
  gst_pad_set_active(source.get(), TRUE), gst_pad_set_active(sink.get(), TRUE);
  gst_element_set_state(element.get(), GST_STATE_PLAYING);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(source.get(), gst_event_new_stream_start("stream"));
  gst_pad_push_event(source.get(), gst_event_new_caps(frame.caps().get()));
  gst_pad_push_event(source.get(), gst_event_new_segment(&segment));
  for (int i = 0; i < count; ++i)
    if (gst_pad_push(source.get(), frame.buffer().release()) != GST_FLOW_OK) return false;
  return true;
}

class FilterSystemCalls : public ElementTest {};

// The difference between many frames and twice as many, without the calls of the clock, which are system calls on some
// machines.
TEST_F(FilterSystemCalls, a_frame_on_the_cpu_makes_none) {
  if (backend() != "cpu") GTEST_SKIP() << "of the CPU backend";
  constexpr int kFrames = 100;
  const VideoFrame frame("NV12", {32, 24});
  // cudavisionjson writes each line at once
  for (const std::string &use : every_element({.left_out = {{"cudavisionjson", "it writes lines"}}})) {
    if (use.find("post-messages=true") != std::string::npos)
      continue;  // a message wakes a thread of the application
    SCOPED_TRACE(use);
    const std::string on_one_thread = on_backend(use, "n-threads=1");
    Counts some = system_calls_of([&] { return work_on(frame, on_one_thread, kFrames); });
    Counts twice = system_calls_of([&] { return work_on(frame, on_one_thread, 2 * kFrames); });
    twice.erase(SYS_clock_gettime);
    // GStreamer's pools signal a condition variable for each buffer that comes back, such as that of a tensor.
    if (GST_CHECK_VERSION(1, 24, 0)) twice.erase(SYS_futex);
    // The heap may grow once or twice, in one of the two processes.
    for (const auto &[number, count] : twice)
      EXPECT_LT(count - some[number], kFrames / 20) << "system call " << number << ", see asm/unistd.h";
  }
}

}  // namespace
