// SPDX-License-Identifier: LGPL-2.1-or-later
// Test fixture that runs each test on every backend. Ordinary test programs use the CPU and the real GPU;
// programs compiled with the emulated CUDA use its thread orders.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cuda/common/execution.h"
#include "cuda/common/probe.h"
#include "tests/support/emulated.h"

#if CUDAVISION_HAVE_CUDA
#include <cuda_runtime.h>
#endif

namespace cudavision::test {

struct BackendCase {
  std::string name;
  Backend backend = Backend::cpu;
  int threads = 1;  // number of threads of the CPU backend
#if CUDAVISION_EMULATED
  simt::Schedule schedule = {};
#endif

  friend std::ostream &operator<<(std::ostream &out, const BackendCase &c) { return out << c.name; }
};

inline std::vector<BackendCase> backend_cases() {
#if CUDAVISION_EMULATED
  std::vector<BackendCase> cases;
  for (const simt::Schedule &schedule : simt::kSchedules) {
    // Different thread orders can only change results, which the build without sanitizers tests.
    if (kSanitized && cases.size() == 2) break;
    std::string name = "cuda_" + simt::to_string(schedule);
    for (char &c : name)
      if (c == ':') c = '_';
    cases.push_back({name, Backend::cuda, 1, schedule});
  }
  return cases;
#else
  return {{"cpu_1_thread", Backend::cpu, 1}, {"cpu_3_threads", Backend::cpu, 3}, {"cuda", Backend::cuda, 1}};
#endif
}

// The third argument of INSTANTIATE_TEST_SUITE_P.
inline auto on_every_backend() { return testing::ValuesIn(backend_cases()); }
inline std::string backend_name(const testing::TestParamInfo<BackendCase> &info) { return info.param.name; }

// EXPECT_TRUE(succeeds(call)) prints the text of an error.
inline testing::AssertionResult succeeds(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.text();
}
// Succeeds if the status is invalid_argument and has a text.
inline testing::AssertionResult refused(const Status &status) {
  if (status.code() == Status::Code::invalid_argument && !status.text().empty())
    return testing::AssertionSuccess();
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
#if CUDAVISION_HAVE_CUDA
    if (c.backend == Backend::cuda) {
      EXPECT_EQ(cudaStreamCreateWithFlags(&execution_.stream, cudaStreamNonBlocking), cudaSuccess);
    }
#endif
  }
  ExecutionOwner(const ExecutionOwner &) = delete;  // algorithms keep pointers into it
  ExecutionOwner &operator=(const ExecutionOwner &) = delete;
  ~ExecutionOwner() {
#if CUDAVISION_HAVE_CUDA
    if (execution_.stream != nullptr) {
      EXPECT_EQ(cudaStreamDestroy(execution_.stream), cudaSuccess);
    }
#endif
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
#if CUDAVISION_HAVE_CUDA
      int count = 0;
      if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        GTEST_SKIP() << "no CUDA device";
      }
      if (const Status status = probe_kernels(); !status.ok()) GTEST_SKIP() << status.text();
#else
      GTEST_SKIP() << "this build has no CUDA backend";
#endif
    }
#if CUDAVISION_EMULATED
    simt::reset();
    simt::set_schedule(GetParam().schedule);
#endif
    owner_ = std::make_unique<ExecutionOwner>(GetParam());
  }

  void TearDown() override {
    owner_.reset();
#if CUDAVISION_EMULATED
    const simt::Report report = simt::take_report();
    EXPECT_EQ(report.divergent_barriers, 0u);
    EXPECT_EQ(report.bad_masks, 0u);
    EXPECT_EQ(simt::live_allocations(), 0u);
    EXPECT_EQ(simt::live_host_allocations(), 0u);
    EXPECT_EQ(simt::live_streams(), 0u);
    EXPECT_EQ(simt::live_events(), 0u);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    simt::reset();
#endif
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
