// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output that takes whole lines.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <string_view>

namespace cudavision {

// Every line is written at once and kept back nowhere. Of a line that does not fit on the disk nothing is
// left in the file. A pipe whose reader has gone is an error like others: no signal is raised.
class LineFile {
 public:
  // "-" is the standard output; another file is made, or emptied. A named pipe waits for its reader.
  // 0, or errno; `made` is null then.
  static int open(const std::string &location, std::unique_ptr<LineFile> *made);
  ~LineFile();
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;

  // 0, or errno; ECANCELED after cancel(). Waits for a reader that is slow.
  int write(std::string_view lines);
  // From any thread: write() gives up, also one that waits for a reader. Of a pipe's last line a part may
  // have gone out.
  void cancel() { gst_poll_set_flushing(poll_, TRUE); }
  // 0, or errno: some file systems tell only now that they had no space.
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
