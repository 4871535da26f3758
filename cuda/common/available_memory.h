// SPDX-License-Identifier: LGPL-2.1-or-later
// The amount of memory that a backend can use.
#pragma once

#include <cstddef>
#include <string>

#include "cuda/common/execution.h"

namespace cudavision {

// CUDA: the free memory of the current device. CPU: the physical memory (not the free memory: the system can reclaim
// caches and swap), or the limit of the control group (container) of this process, if that is less.
Status available_memory(const Execution &execution, std::size_t *bytes);

// The least memory limit of a process's control group and of the groups that contain it, in version 1 or 2 of
// the kernel's interface; SIZE_MAX if there is none. groups: the contents of /proc/self/cgroup. root: where the
// control groups are mounted, /sys/fs/cgroup.
std::size_t memory_limit_of_groups(const std::string &groups, const std::string &root);

}  // namespace cudavision
