// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which lines are written.
#pragma once

#include <gst/gst.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

namespace cudavision {

// Writes each line at once, without a buffer. A pipe whose reader has gone and a limit on the size of files are
// ordinary errors: no signal is raised.
class LineFile {
 public:
  LineFile() = default;
  ~LineFile() { close(); }
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;

  // Opens the standard output for "-"; creates any other file, or empties it unless `append` is set. Returns 0 or
  // errno: ENXIO for a named pipe without a reader, EBUSY if another object of the process has the same output open.
  int open(const std::string &location, bool append);
  // Waits for a slow reader. Returns 0, ECANCELED while cancelled, or errno. A cancelled line is not lost: what is left
  // of it is written before the next line.
  int write(std::string_view line);
  // May be called from any thread.
  void cancel(bool cancelled);
  // Does nothing if no file is open. Returns 0 or errno: some file systems report lack of space only on closing.
  int close();

 private:
  int prepare(bool is_standard_output, bool append);
  int write_part(std::string_view *rest);

  // Ends waits for a reader. It exists all the time, so that cancel() needs no lock.
  const std::unique_ptr<GstPoll, decltype(&gst_poll_free)> poll_{gst_poll_new(TRUE), gst_poll_free};
  GstPollFD file_ = GST_POLL_FD_INIT;
  struct stat status_ {};
  bool is_registered_ = false;  // as the only one of the process that has this output open
  std::string rest_;            // written before the next line
};

}  // namespace cudavision
