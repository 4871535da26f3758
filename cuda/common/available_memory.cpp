// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/available_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cuda/common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include "cuda/common/check_cuda.h"
#endif

namespace cudavision {
namespace {

// The number in a file, or SIZE_MAX if the file is missing or holds no number, but for example the word "max".
std::size_t number_in(const std::string &path) {
  std::ifstream file(path);
  std::size_t number = SIZE_MAX;
  return file >> number ? number : SIZE_MAX;
}

// The least number in the files called `name` of a control group and of all groups that contain it. group: the path of
// the group below `root`, beginning with a slash.
std::size_t least_up_from(const std::string &root, std::string group, const char *name) {
  std::size_t least = SIZE_MAX;
  for (;;) {
    least = std::min(least, number_in(root + group + "/" + name));
    if (group.empty()) return least;
    const std::size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

std::string contents_of(const char *path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// SIZE_MAX if sysinfo() fails, as in a sandbox that forbids it. sysconf() would then return an arbitrary number.
std::size_t physical_memory() {
  struct sysinfo facts {};
  return sysinfo(&facts) == 0 ? static_cast<std::size_t>(facts.totalram) * facts.mem_unit : SIZE_MAX;
}

Status available_on_host(const Execution &, std::size_t *bytes) {
  *bytes =
      std::min(physical_memory(), memory_limit_of_groups(contents_of("/proc/self/cgroup"), "/sys/fs/cgroup"));
  return {};
}

#if CUDAVISION_HAVE_CUDA
Status available_on_device(const Execution &, std::size_t *bytes) {
  std::size_t total_bytes = 0;
  return CUDAVISION_CHECK_CUDA(cudaMemGetInfo(bytes, &total_bytes));
}
#endif

}  // namespace

// A line of `groups` is "number:controllers:path". With version 2 there is one line, without controllers. Inside a
// container the path may be that of the host; the limit is then in the file at the root of the mount.
std::size_t memory_limit_of_groups(const std::string &groups, const std::string &root) {
  std::size_t least = SIZE_MAX;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty())
      least = std::min(least, least_up_from(root, path, "memory.max"));
    else if (controllers == "memory")
      least = std::min(least, least_up_from(root + "/memory", path, "memory.limit_in_bytes"));
  }
  return least;
}

Status available_memory(const Execution &execution, std::size_t *bytes) {
  return run_on_backend(execution, available_on_host, CUDAVISION_IF_CUDA(available_on_device), bytes);
}

}  // namespace cudavision
