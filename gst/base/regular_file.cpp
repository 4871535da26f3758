// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks a file that a property names before it is opened.
#include "gst/base/regular_file.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <cerrno>

namespace cudavision {

Status check_regular_file(const std::string &location) {
  GStatBuf status;
  if (g_stat(location.c_str(), &status) != 0) {
    const int error = errno;
    return {error == ENOENT ? Status::Code::no_file : Status::Code::invalid_argument,
            "it cannot be opened: " + std::string(g_strerror(error))};
  }
  if (S_ISREG(status.st_mode)) return {};
  return invalid_argument(S_ISDIR(status.st_mode) ? "it is a directory"
                                                  : "it is a pipe or a device, not a file");
}

}  // namespace cudavision
