// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets a write fail without a signal.
#pragma once

#include <cerrno>
#include <csignal>

namespace cudavision {

// Blocks the signals of a failed write in this thread while it exists (RAII): SIGPIPE, for a pipe without a
// reader, and SIGXFSZ, for a file beyond the limit on its size. By default they end the process. Other threads
// and an application's signal handlers are not affected.
class NoSignals {
 public:
  NoSignals() {
    sigemptyset(&signals_);
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 0) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~NoSignals() {
    const timespec at_once{};
    int taken = 0;
    do taken = sigtimedwait(&signals_, nullptr, &at_once);
    while (taken > 0 || (taken == -1 && errno == EINTR));
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;

 private:
  sigset_t signals_, before_;  // signals_: without those already pending, which are not ours to take
};

}  // namespace cudavision
