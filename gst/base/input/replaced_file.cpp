// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/input/replaced_file.h"

#include <glib.h>
#include <sys/stat.h>

#include "gst/base/input/excerpt.h"
#include "gst/base/input/no_signals.h"

namespace cudavision {
namespace {

// Follows symbolic links, also to a file that does not exist yet, for which realpath() fails.
std::string target_of(std::string name) {
  constexpr int kMostLinks = 40;  // as in Linux: more cannot be opened
  for (int i = 0; i < kMostLinks; ++i) {
    g_autofree char *target = g_file_read_link(name.c_str(), nullptr);
    if (target == nullptr) break;
    g_autofree char *folder = g_path_get_dirname(name.c_str());
    name = g_path_is_absolute(target) ? target : std::string(folder) + '/' + target;
  }
  return name;
}

}  // namespace

Status replace_file(const std::string &location, const std::string &bytes) {
  const std::string target = target_of(location);
  const char *name = target.c_str();
  struct stat before {};
  const int mode = stat(name, &before) == 0 ? static_cast<int>(before.st_mode & 0777) : 0666;
  if ((mode & 0222) == 0)  // otherwise it would be replaced nevertheless
    return invalid_argument("it is write-protected");
  const NoSignals no_signals;
  g_autoptr(GError) error = nullptr;
  if (g_file_set_contents_full(name, bytes.data(), static_cast<gssize>(bytes.size()),
                               G_FILE_SET_CONTENTS_CONSISTENT, mode, &error))
    return {};
  return invalid_argument(excerpt(error->message));
}

}  // namespace cudavision
