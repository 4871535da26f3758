// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what all algorithms share: the limits of memory and the floating-point environment.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "cuda/common/available_memory.h"
#include "cuda/common/backends.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/owned_memory.h"
#include "cuda/common/standard_arithmetic.h"

namespace {

using namespace cudavision;

// --- the limit of a container ---

class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/cudavision-groups-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string &path, const std::string &text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::size_t limit(const std::string &groups) const { return memory_limit_of_groups(groups, root_); }

 private:
  std::string root_;
};

TEST_F(ControlGroups, least_limit_of_a_group_and_those_around_it_counts) {
  write("/a/memory.max", "3000000\n");
  write("/a/b/memory.max", "max\n");
  write("/a/b/c/memory.max", "5000000\n");
  EXPECT_EQ(limit("0::/a/b/c\n"), 3000000u);
  EXPECT_EQ(limit("0::/a/b\n"), 3000000u);
  write("/a/b/c/memory.max", "2000000\n");
  EXPECT_EQ(limit("0::/a/b/c\n"), 2000000u);
}

TEST_F(ControlGroups, limit_of_a_container_stands_at_the_root_of_the_mount) {
  write("/memory.max", "4096\n");
  EXPECT_EQ(limit("0::/of/the/host\n"), 4096u);
  EXPECT_EQ(limit("0::/\n"), 4096u);
}

TEST_F(ControlGroups, version_1_has_a_tree_for_memory) {
  write("/memory/a/memory.limit_in_bytes", "7000\n");
  EXPECT_EQ(limit("5:cpu,cpuacct:/x\n4:memory:/a\n"), 7000u);
  EXPECT_EQ(limit("5:cpu,cpuacct:/a\n"), SIZE_MAX);
}

TEST_F(ControlGroups, what_says_nothing_is_no_limit) {
  for (const char *groups : {"", "\n", "0", "0:", "0::", "nonsense", "0::no slash", "0::/nowhere\n"})
    EXPECT_EQ(limit(groups), SIZE_MAX) << groups;
}

TEST(AvailableMemory, of_this_machine_is_something) {
  const Workers workers(1);
  std::size_t bytes = 0;
  ASSERT_TRUE(available_memory({Backend::cpu, &workers}, &bytes).ok());
  EXPECT_GT(bytes, std::size_t{16} << 20);
  EXPECT_LT(bytes, std::size_t{1} << 50);
}

// --- the budget of an element ---

TEST(MemoryBudget, everything_is_charged_and_given_back) {
  const auto budget = std::make_shared<MemoryBudget>();
  budget->set_limit(1000, "the test allows");
  {
    const MemoryBudget::Scope scope(budget);
    const Workers workers(1);
    const Execution cpu{Backend::cpu, &workers};
    OwnedBytes bytes;
    ASSERT_TRUE(bytes.allocate(cpu, 300).ok());
    Array<std::uint16_t> array(100);
    EXPECT_EQ(budget->used(), 500u);
    Array<std::uint16_t> copy = array, moved = std::move(array);
    EXPECT_EQ(budget->used(), 700u);
    const Status status = bytes.allocate(cpu, 601);  // its 300 bytes are given back first
    EXPECT_EQ(status.code(), Status::Code::out_of_memory);
    EXPECT_EQ(status.text(), "at least 1001 bytes are needed, and the test allows 1000");
    EXPECT_EQ(budget->used(), 400u);
    const Status of_array = catch_bad_alloc([&] {
      copy.resize(1000);
      return Status();
    });
    EXPECT_EQ(of_array.text(), "at least 2400 bytes are needed, and the test allows 1000");
  }
  EXPECT_EQ(budget->used(), 0u);
}

TEST(MemoryBudget, array_that_grows_outside_of_the_scope_stays_with_its_budget) {
  const auto budget = std::make_shared<MemoryBudget>();
  Array<char> without;
  {
    const MemoryBudget::Scope scope(budget);
    without.resize(10);
    EXPECT_EQ(budget->used(), 0u);
    Array<char> with;
    {
      const MemoryBudget::Scope none(nullptr);
      with.resize(10);
    }
    EXPECT_EQ(budget->used(), 10u);
  }
  EXPECT_EQ(budget->used(), 0u);
}

// --- the floating-point environment ---

TEST(StandardArithmetic, rounds_to_nearest_and_restores_what_the_application_has_set) {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    {
      const StandardArithmetic arithmetic;
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      const StandardArithmetic within;
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
    EXPECT_EQ(std::fegetround(), mode);
  }
  std::fesetround(FE_TONEAREST);
}

#if defined(__x86_64__)
// The control register of SSE, and that of the x87 unit, in which `long double` is computed.
TEST(StandardArithmetic, knows_every_setting_of_the_registers) {
  std::fenv_t before;
  std::fegetenv(&before);
  std::uint16_t x87 = 0x27f;  // a precision of 53 bits
  for (int bit = 6; bit < 16; ++bit) {
    const unsigned changed = 0x1f80u ^ 1u << bit;
    if (bit >= 7 && bit <= 12) std::feclearexcept(FE_ALL_EXCEPT);  // otherwise it would raise a signal
    __builtin_ia32_ldmxcsr(changed);
    {
      const StandardArithmetic arithmetic;
      EXPECT_EQ(__builtin_ia32_stmxcsr() & ~0x3fu, 0x1f80u) << "bit " << bit;
    }
    EXPECT_EQ(__builtin_ia32_stmxcsr() & ~0x3fu, changed);
  }
  std::fesetenv(&before);
  asm volatile("fldcw %0" : : "m"(x87));
  {
    const StandardArithmetic arithmetic;
    asm volatile("fnstcw %0" : "=m"(x87));
    EXPECT_EQ(x87, 0x37f);
  }
  asm volatile("fnstcw %0" : "=m"(x87));
  EXPECT_EQ(x87, 0x27f);
  std::fesetenv(&before);
}
#endif

}  // namespace
