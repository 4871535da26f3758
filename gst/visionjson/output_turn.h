// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits of a writer that another thread can cancel: until a file takes bytes, and for the turn at a file to which
// several writers of the process write. No lock is held during a wait.
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

  // Creates the eventfd that ends waits. To be called once, before all other functions. Returns 0 or errno.
  int open();
  // Waits until the file takes bytes. Returns 0 then, EAGAIN after wake(), cancel() or `milliseconds` (negative: no
  // limit), ECANCELED if cancelled before, or errno. file: negative to wait for the other events alone.
  int wait(int file, int milliseconds);
  // wake() and cancel() may be called from any thread.
  void wake();
  void cancel(bool cancelled);

 private:
  int event_ = -1;
  std::atomic<bool> cancelled_ = false;
};

// A file, pipe or terminal that writers of the process have opened, each with a descriptor of its own.
struct SharedOutput {
  using Key = std::pair<dev_t, ino_t>;

  // Returns the output of an open file, which exists until each caller has released it. *is_first: whether nobody else
  // has acquired it. If so, and if `empties` is set, Turn::wait() waits for end_emptying().
  static SharedOutput *acquire(const struct stat &file, bool empties, bool *is_first);
  void end_emptying();
  // keeps_rest: keeps an output with a `rest` after its last user, so that a later writer writes the rest.
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

  // Waits until all writers ahead have left the queue. Returns 0, ECANCELED or errno.
  int wait();

 private:
  bool has_come() const;

  SharedOutput *output_;
  Writer *writer_;
};

}  // namespace cudavision
