// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams, events, and the queueing of kernels.
#include "tests/simt/engine/stream.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/memory.h"
#include "tests/simt/engine/scheduler.h"

namespace simt {
namespace {

using Clock = std::chrono::steady_clock;

struct Work {
  std::function<void()> function;
  std::optional<Kernel> kernel = {};  // if set, it runs instead of the function
};

struct Queue {
  std::deque<Work> work;
  std::uint64_t enqueued = 0, done = 0;
};

// The position in a stream's queue up to which an event waits.
struct Mark {
  std::shared_ptr<Queue> queue;
  std::uint64_t position = 0;
  std::shared_ptr<Clock::time_point> reached;
};

}  // namespace
}  // namespace simt

struct CUstream_st {
  simt::Context owner = simt::kNoContext;
  bool blocking = true;
  std::shared_ptr<simt::Queue> queue = std::make_shared<simt::Queue>();
};

struct CUevent_st {
  unsigned flags = 0;
  simt::Mark mark;  // has no queue until the first record
  simt::Context owner = simt::kNoContext;
};

namespace simt {
namespace {

struct Streams {
  std::map<Context, std::shared_ptr<Queue>> null_streams;
  std::vector<cudaStream_t> streams;  // in the order of their creation
  std::set<cudaEvent_t> events;
  int draining = 0;
};

Streams &streams() {
  static auto &instance = *new Streams;
  return instance;
}

const std::shared_ptr<Queue> &shared_queue_of(cudaStream_t stream) {
  if (stream != nullptr) return stream->queue;
  auto &queue = streams().null_streams[current_context()];
  if (queue == nullptr) queue = std::make_shared<Queue>();
  return queue;
}

Queue &queue_of(cudaStream_t stream) { return *shared_queue_of(stream); }

// Keeps device memory accessible while at least one instance exists.
class Draining {
 public:
  Draining() {
    if (streams().draining++ == 0) show_device_memory();
  }
  Draining(const Draining &) = delete;
  Draining &operator=(const Draining &) = delete;
  ~Draining() {
    if (--streams().draining == 0) hide_device_memory();
  }
};

// Takes the kernel at the front, and those behind it that may start before it has ended.
std::vector<Kernel> take_kernels(Queue &queue) {
  std::vector<Kernel> kernels;
  do {
    kernels.push_back(std::move(*queue.work.front().kernel));
    queue.work.pop_front();
  } while (overlaps_kernels() && !queue.work.empty() && queue.work.front().kernel &&
           queue.work.front().kernel->starts_early);
  return kernels;
}

// Runs the work queued before the position. A queued wait for an event drains another queue recursively.
void drain(Queue &queue, std::uint64_t position) {
  if (queue.done >= position) return;
  const Draining draining;
  while (queue.done < position && !queue.work.empty()) {
    if (queue.work.front().kernel) {
      const std::vector<Kernel> kernels = take_kernels(queue);
      run_kernels(kernels);
      queue.done += kernels.size();
      continue;
    }
    const auto work = std::move(queue.work.front().function);
    queue.work.pop_front();
    work();
    ++queue.done;
  }
}

void drain(Queue &queue) { drain(queue, queue.enqueued); }

// Runs one piece of queued work, so that a host that calls a query in a loop until it succeeds makes progress.
cudaError_t poll(Queue &queue, std::uint64_t position) {
  if (queue.done >= position) return cudaSuccess;
  drain(queue, queue.done + 1);
  return cudaErrorNotReady;
}

void drop(Queue &queue) {
  queue.work.clear();
  queue.done = queue.enqueued;
}

bool is_event(cudaEvent_t event) { return streams().events.contains(event); }

cudaError_t check_stream_and_event(cudaStream_t stream, cudaEvent_t event) {
  const cudaError_t error = check_stream(stream);
  if (error != cudaSuccess) return error;
  return is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check_size(const cudaLaunchConfig_t &c) {
  const dim3 b = c.blockDim, g = c.gridDim;
  const bool empty = b.x == 0 || b.y == 0 || b.z == 0 || g.x == 0 || g.y == 0 || g.z == 0;
  const bool large_block = b.x > kMaxThreadsPerBlock || b.y > kMaxThreadsPerBlock || b.z > kMaxBlockZ ||
                           std::uint64_t{b.x} * b.y * b.z > kMaxThreadsPerBlock;
  const bool large_grid = g.x > kMaxGridX || g.y > kMaxGridYZ || g.z > kMaxGridYZ;
  if (!empty && !large_block && !large_grid) return cudaSuccess;
  return complain(cudaErrorInvalidConfiguration, "launch of %ux%ux%u blocks of %ux%ux%u threads", g.x, g.y,
                  g.z, b.x, b.y, b.z);
}

cudaError_t check_attributes(const cudaLaunchConfig_t &c) {
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = c.attrs[i];
    if (attribute.id == cudaLaunchAttributeIgnore) continue;
    if (attribute.id == cudaLaunchAttributeCooperative) continue;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) continue;
    return complain(cudaErrorNotSupported, "launch attribute %d is not emulated",
                    static_cast<int>(attribute.id));
  }
  return cudaSuccess;
}

bool is_cooperative(const cudaLaunchConfig_t &c) {
  return std::any_of(c.attrs, c.attrs + c.numAttrs, [](const cudaLaunchAttribute &a) {
    return a.id == cudaLaunchAttributeCooperative && a.val.cooperative != 0;
  });
}

bool starts_early(const cudaLaunchConfig_t &c) {
  return std::any_of(c.attrs, c.attrs + c.numAttrs, [](const cudaLaunchAttribute &a) {
    return a.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
           a.val.programmaticStreamSerializationAllowed != 0;
  });
}

// Checks that all blocks of a cooperative kernel fit on the device at once: one per multiprocessor, as if each used all
// of its shared memory.
cudaError_t check_residence(const cudaLaunchConfig_t &c) {
  const dim3 g = c.gridDim;
  if (!is_cooperative(c) || std::uint64_t{g.x} * g.y * g.z <= kMultiprocessors) return cudaSuccess;
  return complain(cudaErrorCooperativeLaunchTooLarge,
                  "cooperative launch of %ux%ux%u blocks on %d multiprocessors", g.x, g.y, g.z,
                  kMultiprocessors);
}

cudaError_t check_launch(const cudaLaunchConfig_t &c, const void *kernel) {
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = check_stream(c.stream); error != cudaSuccess) return error;
  if (const cudaError_t error = check_size(c); error != cudaSuccess) return error;
  if (const int limit = max_dynamic_shared_bytes(kernel);
      c.dynamicSmemBytes > static_cast<std::size_t>(limit))
    return complain(cudaErrorInvalidValue, "launch with %zu bytes of dynamic shared memory, %d are allowed",
                    c.dynamicSmemBytes, limit);
  if (const cudaError_t error = check_attributes(c); error != cudaSuccess) return error;
  return check_residence(c);
}

}  // namespace

cudaError_t check_stream(cudaStream_t stream) {
  if (stream == nullptr) return cudaSuccess;
  const auto &known = streams().streams;
  if (std::find(known.begin(), known.end(), stream) == known.end()) return cudaErrorInvalidResourceHandle;
  return check_owner(Object::stream, stream->owner);
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  Queue &queue = queue_of(stream);
  queue.work.push_back({std::move(work)});
  ++queue.enqueued;
}

void drop_all() {
  for (const auto &[context, queue] : streams().null_streams) drop(*queue);
  for (const cudaStream_t stream : streams().streams) drop(*stream->queue);
}

void drain_all() {
  for (const auto &[context, queue] : streams().null_streams) drain(*queue);
  for (const cudaStream_t stream : streams().streams) drain(*stream->queue);
}

void join_streams() {
  for (const cudaStream_t stream : streams().streams)
    if (stream->blocking && stream->owner == current_context())
      enqueue(nullptr,
              [queue = stream->queue, position = stream->queue->enqueued] { drain(*queue, position); });
}

void drain_null_stream() { drain(queue_of(nullptr)); }

void join_blocking_streams() {
  const std::lock_guard lock(device().mutex);
  join_streams();
}

void count_owned_streams(Context context, Owned *owned) {
  for (const cudaStream_t stream : streams().streams) owned->streams += stream->owner == context;
  for (const cudaEvent_t event : streams().events) owned->events += event->owner == context;
}

void release_streams(Context context) {
  auto &s = streams();
  if (const auto found = s.null_streams.find(context); found != s.null_streams.end()) {
    drop(*found->second);
    s.null_streams.erase(found);
  }
  std::erase_if(s.streams, [context](cudaStream_t stream) {
    if (stream->owner != context) return false;
    drop(*stream->queue);
    delete stream;
    return true;
  });
  std::erase_if(s.events, [context](cudaEvent_t event) {
    if (event->owner != context) return false;
    delete event;
    return true;
  });
}

cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, std::function<void()> thread_body) {
  return api({Call::launch, "cudaLaunchKernelEx"}, [&] {
    if (const cudaError_t error = check_launch(config, kernel); error != cudaSuccess) return error;
    ++device().counters.launches;
    Queue &queue = queue_of(config.stream);
    queue.work.push_back({{},
                          Kernel{config.gridDim, config.blockDim, config.dynamicSmemBytes,
                                 is_cooperative(config), starts_early(config), std::move(thread_body)}});
    ++queue.enqueued;
    return cudaSuccess;
  });
}

std::size_t live_streams() {
  const std::lock_guard lock(device().mutex);
  return streams().streams.size();
}

std::size_t live_events() {
  const std::lock_guard lock(device().mutex);
  return streams().events.size();
}

}  // namespace simt

using simt::api;
using simt::Call;

cudaError_t cudaDeviceSynchronize() {
  return api({Call::synchronise, __func__}, [] {
    ++simt::device().counters.synchronisations;
    simt::drain_all();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return api({Call::create, __func__}, [=] {
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = new CUstream_st{.owner = simt::current_context(), .blocking = flags == cudaStreamDefault};
    simt::streams().streams.push_back(*stream);
    ++simt::device().counters.streams_created;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api({Call::free, __func__}, [=] {
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = simt::check_stream(stream); error != cudaSuccess) return error;
    // Queued work is still executed, as on a real device.
    simt::drain(simt::queue_of(stream));
    std::erase(simt::streams().streams, stream);
    delete stream;
    ++simt::device().counters.streams_destroyed;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api({Call::synchronise, __func__}, [=] {
    if (const cudaError_t error = simt::check_stream(stream); error != cudaSuccess) return error;
    ++simt::device().counters.synchronisations;
    simt::drain(simt::queue_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api({Call::query, __func__}, [=] {
    if (const cudaError_t error = simt::check_stream(stream); error != cudaSuccess) return error;
    return simt::poll(simt::queue_of(stream), simt::queue_of(stream).enqueued);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api({Call::query, __func__}, [=] {
    if (const cudaError_t error = simt::check_stream_and_event(stream, event); error != cudaSuccess)
      return error;
    if (flags != 0) return cudaErrorInvalidValue;
    // Waiting for an event that was never recorded returns at once.
    if (event->mark.queue == nullptr) return cudaSuccess;
    simt::enqueue(stream, [mark = event->mark] { simt::drain(*mark.queue, mark.position); });
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return api({Call::create, __func__}, [=] {
    *event = new CUevent_st{flags, {}, simt::current_context()};
    simt::streams().events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api({Call::free, __func__}, [=] {
    if (simt::streams().events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api({Call::query, __func__}, [=] {
    if (const cudaError_t error = simt::check_stream_and_event(stream, event); error != cudaSuccess)
      return error;
    // An event can be waited for from any context, but recorded only on a stream of its own context.
    if (event->owner != (stream == nullptr ? simt::current_context() : stream->owner))
      return cudaErrorInvalidResourceHandle;
    const auto reached = std::make_shared<simt::Clock::time_point>();
    simt::enqueue(stream, [reached] { *reached = simt::Clock::now(); });
    event->mark = {simt::shared_queue_of(stream), simt::queue_of(stream).enqueued, reached};
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api({Call::synchronise, __func__}, [=] {
    if (!simt::is_event(event)) return cudaErrorInvalidResourceHandle;
    ++simt::device().counters.synchronisations;
    if (event->mark.queue != nullptr) simt::drain(*event->mark.queue, event->mark.position);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api({Call::query, __func__}, [=] {
    if (!simt::is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->mark.queue == nullptr) return cudaSuccess;
    return simt::poll(*event->mark.queue, event->mark.position);
  });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api({Call::query, __func__}, [=] {
    for (cudaEvent_t event : {start, end}) {
      if (!simt::is_event(event) || event->mark.queue == nullptr) return cudaErrorInvalidResourceHandle;
      if ((event->flags & cudaEventDisableTiming) != 0) return cudaErrorInvalidResourceHandle;
      if (event->mark.queue->done < event->mark.position) return cudaErrorNotReady;
    }
    *milliseconds =
        std::chrono::duration<float, std::milli>(*end->mark.reached - *start->mark.reached).count();
    return cudaSuccess;
  });
}
