// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits of a writer, for its file or its turn, that another thread can cancel.
#include "gst/visionjson/output_turn.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "gst/visionjson/descriptor.h"

namespace cudavision {
namespace {

// Protects the outputs and their queues. It is held for moments only.
constinit std::mutex mutex;

// Never destroyed: a thread may still write while the process exits.
std::map<SharedOutput::Key, SharedOutput> &outputs() {
  static auto &instance = *new std::map<SharedOutput::Key, SharedOutput>;
  return instance;
}

}  // namespace

// --- Writer ---

Writer::~Writer() {
  if (event_ >= 0) close(event_);
}

int Writer::open() {
  event_ = above_standard_error(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_ < 0 ? errno : 0;
}

int Writer::wait(int file, int milliseconds) {
  if (cancelled_) return ECANCELED;
  pollfd ends[] = {{event_, POLLIN, 0}, {file, POLLOUT, 0}};
  if (poll(ends, 2, milliseconds) < 0) return errno == EINTR ? EAGAIN : errno;
  if ((ends[0].revents & POLLNVAL) != 0) return EBADF;  // the program has closed all descriptors
  eventfd_t ignored = 0;
  if (ends[0].revents != 0) eventfd_read(event_, &ignored);
  return ends[1].revents != 0 ? 0 : EAGAIN;
}

void Writer::wake() { eventfd_write(event_, 1); }

void Writer::cancel(bool cancelled) {
  cancelled_ = cancelled;
  wake();
}

// --- SharedOutput ---

SharedOutput *SharedOutput::acquire(const struct stat &file, bool empties, bool *is_first) {
  const std::lock_guard lock(mutex);
  const Key key(file.st_dev, file.st_ino);
  SharedOutput &output = outputs()[key];
  output.key = key;
  *is_first = ++output.users == 1;
  if (*is_first) output.is_being_emptied = empties;
  return &output;
}

void SharedOutput::end_emptying() {
  const std::lock_guard lock(mutex);
  is_being_emptied = false;
  if (!queue.empty()) queue.front()->wake();
}

void SharedOutput::release(bool keeps_rest) {
  const std::lock_guard lock(mutex);
  if (--users == 0 && (rest.empty() || !keeps_rest)) outputs().erase(Key(key));
}

// --- Turn ---

Turn::Turn(SharedOutput *output, Writer *writer) : output_(output), writer_(writer) {
  const std::lock_guard lock(mutex);
  output_->queue.push_back(writer_);
}

Turn::~Turn() {
  const std::lock_guard lock(mutex);
  std::erase(output_->queue, writer_);
  if (!output_->queue.empty()) output_->queue.front()->wake();
}

int Turn::wait() {
  while (!has_come())
    if (const int error = writer_->wait(-1, -1); error != EAGAIN) return error;
  return 0;
}

bool Turn::has_come() const {
  const std::lock_guard lock(mutex);
  return output_->queue.front() == writer_ && !output_->is_being_emptied;
}

}  // namespace cudavision
