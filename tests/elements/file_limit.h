// SPDX-License-Identifier: LGPL-2.1-or-later
// A limit on the length of files.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace cudavision::test {

// Limits the length of files while it exists. The default action of SIGXFSZ, which a write beyond the limit
// raises, is to end the process.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit &) = delete;
  FileLimit &operator=(const FileLimit &) = delete;

 private:
  rlimit before_;
};

}  // namespace cudavision::test
