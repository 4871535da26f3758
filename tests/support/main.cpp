// SPDX-License-Identifier: LGPL-2.1-or-later
// main() of every test program. Exits with 77, which Meson counts as skipped, if every test was skipped.
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  constexpr int kSkipped = 77;
  return failed == 0 && all.test_to_run_count() == all.skipped_test_count() && !GTEST_FLAG_GET(list_tests)
             ? kSkipped
             : failed;
}
