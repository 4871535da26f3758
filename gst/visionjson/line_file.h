// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which whole lines are written.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

#include "gst/visionjson/output_turn.h"

namespace cudavision {

// Writes each line immediately and without buffering. If a line does not fit on the disk, no part of it stays
// in the file. A pipe whose reader has gone and a limit on the size of files are ordinary errors: no signal is
// raised. If several objects of the process write to one file, pipe or terminal, they take turns, line by line.
class LineFile {
 public:
  // What becomes of the lines that a file holds.
  enum class Existing { removed, kept };

  // Opens the standard output for "-"; creates any other file, or empties it unless its lines are kept. Does not wait:
  // a named pipe without a reader is opened later, by write(). Returns 0 or errno; after an error `made` is null.
  static int open(const std::string &location, Existing existing, std::unique_ptr<LineFile> *made);
  ~LineFile() { close(); }
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;

  // Waits for the reader of a pipe, if there is none or it is slow, and for this object's turn. Returns 0, ECANCELED
  // while cancelled, or errno. The rest of a line that was cancelled is written before the next line of any object of
  // the process. If the file ends with an incomplete line from before, a line feed ends that line first.
  // begun: whether the reader got any of these lines.
  int write(std::string_view lines, bool *begun);
  // Writes the rest of a line that was cancelled, if there is one. Returns 0 or errno.
  int finish();
  // While cancelled, write() and finish() return ECANCELED instead of waiting. May be called from any thread.
  void cancel(bool cancelled) { writer_.cancel(cancelled); }
  // Returns 0 or errno: some file systems report lack of space only on closing.
  int close();

 private:
  LineFile(const std::string &location, Existing existing)
      : location_(location), is_standard_output_(location == "-"), existing_(existing) {}

  int open_standard_output();
  int open_location(int create);
  bool is_pipe_without_reader(int error) const;
  int wait_for_reader();
  int use(int file, bool may_block);
  int end_torn_line();
  int flush_standard_output();
  int write_all(std::string_view lines, bool *begun);
  int write_part(std::string_view *rest);
  void take_back(std::size_t written);

  const std::string location_;
  const bool is_standard_output_;
  const Existing existing_;
  bool is_behind_whole_lines_ = false;  // its last line is known to be complete (Existing::kept)
  Writer writer_;
  int file_ = -1;
  mode_t kind_ = 0;                 // type of the file, such as S_IFREG
  std::size_t most_ = 0;            // the most bytes that one write() takes without blocking
  SharedOutput *output_ = nullptr;  // null before a named pipe has a reader
};

}  // namespace cudavision
