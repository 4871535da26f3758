// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which whole lines are written.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <string_view>

namespace cudavision {

// Writes each line immediately and without buffering. If a line does not fit on the disk, no part of it stays
// in the file. A pipe without a reader is an ordinary error: no signal is raised.
class LineFile {
 public:
  // Opens the standard output for "-"; creates or empties any other file. For a named pipe, waits for its
  // reader. Returns 0 or errno; after an error `made` is null.
  static int open(const std::string &location, std::unique_ptr<LineFile> *made);
  ~LineFile();
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;

  // Waits if the reader is slow. Returns 0 or errno; ECANCELED after cancel().
  int write(std::string_view lines);
  // Makes write() return, even while it waits for a reader. May be called from any thread. Part of a pipe's
  // last line may already be written.
  void cancel() { gst_poll_set_flushing(poll_, TRUE); }
  // Returns 0 or errno: some file systems report lack of space only on closing.
  int close();

 private:
  LineFile(int file, bool is_standard_output);

  int write_all(std::string_view lines);
  int write_part(std::string_view *rest);
  void take_back(std::size_t written);

  int file_;
  bool is_standard_output_;
  bool is_regular_;
  GstPoll *poll_;
};

}  // namespace cudavision
