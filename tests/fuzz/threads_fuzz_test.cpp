// SPDX-License-Identifier: LGPL-2.1-or-later
// Four threads use each element at the same time: one changes its state, one asks queries, one sets contexts, and one
// sets and reads properties. With ThreadSanitizer, a member that they share without a lock is found.
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/support.h"
#include "tests/fuzz/random_properties.h"

namespace {

using namespace cudavision::test;

class FuzzThreads : public ElementTest {};

GstCaps *some_caps(Random &random) {
  static const char *const kFormats[] = {"NV12", "GRAY8", "RGBA"};
  return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, random.pick(kFormats), "width",
                             G_TYPE_INT, static_cast<int>(random.in(40, 48)), "height", G_TYPE_INT,
                             static_cast<int>(random.in(40, 48)), "framerate", GST_TYPE_FRACTION, 30, 1,
                             nullptr);
}

// --- what each thread does, once ---

void ask(Random &random, GstElement *element) {
  const Owned<GstCaps> caps(some_caps(random));
  GstQuery *query = nullptr;
  switch (random.in(0, 9)) {
    case 0:
      query = gst_query_new_caps(caps.get());
      break;
    case 1:
      query = gst_query_new_accept_caps(caps.get());
      break;
    case 2:
      query = gst_query_new_context("gst.cuda.context");
      break;
    case 3:
      query = gst_query_new_latency();
      break;
    case 4:
      query = gst_query_new_position(GST_FORMAT_TIME);
      break;
    case 5:
      query = gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty("anything"));
      break;
    default:
      query = gst_query_new_allocation(caps.get(), random.chance(50));
  }
  const bool upstream = GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION && random.chance(50);
  GstPad *pad = gst_element_get_static_pad(element, upstream ? "src" : "sink");
  gst_pad_query(pad, query);
  gst_object_unref(pad);
  gst_query_unref(query);
}

// Makes the next frame or allocation query negotiate again, on whatever thread it comes.
void reconfigure(GstElement *element) {
  GstPad *pad = gst_element_get_static_pad(element, "src");
  gst_pad_mark_reconfigure(pad);
  gst_object_unref(pad);
}

void set_context(Random &random, GstElement *element) {
  GstContext *context =
      gst_context_new(random.chance(50) ? "gst.cuda.context" : "anything", random.chance(50));
  gst_element_set_context(element, context);
  gst_context_unref(context);
  reconfigure(element);
}

void read_property(Random &random, GstElement *element) {
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), specs[random.in(0, count - 1)]->name, &value);
  g_value_unset(&value);
  g_free(specs);
}

void change_property(Random &random, GstElement *element) {
  set_random_property(random, element, {48, 48});
  read_property(random, element);
}

// Calls a function again and again on a thread of its own while it exists (RAII).
class Beside {
 public:
  Beside(void (*act)(Random &, GstElement *), GstElement *element, std::uint64_t seed)
      : thread_([this, act, element, seed] {
          Random random(seed);
          for (; !ended_; std::this_thread::yield(), ++calls_) act(random, element);
        }) {}
  ~Beside() {
    ended_ = true;
    thread_.join();
  }
  int calls() const { return calls_; }

 private:
  std::atomic<bool> ended_ = false;
  std::atomic<int> calls_ = 0;
  std::thread thread_;
};

void set_state(const Owned<GstElement> &pipeline, GstState state) {
  gst_element_set_state(pipeline.get(), state);
}

TEST_F(FuzzThreads, queries_contexts_properties_and_states) {
  const int changes = kEmulated ? 12 : kSanitized ? 40 : 100;
  Random random(1);
  int calls = 0;
  for (const std::string &use : every_element()) {
    SCOPED_TRACE(use);
    const Owned<GstElement> pipeline = parse("videotestsrc ! video/x-raw,format=NV12,width=48,height=48 ! " +
                                             on_backend(use) + " name=e ! fakesink");
    GstElement *element = child(pipeline, "e");
    {
      const Beside queries(ask, element, random.next()), contexts(set_context, element, random.next()),
          properties(change_property, element, random.next());
      for (int i = 0; i < changes; ++i) {
        static const GstState kStates[] = {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PLAYING,
                                           GST_STATE_PLAYING};
        set_state(pipeline, random.pick(kStates));
        g_usleep(static_cast<gulong>(random.in(0, 3000)));
        if (take_error(pipeline.get()))
          set_state(pipeline, GST_STATE_NULL);  // properties that contradict each other
      }
      set_state(pipeline, GST_STATE_NULL);  // ends what the queries wait for
      calls += queries.calls() + contexts.calls() + properties.calls();
      EXPECT_GT(queries.calls(), 0);
    }
    reset_properties(element);
  }
  (void)take_glib_complaints();
  std::printf("%d calls on three threads\n", calls);
}

}  // namespace
