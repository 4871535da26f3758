// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of tensors that come from outside of the process: they are bounded for each stream and for the process.
#include "gst/meta/tensor_names.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace cudavision::test {
namespace {

// The number of names that a new stream can add: prefix0, prefix1 ...
int accepted_on_a_new_thread(const std::string &prefix) {
  int accepted = 0;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i)
      accepted += quark_of_foreign_name((prefix + std::to_string(i)).c_str()) != 0;
    EXPECT_NE(quark_of_foreign_name((prefix + "0").c_str()), 0u) << "a name that is known is no more memory";
  }).join();
  return accepted;
}

TEST(ForeignNames, one_stream_takes_a_part_and_all_together_the_most) {
  g_quark_from_string("stream0-0");
  int all = 0;
  for (int stream = 0; stream < kMostNewNames / kMostNewNamesOfStream; ++stream) {
    const int accepted = accepted_on_a_new_thread("stream" + std::to_string(stream) + "-");
    EXPECT_EQ(accepted, kMostNewNamesOfStream + (stream == 0 ? 1 : 0));  // one was known
    all += accepted;
  }
  EXPECT_EQ(all, 4096 + 1);
  EXPECT_EQ(quark_of_foreign_name("one more"), 0u);
  EXPECT_EQ(g_quark_try_string("one more"), 0u);
}

}  // namespace
}  // namespace cudavision::test
