// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that counts its maps and copies, each of which would download memory of a GPU.
#include <gst/gst.h>

#include <cstring>

#include "tests/meta/support.h"

namespace {

struct CountedMemory {
  GstMemory memory;
  guint8 *bytes;
};

struct CountedAllocator {
  GstAllocator parent;
};
struct CountedAllocatorClass {
  GstAllocatorClass parent;
};

}  // namespace

static GType counted_allocator_get_type();
G_DEFINE_TYPE(CountedAllocator, counted_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *alloc_counted(GstAllocator *allocator, gsize size, GstAllocationParams *) {
  auto *memory = g_new0(CountedMemory, 1);
  gst_memory_init(&memory->memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0, size);
  memory->bytes = static_cast<guint8 *>(g_malloc0(size));
  ++cudavision::test::memory_counts().alive;
  return &memory->memory;
}

static void free_counted(GstAllocator *, GstMemory *memory) {
  g_free(reinterpret_cast<CountedMemory *>(memory)->bytes);
  g_free(memory);
  --cudavision::test::memory_counts().alive;
}

static gpointer map_counted(GstMemory *memory, gsize, GstMapFlags) {
  if (!cudavision::test::memory_counts().mappable) return nullptr;
  ++cudavision::test::memory_counts().maps;
  return reinterpret_cast<CountedMemory *>(memory)->bytes;
}

static void unmap_counted(GstMemory *) {}

static GstMemory *copy_counted(GstMemory *memory, gssize, gssize) {
  ++cudavision::test::memory_counts().copies;
  GstMemory *copy = alloc_counted(memory->allocator, memory->size, nullptr);
  std::memcpy(reinterpret_cast<CountedMemory *>(copy)->bytes,
              reinterpret_cast<CountedMemory *>(memory)->bytes, memory->size);
  return copy;
}

static void counted_allocator_class_init(CountedAllocatorClass *klass) {
  klass->parent.alloc = alloc_counted;
  klass->parent.free = free_counted;
}

static void counted_allocator_init(CountedAllocator *self) {
  self->parent.mem_type = "Counted";
  self->parent.mem_map = map_counted;
  self->parent.mem_unmap = unmap_counted;
  self->parent.mem_copy = copy_counted;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

namespace cudavision::test {

MemoryCounts &memory_counts() {
  static MemoryCounts counts;
  return counts;
}

GstBuffer *counted_numbers(const std::vector<guint8> &bytes) {
  auto *allocator = static_cast<GstAllocator *>(g_object_new(counted_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  GstMemory *memory = alloc_counted(allocator, bytes.size(), nullptr);
  std::memcpy(reinterpret_cast<CountedMemory *>(memory)->bytes, bytes.data(), bytes.size());
  GstBuffer *buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  gst_object_unref(allocator);
  return buffer;
}

}  // namespace cudavision::test
