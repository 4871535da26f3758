// SPDX-License-Identifier: LGPL-2.1-or-later
// A program in C++ that allocates memory in its own way, lets exceptions pass through elements, and uses elements until
// the very end: exit functions that were set before a plugin was loaded run after the plugin's static objects are
// destroyed.
#include <gst/gst.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace {

// Bytes in front of each block: to free a block with another allocator than made it is then a fault.
constexpr std::size_t kHeader = 64;

}  // namespace

void *operator new(std::size_t size) {
  auto *block = static_cast<char *>(std::malloc(kHeader + size));
  if (block == nullptr) throw std::bad_alloc();
  return block + kHeader;
}
void operator delete(void *memory) noexcept {
  if (memory != nullptr) std::free(static_cast<char *>(memory) - kHeader);
}
void operator delete(void *memory, std::size_t) noexcept { operator delete(memory); }

namespace {

std::vector<GstElement *> &used_elements() {
  static auto &elements = *new std::vector<GstElement *>;
  return elements;
}

// Reads all properties of an element, and writes them again.
void use_properties(GObject *element) {
  guint count = 0;
  g_autofree GParamSpec **properties = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  for (guint i = 0; i < count; ++i) {
    g_auto(GValue) value = G_VALUE_INIT;
    g_value_init(&value, properties[i]->value_type);
    if ((properties[i]->flags & G_PARAM_READABLE) != 0)
      g_object_get_property(element, properties[i]->name, &value);
    if ((properties[i]->flags & G_PARAM_WRITABLE) != 0)
      g_object_set_property(element, properties[i]->name, &value);
  }
}

void use_properties_at_exit() {
  for (GstElement *element : used_elements()) use_properties(G_OBJECT(element));
}

bool plays(const char *factory) {
  g_autofree gchar *text = g_strdup_printf(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=128 ! %s name=used ! fakesink",
      factory);
  g_autoptr(GstElement) pipeline = gst_parse_launch(text, nullptr);
  if (pipeline == nullptr) return false;
  used_elements().push_back(gst_bin_get_by_name(GST_BIN(pipeline), "used"));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) end = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return end != nullptr && GST_MESSAGE_TYPE(end) == GST_MESSAGE_EOS;
}

// Whether an exception of a callback passes through an element that starts.
bool passes_an_exception(const char *factory) {
  GstElement *element = gst_element_factory_make(factory, nullptr);
  used_elements().push_back(element);
  constexpr auto throw_number = +[](GObject *, GParamSpec *, gpointer) { throw 49; };
  g_signal_connect(element, "notify::active-backend", G_CALLBACK(throw_number), nullptr);
  try {
    gst_element_set_state(element, GST_STATE_PAUSED);
  } catch (const int number) {
    return number == 49;
  }
  return false;
}

}  // namespace

int main(int argc, char **argv) {
  std::atexit(use_properties_at_exit);
  gst_init(&argc, &argv);
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  int failed = features == nullptr || !passes_an_exception("cudacanny") ? 1 : 0;
  for (GList *i = features; i != nullptr; i = i->next) {
    const char *factory = GST_OBJECT_NAME(i->data);
    if (plays(factory)) continue;
    g_printerr("%s does not play\n", factory);
    ++failed;
  }
  gst_plugin_feature_list_free(features);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
