// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits of a writer that can be cancelled: for a file that takes bytes, and for its turn at a file to which several
// writers of the process write. No lock is held meanwhile.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <deque>
#include <string>
#include <utility>

namespace cudavision {

class Writer {
 public:
  Writer() = default;
  ~Writer();
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  // Returns 0 or errno: it takes a file descriptor. To be called once, before all other functions.
  int open();
  // Waits until the file takes bytes; a negative descriptor never does. Returns 0 if it does, EAGAIN when woken and
  // after so many milliseconds (a negative number has no end), ECANCELED while cancelled, or errno.
  int wait(int file, int milliseconds);
  // These may be called from any thread.
  void wake();
  void cancel(bool cancelled);

 private:
  int event_ = -1;
  std::atomic<bool> cancelled_ = false;
};

// A file, pipe or terminal that writers of the process have opened, each with a descriptor of its own.
struct SharedOutput {
  using Key = std::pair<dev_t, ino_t>;

  // Returns the output of an open file. It exists until each caller has released it. *is_first: whether nobody else has it;
  // then no turn comes until end_emptying(), if `empties` is set.
  static SharedOutput *acquire(const struct stat &file, bool empties, bool *is_first);
  void end_emptying();
  // keeps_rest: whether an output with a rest is kept for later writers.
  void release(bool keeps_rest);

  Key key;
  int users = 0;
  bool is_being_emptied = false;
  std::deque<Writer *> queue;  // the first one has the turn
  std::string rest;  // the end of a line whose writer was cancelled; only who has the turn may use it
};

// A place in the queue of an output while it exists (RAII).
class Turn {
 public:
  Turn(SharedOutput *output, Writer *writer);
  ~Turn();
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

  // Waits until all those before have left the queue. Returns 0, ECANCELED or errno.
  int wait();

 private:
  bool has_come() const;

  SharedOutput *output_;
  Writer *writer_;
};

}  // namespace cudavision
