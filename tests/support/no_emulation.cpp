// SPDX-License-Identifier: LGPL-2.1-or-later
// Linked into the test programs without emulated kernels: the controls of the emulator and of the stand-in
// driver do nothing, count nothing and report nothing.
#include "tests/fakecuda/fakecuda.h"
#include "tests/support/emulated.h"

namespace cudavision::test {

// Constants, so that other constants can be initialised with them.
extern constinit const bool kEmulated = false;
extern constinit const bool kSlow = kSanitized;

}  // namespace cudavision::test

namespace simt {

void set_schedule(Schedule) {}
std::string to_string(Schedule) { return ""; }
Counters counters() { return {}; }
Counters operator-(const Counters &, const Counters &) { return {}; }
Report take_report() { return {}; }
std::size_t live_allocations() { return 0; }
std::size_t live_bytes() { return 0; }
std::size_t live_host_allocations() { return 0; }
bool is_page_locked(const void *) { return false; }
std::size_t live_streams() { return 0; }
std::size_t live_events() { return 0; }
void fail_after(Call, unsigned, cudaError_t) {}
void lose_device_after(Call, unsigned, cudaError_t) {}
void lose_device(cudaError_t) {}
void set_device_count(int) {}
void set_memory_limit(std::size_t) {}
void reset() {}

}  // namespace simt

namespace fakecuda {

std::size_t live_contexts() { return 0; }
bool no_context_lives() { return true; }
std::size_t pushed_contexts() { return 0; }
void clear_stack() {}
std::size_t runtime_contexts() { return 0; }
std::size_t retained_primary_contexts() { return 0; }
unsigned primary_flags(int) { return 0; }
Counters counters() { return {}; }
std::vector<std::string> misuses() { return {}; }
std::vector<std::string> take_misuses() { return {}; }
void allow_peer_access(bool) {}
void fail_contexts(unsigned, CUresult) {}
void reset() {}

}  // namespace fakecuda
