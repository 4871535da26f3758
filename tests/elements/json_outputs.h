// SPDX-License-Identifier: LGPL-2.1-or-later
// Outputs of cudavisionjson whose other end the test holds, and writes that wait for them.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "tests/elements/json_lines.h"

namespace cudavision::test {

// A frame whose line exceeds the capacity of a pipe.
inline Owned<GstBuffer> long_frame() {
  Owned<GstBuffer> buffer = frame();
  add_tensor(buffer.get(), "numbers", std::vector<guint32>(10000, G_MAXUINT32));
  return buffer;
}

// A descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) { EXPECT_GE(number, 0); }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// Another descriptor takes the place of the standard output while it exists. Messages of failed expectations go there,
// too, so expect nothing meanwhile.
class RedirectedOutput {
 public:
  explicit RedirectedOutput(int descriptor) : before_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    dup2(descriptor, STDOUT_FILENO);
  }
  ~RedirectedOutput() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  RedirectedOutput(const RedirectedOutput &) = delete;
  RedirectedOutput &operator=(const RedirectedOutput &) = delete;

 private:
  int before_;
};

// The end of an output from which the test reads; it is not blocking.
class ReadingEnd {
 public:
  explicit ReadingEnd(int descriptor) : end_(descriptor) { fcntl(descriptor, F_SETFL, O_NONBLOCK); }
  virtual ~ReadingEnd() = default;

  void close() { end_.close(); }
  void wait_until_it_is_full() const {
    for (int before = 0, now = 0; now == 0 || now != before;) {
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ioctl(end_.number(), FIONREAD, &now);
    }
  }
  // The data received so far.
  std::string take() const {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t n; (n = read(end_.number(), part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(n));
    return text;
  }
  // Waits for that many whole lines, at most half a minute.
  std::string take_lines(std::ptrdiff_t count) const {
    std::string text;
    for (int i = 0; i < 6000 && std::count(text.begin(), text.end(), '\n') < count; ++i) {
      text += take();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return text;
  }

 private:
  Descriptor end_;
};

// A named pipe.
class NamedPipe : public ReadingEnd {
 public:
  explicit NamedPipe(const std::string &path) : ReadingEnd(make(path)), path_(path) {}
  const std::string &path() const { return path_; }

 private:
  static int make(const std::string &path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return open(path.c_str(), O_RDONLY | O_NONBLOCK);
  }
  std::string path_;
};

// Pushes a frame from a thread of its own.
class Pushing {
 public:
  Pushing(JsonHarness *json, Owned<GstBuffer> frame)
      : thread_([this, json, frame = std::move(frame)]() mutable {
          flow_ = json->push(std::move(frame));
          waits_ = false;
        }) {}
  ~Pushing() { flow(); }
  Pushing(const Pushing &) = delete;
  Pushing &operator=(const Pushing &) = delete;

  bool waits() const { return waits_; }
  // Sends a signal to the thread.
  void interrupt() { pthread_kill(thread_.native_handle(), SIGUSR1); }
  // Waits for its end.
  GstFlowReturn flow() {
    if (thread_.joinable()) thread_.join();
    return flow_;
  }

 private:
  std::atomic<bool> waits_ = true;
  GstFlowReturn flow_ = GST_FLOW_OK;
  std::thread thread_;
};

// While it exists, SIGUSR1 does nothing but interrupt system calls.
class InterruptingSignal {
 public:
  InterruptingSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    EXPECT_EQ(sigaction(SIGUSR1, &action, &before_), 0);
  }
  ~InterruptingSignal() { sigaction(SIGUSR1, &before_, nullptr); }
  InterruptingSignal(const InterruptingSignal &) = delete;
  InterruptingSignal &operator=(const InterruptingSignal &) = delete;

 private:
  struct sigaction before_ {};
};

// Whether the function returns within half a minute. If it does not, `rescue` must make it return.
inline bool returns(const std::function<void()> &function, const std::function<void()> &rescue) {
  const std::future<void> done = std::async(std::launch::async, function);
  const bool in_time = done.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  if (!in_time) rescue();
  return in_time;
}

}  // namespace cudavision::test
