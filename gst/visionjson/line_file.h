// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which whole lines are written.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <string_view>

namespace cudavision {

// Writes each line immediately and without buffering. If a line does not fit on the disk, no part of it stays
// in the file. A pipe whose reader has gone and a limit on the size of files are ordinary errors: no signal is
// raised.
class LineFile {
 public:
  // Opens the standard output for "-"; creates or empties any other file. A named pipe is opened by write(),
  // when it has a reader. Returns 0 or errno; after an error `made` is null.
  static int open(const std::string &location, std::unique_ptr<LineFile> *made);
  ~LineFile();
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;

  // Waits for the reader of a pipe, and if it is slow. Returns 0 or errno; ECANCELED while cancelled. The rest
  // of a line that was cancelled is written before the next one. Only a stop leaves a part of a line.
  // begun: whether the reader got any of these lines.
  int write(std::string_view lines, bool *begun);
  // Whether a part of a line that was cancelled is still to be written.
  bool owes_rest() const { return !rest_.empty(); }
  // While it is true, write() returns, even if it waits for a reader. May be called from any thread.
  void cancel(bool cancelled) { gst_poll_set_flushing(poll_, cancelled); }
  // Returns 0 or errno: some file systems report lack of space only on closing.
  int close();

 private:
  explicit LineFile(std::string location);

  int open_file();
  int open_pipe();
  void use(int file);
  int write_rest_and(std::string_view lines, bool *begun);
  int write_all(std::string_view lines, bool *begun);
  int write_part(std::string_view *rest);
  void take_back(std::size_t written);

  std::string location_;
  bool is_standard_output_;
  int file_ = -1;  // of a named pipe, once it has a reader
  bool is_regular_ = false;
  std::string rest_;  // of the line that was cancelled
  GstPoll *poll_;
};

}  // namespace cudavision
