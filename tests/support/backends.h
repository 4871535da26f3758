// SPDX-License-Identifier: LGPL-2.1-or-later
// Test fixture that runs each test on every backend. Ordinary test programs use the CPU and the real GPU;
// programs with emulated kernels use the thread orders of the emulated CUDA.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cuda/common/execution.h"
#include "tests/support/device.h"
#include "tests/support/emulated.h"
#include "tests/support/part.h"

namespace cudavision::test {

struct BackendCase {
  std::string name;
  Backend backend = Backend::cpu;
  int threads = 1;               // number of threads of the CPU backend
  simt::Schedule schedule = {};  // of the emulated CUDA

  friend std::ostream &operator<<(std::ostream &out, const BackendCase &c) { return out << c.name; }
};

inline std::vector<BackendCase> backend_cases() {
  if (!kEmulated)
    return {
        {"cpu_1_thread", Backend::cpu, 1}, {"cpu_3_threads", Backend::cpu, 3}, {"cuda", Backend::cuda, 1}};
  std::vector<BackendCase> cases;
  const auto add = [&cases](const simt::Schedule &schedule) {
    std::string name = "cuda_" + simt::to_string(schedule);
    std::replace(name.begin(), name.end(), ':', '_');
    cases.push_back({name, Backend::cuda, 1, schedule});
  };
  for (std::size_t i = 0; i < simt::kSchedules.size(); ++i) {
    // Different thread orders can only change results, which the build without sanitizers tests.
    if (kSanitized && cases.size() == 1) break;
    // The first part has the order that differs most from the natural one, and a random one with three resident blocks.
    if (!is_made(i == 1 || i == 5)) continue;
    add(simt::kSchedules[i]);
  }
  // For long runs: so many random orders more. The name of a test that fails has the seed.
  if (const char *orders = std::getenv("CUDAVISION_ORDERS"); orders != nullptr)
    for (unsigned seed = 100; seed < 100 + std::strtoul(orders, nullptr, 10); ++seed)
      add({simt::Order::interleaved, seed, 2 + seed % 5});
  return cases;
}

// The third argument of INSTANTIATE_TEST_SUITE_P.
inline auto on_every_backend() { return testing::ValuesIn(backend_cases()); }
inline std::string backend_name(const testing::TestParamInfo<BackendCase> &info) { return info.param.name; }

// EXPECT_TRUE(succeeds(call)) prints the text of an error.
inline testing::AssertionResult succeeds(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.text();
}
// Succeeds if the status is invalid_argument or too_small and has a text.
inline testing::AssertionResult refused(const Status &status) {
  const bool refused =
      status.code() == Status::Code::invalid_argument || status.code() == Status::Code::too_small;
  if (refused && !status.text().empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (status.ok() ? "it was accepted"
                                                     : "refused otherwise: " + status.text());
}

// Owns the threads or the stream that an Execution points to.
class ExecutionOwner {
 public:
  explicit ExecutionOwner(const BackendCase &c) {
    execution_.backend = c.backend;
    if (c.backend == Backend::cpu) {
      workers_ = std::make_unique<Workers>(c.threads);
      execution_.workers = workers_.get();
    }
    if (c.backend == Backend::cuda) {
      EXPECT_TRUE(make_stream(&execution_.stream));
    }
  }
  ExecutionOwner(const ExecutionOwner &) = delete;  // algorithms keep pointers into it
  ExecutionOwner &operator=(const ExecutionOwner &) = delete;
  ~ExecutionOwner() {
    if (execution_.stream != nullptr) {
      EXPECT_TRUE(destroy_stream(execution_.stream));
    }
  }

  const Execution &execution() const { return execution_; }

 private:
  Execution execution_;
  std::unique_ptr<Workers> workers_;
};

class BackendTest : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda) {
      if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
    }
    simt::reset();
    simt::set_schedule(GetParam().schedule);
    owner_ = std::make_unique<ExecutionOwner>(GetParam());
  }

  void TearDown() override {
    owner_.reset();
    const simt::Report report = simt::take_report();
    EXPECT_EQ(report.divergent_barriers, 0u);
    EXPECT_EQ(report.bad_masks, 0u);
    EXPECT_EQ(simt::live_allocations(), 0u);
    EXPECT_EQ(simt::live_host_allocations(), 0u);
    EXPECT_EQ(simt::live_streams(), 0u);
    EXPECT_EQ(simt::live_events(), 0u);
    if (kEmulated) {
      EXPECT_EQ(take_last_error(), "");
    }
    simt::reset();
  }

  const Execution &execution() const { return owner_->execution(); }

 private:
  std::unique_ptr<ExecutionOwner> owner_;
};

}  // namespace cudavision::test

// Runs the tests of a fixture derived from BackendTest on every backend.
#define CUDAVISION_TEST_ON_EVERY_BACKEND(Fixture)                             \
  INSTANTIATE_TEST_SUITE_P(, Fixture, ::cudavision::test::on_every_backend(), \
                           ::cudavision::test::backend_name)
