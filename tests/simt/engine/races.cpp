// SPDX-License-Identifier: LGPL-2.1-or-later
// The shadow of the memory that kernels access, and the functions that the compiler calls before each access.
#include "tests/simt/engine/races.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/scheduler.h"

namespace simt {

bool View::knows(std::uint32_t block, unsigned thread, Time clock) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), block,
                       [](const Entry &entry, std::uint32_t key) { return entry.block < key; });
  return found != entries_.end() && found->block == block && (*found->clocks)[thread] >= clock;
}

// Shares one of two vectors of clocks if it is nowhere smaller than the other: the views of threads are similar.
void View::join(std::uint32_t block, const Clocks &clocks) {
  const auto cover = [](const std::vector<Time> &a, const std::vector<Time> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>());
  };
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), block,
                       [](const Entry &entry, std::uint32_t key) { return entry.block < key; });
  if (found == entries_.end() || found->block != block) {
    entries_.insert(found, {block, clocks});
  } else if (found->clocks == clocks || cover(*found->clocks, *clocks)) {
    return;
  } else if (cover(*clocks, *found->clocks)) {
    found->clocks = clocks;
  } else {
    std::vector<Time> both = *found->clocks;
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = std::max(both[i], (*clocks)[i]);
    found->clocks = std::make_shared<const std::vector<Time>>(std::move(both));
  }
}

void View::join(const View &other) {
  for (const Entry &entry : other.entries_) join(entry.block, entry.clocks);
}

std::vector<Time> View::clocks_of(std::uint32_t block, unsigned threads) const {
  for (const Entry &entry : entries_)
    if (entry.block == block) return *entry.clocks;
  return std::vector<Time>(threads);
}

void BlockClocks::begin(std::uint32_t block, unsigned threads, const std::shared_ptr<const View> &known) {
  block_ = block;
  threads_.assign(threads, {known, 1, nullptr, {}});
}

void BlockClocks::meet(const std::vector<unsigned> &threads) {
  View joined;
  std::vector<const View *> seen;
  for (const unsigned thread : threads) {
    const View *view = threads_[thread].view.get();
    if (std::find(seen.begin(), seen.end(), view) != seen.end()) continue;
    seen.push_back(view);
    joined.join(*view);
  }
  std::vector<Time> own = joined.clocks_of(block_, static_cast<unsigned>(threads_.size()));
  for (const unsigned thread : threads) own[thread] = threads_[thread].clock++;
  joined.join(block_, std::make_shared<const std::vector<Time>>(std::move(own)));
  const auto view = std::make_shared<const View>(std::move(joined));
  for (const unsigned thread : threads) threads_[thread].view = view;
}

bool BlockClocks::knows(unsigned thread, std::uint32_t block, unsigned other, Time clock) const {
  return clock == 0 || (block == block_ && other == thread) ||
         threads_[thread].view->knows(block, other, clock);
}

View BlockClocks::release(unsigned thread) {
  Thread &t = threads_[thread];
  View view = *t.view;
  std::vector<Time> own = view.clocks_of(block_, static_cast<unsigned>(threads_.size()));
  own[thread] = t.clock++;
  view.join(block_, std::make_shared<const std::vector<Time>>(std::move(own)));
  return view;
}

View BlockClocks::release_all() const {
  View all;
  std::vector<Time> own;
  for (const Thread &thread : threads_) {
    all.join(*thread.view);
    own.push_back(thread.clock);
  }
  all.join(block_, std::make_shared<const std::vector<Time>>(std::move(own)));
  return all;
}

void BlockClocks::acquire(unsigned thread, const View &view) {
  View joined = *threads_[thread].view;
  joined.join(view);
  threads_[thread].view = std::make_shared<const View>(std::move(joined));
}

void BlockClocks::fence(unsigned thread, View *order) {
  acquire(thread, std::exchange(threads_[thread].read, {}));
  acquire(thread, *order);
  threads_[thread].fenced = std::make_shared<const View>(release(thread));
  order->join(*threads_[thread].fenced);
}

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr unsigned kThreadBits = 10;      // up to 1024 threads per block
constexpr std::size_t kMostVersions = 4;  // kept of each word
constexpr std::size_t kMostPages = 2048;  // kept for the next kernel: 0.7 GB

struct Access {
  std::uint32_t block = 0;
  std::uint32_t thread : kThreadBits = 0, atomic : 1 = 0, exists : 1 = 0;
  Time clock = 0;
  const void *place = nullptr;
};

// The last write of a byte, and the last read since then of each of the two threads that read it last.
struct Cell {
  Access write;
  std::array<Access, 2> reads;
};

// A value of a word that an atomic has written.
struct Version {
  std::uint64_t bits = 0;  // the value; set only when a newer version is added
  std::uint32_t block = 0;
  unsigned thread = 0;
  Time clock = 0;                             // 0: every thread knows it
  std::shared_ptr<const View> released = {};  // what a load acquires, or null
};

struct Reading {
  std::uint32_t block;
  unsigned thread;
  Time clock;
  std::uint64_t version;
};

// The last versions of a word, and which of them were read by loads.
struct Word {
  std::size_t bytes = 0;
  std::uint64_t first = 0;  // the number of the oldest version
  std::vector<Version> versions = {{}};
  std::vector<Reading> readings;

  std::uint64_t last() const { return first + versions.size() - 1; }
};

struct Page {
  std::uint64_t kernel = 0;
  std::array<Cell, kPageBytes> cells;
  std::map<std::uintptr_t, Word> words;  // by their addresses
};

struct Shadow {
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages;
  std::uintptr_t last_number = 0;
  Page *last = nullptr;
  std::uint64_t kernel = 0;
  View fences;  // what all fences of these kernels have released
};

Shadow &shadow() {
  static auto &instance = *new Shadow;
  return instance;
}

bool has_hooks = false;
// Kernels run on one thread of the host at a time; others may run instrumented code of the host.
thread_local bool is_tracing = false;

Page &page_of(std::uintptr_t address) {
  Shadow &s = shadow();
  const std::uintptr_t number = address / kPageBytes;
  if (s.last == nullptr || s.last_number != number) {
    auto &page = s.pages[number];
    if (page == nullptr) page = std::make_unique<Page>();
    s.last = page.get();
    s.last_number = number;
  }
  if (s.last->kernel != s.kernel) {
    s.last->kernel = s.kernel;
    s.last->cells.fill({});
    s.last->words.clear();
  }
  return *s.last;
}

Cell &cell_at(std::uintptr_t address) { return page_of(address).cells[address % kPageBytes]; }

// The source line of an address of code, and the lines that call the functions inlined there.
std::string lines_of(const void *place) {
  Dl_info info;
  if (dladdr(place, &info) == 0) return "?";
  char command[512];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' %#tx", info.dli_fname,
                static_cast<const char *>(place) - 1 - static_cast<const char *>(info.dli_fbase));
  std::string lines;
  if (FILE *pipe = popen(command, "r"); pipe != nullptr) {
    for (char line[512]; std::fgets(line, sizeof line, pipe) != nullptr;) {
      const std::string text(line, std::char_traits<char>::length(line) - 1);
      if (text.find("tests/simt/emulated") == std::string::npos)
        lines += (lines.empty() ? "" : ", in ") + text;
    }
    pclose(pipe);
  }
  return lines;
}

const char *name_of(const Access &access, bool writes) {
  if (access.atomic != 0) return "atomic";
  return writes ? "write" : "read";
}

[[noreturn]] void die_of_race(const Access &before, bool before_writes, const Access &now, bool now_writes) {
  complain(cudaSuccess,
           "data race of two threads, neither of whose accesses happens before the other:\n"
           "  %s of thread %u of block %u at %s\n"
           "  %s of thread %u of block %u at %s",
           name_of(before, before_writes), unsigned{before.thread}, before.block,
           lines_of(before.place).c_str(), name_of(now, now_writes), unsigned{now.thread}, now.block,
           lines_of(now.place).c_str());
  std::abort();
}

// Aborts if the address is not aligned: a GPU refuses such an access.
void check_alignment(const void *pointer, std::size_t alignment, const void *place) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  complain(cudaErrorMisalignedAddress, "misaligned access of %zu bytes at %s", alignment,
           lines_of(place).c_str());
  std::abort();
}

void trace(const void *pointer, std::size_t bytes, bool writes, bool atomic, const void *place) {
  if (is_on_own_stack(pointer)) return;
  BlockClocks &clocks = running_clocks();
  const unsigned thread = running_thread();
  Access now;
  now.block = clocks.block();
  now.thread = thread & ((1u << kThreadBits) - 1);
  now.atomic = atomic;
  now.exists = 1;
  now.clock = clocks.clock(thread);
  now.place = place;
  const auto races_with = [&](const Access &before) {
    return before.exists != 0 && !(atomic && before.atomic != 0) &&
           !clocks.knows(thread, before.block, before.thread, before.clock);
  };
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::size_t i = 0; i < bytes; ++i) {
    Cell &cell = cell_at(address + i);
    if (races_with(cell.write)) die_of_race(cell.write, true, now, writes);
    if (writes) {
      for (const Access &read : cell.reads)
        if (races_with(read)) die_of_race(read, false, now, true);
      cell = {now, {}};
      continue;
    }
    auto &[last, other] = cell.reads;
    if (last.exists != 0 && (last.block != now.block || last.thread != now.thread)) other = last;
    last = now;
  }
}

Word &word_at(const void *pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Word &word = page_of(address).words[address];
  if (word.bytes != bytes) {
    word = {};
    word.bytes = bytes;
  }
  return word;
}

// The number of the version that a load of the thread returns.
std::uint64_t version_for(Word *word, const BlockClocks &clocks, unsigned thread) {
  std::uint64_t oldest = word->last();
  const auto known = [&](const auto &of) { return clocks.knows(thread, of.block, of.thread, of.clock); };
  for (; oldest > word->first; --oldest)
    if (known(word->versions[oldest - word->first])) break;
  for (const Reading &reading : word->readings)
    if (known(reading)) oldest = std::max(oldest, reading.version);
  const auto newer = static_cast<std::uint32_t>(word->last() - oldest);
  Shuffler &shuffler = device().shuffler;
  if (newer == 0 || !overlaps_kernels() || shuffler.below(2) == 0) return word->last();
  return oldest + shuffler.below(newer);
}

void note_reading(Word *word, const BlockClocks &clocks, unsigned thread, std::uint64_t version) {
  for (const Reading &reading : word->readings)
    if (reading.block == clocks.block() && reading.thread == thread && reading.version == version) return;
  word->readings.push_back({clocks.block(), thread, clocks.clock(thread), version});
}

void add_version(Word *word, const void *address, Version version) {
  std::memcpy(&word->versions.back().bits, address, word->bytes);
  word->versions.push_back(std::move(version));
  if (word->versions.size() <= kMostVersions) return;
  word->versions.erase(word->versions.begin());
  ++word->first;
  std::erase_if(word->readings, [word](const Reading &reading) { return reading.version <= word->first; });
}

}  // namespace

bool traces() { return has_hooks; }

void begin_tracing() {
  if (!has_hooks) return;
  Shadow &s = shadow();
  ++s.kernel;
  s.fences = {};
  if (s.pages.size() > kMostPages) {
    s.pages.clear();
    s.last = nullptr;
  }
  is_tracing = true;
}

void end_tracing() { is_tracing = false; }

void forget(const void *address, std::size_t bytes) {
  if (!has_hooks) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < bytes; ++i) {
    cell_at(begin + i) = {};
    page_of(begin + i).words.erase(begin + i);
  }
}

const void *trace_atomic(const void *address, std::size_t bytes, AtomicKind kind, MemoryOrder order) {
  if (!is_tracing) return nullptr;
  trace(address, bytes, kind != AtomicKind::load, true, __builtin_return_address(0));
  if (is_on_own_stack(address)) return nullptr;
  BlockClocks &clocks = running_clocks();
  const unsigned thread = running_thread();
  Word &word = word_at(address, bytes);
  const Time clock = clocks.clock(thread);
  std::uint64_t number = word.last();
  if (kind == AtomicKind::load) {
    number = version_for(&word, clocks, thread);
    note_reading(&word, clocks, thread, number);
  }
  const Version &read = word.versions[number - word.first];
  if (kind != AtomicKind::store && read.released != nullptr) {
    if (order == MemoryOrder::acquire || order == MemoryOrder::acq_rel)
      clocks.acquire(thread, *read.released);
    else
      clocks.note_read(thread, *read.released);
  }
  if (kind == AtomicKind::load) return number == word.last() ? nullptr : &read.bits;
  // A store ends the chain of atomics behind an earlier release; an update continues it.
  std::shared_ptr<const View> released = kind == AtomicKind::store ? nullptr : read.released;
  const auto release = [&released](const View &view) {
    View joined = released != nullptr ? *released : View();
    joined.join(view);
    released = std::make_shared<const View>(std::move(joined));
  };
  if (order == MemoryOrder::release || order == MemoryOrder::acq_rel)
    release(clocks.release(thread));
  else if (const View *fenced = clocks.fenced(thread); fenced != nullptr)
    release(*fenced);
  add_version(&word, address, {0, clocks.block(), thread, clock, std::move(released)});
  return nullptr;
}

void fence() {
  if (is_tracing) running_clocks().fence(running_thread(), &shadow().fences);
}

}  // namespace simt

// The functions that -fsanitize=thread makes the compiler call.
#define SIMT_EXPORT extern "C" [[gnu::visibility("default")]]
#define SIMT_HOOK(name, bytes, alignment, writes, atomic)                     \
  SIMT_EXPORT void __tsan_##name(void *address);                              \
  SIMT_EXPORT void __tsan_##name(void *address) {                             \
    if (!simt::is_tracing) return;                                            \
    simt::check_alignment(address, alignment, __builtin_return_address(0));   \
    simt::trace(address, bytes, writes, atomic, __builtin_return_address(0)); \
  }
#define SIMT_HOOKS(bytes)                                    \
  SIMT_HOOK(read##bytes, bytes, bytes, false, false)         \
  SIMT_HOOK(write##bytes, bytes, bytes, true, false)         \
  SIMT_HOOK(unaligned_read##bytes, bytes, 1, false, false)   \
  SIMT_HOOK(unaligned_write##bytes, bytes, 1, true, false)   \
  SIMT_HOOK(volatile_read##bytes, bytes, bytes, false, true) \
  SIMT_HOOK(volatile_write##bytes, bytes, bytes, true, true)

SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

SIMT_EXPORT void __tsan_init();
SIMT_EXPORT void __tsan_init() { simt::has_hooks = true; }
SIMT_EXPORT void __tsan_read_range(void *address, unsigned long bytes);
SIMT_EXPORT void __tsan_read_range(void *address, unsigned long bytes) {
  if (simt::is_tracing) simt::trace(address, bytes, false, false, __builtin_return_address(0));
}
SIMT_EXPORT void __tsan_write_range(void *address, unsigned long bytes);
SIMT_EXPORT void __tsan_write_range(void *address, unsigned long bytes) {
  if (simt::is_tracing) simt::trace(address, bytes, true, false, __builtin_return_address(0));
}
// Calls that the compiler makes in host code only: setting an object's vtable pointer, and C++ atomics.
SIMT_EXPORT void __tsan_vptr_update(void **address, void *value);
SIMT_EXPORT void __tsan_vptr_update(void **, void *) {}
#define SIMT_HOST_ATOMICS(bits, T)                                                   \
  SIMT_EXPORT T __tsan_atomic##bits##_load(const volatile T *address, int);          \
  SIMT_EXPORT T __tsan_atomic##bits##_load(const volatile T *address, int) {         \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                               \
  }                                                                                  \
  SIMT_EXPORT void __tsan_atomic##bits##_store(volatile T *address, T value, int);   \
  SIMT_EXPORT void __tsan_atomic##bits##_store(volatile T *address, T value, int) {  \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                              \
  }                                                                                  \
  SIMT_EXPORT T __tsan_atomic##bits##_fetch_add(volatile T *address, T value, int);  \
  SIMT_EXPORT T __tsan_atomic##bits##_fetch_add(volatile T *address, T value, int) { \
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);                     \
  }                                                                                  \
  SIMT_EXPORT T __tsan_atomic##bits##_fetch_sub(volatile T *address, T value, int);  \
  SIMT_EXPORT T __tsan_atomic##bits##_fetch_sub(volatile T *address, T value, int) { \
    return __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);                     \
  }
SIMT_HOST_ATOMICS(8, unsigned char)
SIMT_HOST_ATOMICS(32, unsigned)
SIMT_HOST_ATOMICS(64, unsigned long)
