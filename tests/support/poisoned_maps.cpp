// SPDX-License-Identifier: LGPL-2.1-or-later
// A library for LD_PRELOAD: when this project's code or a test ends a map, the addresses in its GstMapInfo or
// GstVideoFrame become unreadable ones. GStreamer 1.28 sets them to null; earlier versions keep them, so that their use
// is a fault that goes unseen. Maps of GStreamer's own code are left alone: its AVI demuxer reads the size of a map
// that has ended. GStreamer is looked for at the first call, so that programs without it, such as a shell, can load
// this library, too. It needs no library but C's, so that it does not change the order in which a program loads its
// libraries.
#include <dlfcn.h>
#include <gst/video/video.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/support/poisoned_maps.h"

using cudavision::test::kNowhere;

namespace {

// The function of GStreamer's library that the function of the same name in this file hides.
template <typename Function>
class Original {
 public:
  constexpr Original(const char *library, const char *name) : library_(library), name_(name) {}

  Function get() {
    void *found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      void *library = dlopen(library_, RTLD_LAZY | RTLD_NOLOAD);
      found = library != nullptr ? dlsym(library, name_) : nullptr;
      if (found == nullptr) std::abort();
      found_.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function>(found);
  }

 private:
  const char *library_, *name_;
  std::atomic<void *> found_{nullptr};
};

constexpr char kCore[] = "libgstreamer-1.0.so.0", kVideo[] = "libgstvideo-1.0.so.0";
Original<decltype(&gst_buffer_unmap)> buffer_unmap{kCore, "gst_buffer_unmap"};
Original<decltype(&gst_memory_unmap)> memory_unmap{kCore, "gst_memory_unmap"};
Original<decltype(&gst_video_frame_unmap)> frame_unmap{kVideo, "gst_video_frame_unmap"};

// Whether the code at this address belongs to GStreamer or one of its plugins, but not to this project.
bool is_foreign(const void *code) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return false;
  const char *slash = std::strrchr(info.dli_fname, '/');
  const std::string_view file = slash != nullptr ? slash + 1 : info.dli_fname;
  return file.starts_with("libgst") && !file.starts_with("libgstcudavision");
}

template <typename T>
void lead_nowhere(T *&pointer) {
  pointer = reinterpret_cast<T *>(kNowhere);
}

void poison(GstMapInfo *map) {
  lead_nowhere(map->memory);
  lead_nowhere(map->data);
  map->size = map->maxsize = kNowhere;
  for (gpointer &data : map->user_data) lead_nowhere(data);
}

void poison(GstVideoFrame *frame) {
  lead_nowhere(frame->buffer);
  lead_nowhere(frame->meta);
  for (gpointer &plane : frame->data) lead_nowhere(plane);
  for (GstMapInfo &map : frame->map) poison(&map);
}

}  // namespace

extern "C" {

void gst_buffer_unmap(GstBuffer *buffer, GstMapInfo *map) {
  buffer_unmap.get()(buffer, map);
  if (!is_foreign(__builtin_return_address(0))) poison(map);
}

void gst_memory_unmap(GstMemory *memory, GstMapInfo *map) {
  memory_unmap.get()(memory, map);
  if (!is_foreign(__builtin_return_address(0))) poison(map);
}

void gst_video_frame_unmap(GstVideoFrame *frame) {
  frame_unmap.get()(frame);
  if (!is_foreign(__builtin_return_address(0))) poison(frame);
}

}  // extern "C"
