// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of one's own detector and the marks of frames at which it has looked: on buffers and in pad probes.
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

using Regions = std::vector<GstCudaVisionRegion>;

// The regions of the buffer. keeper: owns the strings to which they point.
Regions regions_of(GstBuffer *buffer, Owned<GList> *keeper) {
  keeper->reset(gst_cuda_vision_buffer_get_regions(buffer));
  Regions regions;
  for (const GList *item = keeper->get(); item != nullptr; item = item->next)
    regions.push_back(*static_cast<GstCudaVisionRegion *>(item->data));
  return regions;
}

gboolean add_person(GstBuffer *buffer, gint id = 0, GError **error = nullptr) {
  return gst_cuda_vision_buffer_add_region(buffer, "person", 1, 2, 3, 4, kNoScore, nullptr, id, error);
}

gint64 results(const Owned<GstBuffer> &buffer, const char *type) {
  return gst_cuda_vision_buffer_get_n_results(buffer.get(), type);
}

// Runs the call, which fails, and returns its message.
std::string message_of(const std::function<bool(GError **)> &call) {
  g_autoptr(GError) error = nullptr;
  EXPECT_FALSE(call(&error));
  EXPECT_FALSE(call(nullptr));
  if (error == nullptr) return "";
  EXPECT_TRUE(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
  return error->message;
}

TEST(AttachRegion, regions_are_read_as_they_were_attached) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  ASSERT_TRUE(gst_cuda_vision_buffer_add_region(buffer.get(), "face", -10, -2147483647 - 1, 2147483647, 0,
                                                -0.5, "Zoë", 42, nullptr));
  ASSERT_TRUE(
      gst_cuda_vision_buffer_add_region(buffer.get(), "car", 7, 8, 9, 10, kNoScore, nullptr, 3, nullptr));
  Owned<GList> keeper;
  const Regions regions = regions_of(buffer.get(), &keeper);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_STREQ(regions[0].type, "face");
  EXPECT_EQ(regions[0].x, -10);
  EXPECT_EQ(regions[0].y, G_MININT);
  EXPECT_EQ(regions[0].width, guint{G_MAXINT});
  EXPECT_EQ(regions[0].height, 0u);
  EXPECT_EQ(regions[0].score, -0.5);
  EXPECT_STREQ(regions[0].label, "Zoë");
  EXPECT_EQ(regions[0].id, 42);
  EXPECT_TRUE(std::isnan(regions[1].score));
  EXPECT_EQ(regions[1].label, nullptr);
  EXPECT_FALSE(regions[1].predicted);
  EXPECT_EQ(regions[1].parent_id, 0);
  GstCudaVisionRegion *copy = gst_cuda_vision_region_copy(&regions[0]);
  keeper.reset();
  EXPECT_STREQ(copy->label, "Zoë") << "a copy keeps its label";
  gst_cuda_vision_region_free(copy);
}

TEST(AttachRegion, ids_are_new_unless_they_are_given) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  for (const gint id : {0, -1, 7, 0, G_MAXINT, 0}) ASSERT_TRUE(add_person(buffer.get(), id));
  Owned<GList> keeper;
  std::vector<gint> ids;
  for (const GstCudaVisionRegion &region : regions_of(buffer.get(), &keeper)) ids.push_back(region.id);
  EXPECT_EQ(ids, (std::vector<gint>{1, 2, 7, 8, G_MAXINT, 3}));
}

TEST(AttachRegion, regions_are_removed_by_type_or_all) {
  const Owned<GstBuffer> buffer = frame();
  attach_all(buffer.get());
  gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), 0, 1, 2, 3, 4);
  for (const char *type : {"person", "car", "person"})
    ASSERT_TRUE(gst_cuda_vision_buffer_add_region(buffer.get(), type, 1, 2, 3, 4, 0, nullptr, 0, nullptr));
  EXPECT_EQ(gst_cuda_vision_buffer_remove_regions(buffer.get(), "dog", nullptr), 0);
  EXPECT_EQ(gst_cuda_vision_buffer_remove_regions(buffer.get(), "person", nullptr), 2);
  Owned<GList> keeper;
  ASSERT_EQ(regions_of(buffer.get(), &keeper).size(), 2u);
  EXPECT_STREQ(regions_of(buffer.get(), &keeper)[1].type, "car");
  EXPECT_EQ(gst_cuda_vision_buffer_remove_regions(buffer.get(), nullptr, nullptr), 2);
  EXPECT_EQ(regions_of(buffer.get(), &keeper).size(), 0u);
  EXPECT_NE(gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "grid"), nullptr) << "other metas stay";
  EXPECT_EQ(results(buffer, "person"), 2) << "what the detector found is still known";
}

// --- marks ---

TEST(AttachRegion, marks_tell_nothing_found_from_not_analysed) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  EXPECT_EQ(results(buffer, "person"), -1);
  EXPECT_EQ(results(buffer, nullptr), -1);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "person", 0, nullptr));
  EXPECT_EQ(results(buffer, "person"), 0);
  EXPECT_EQ(results(buffer, "car"), -1);
  EXPECT_EQ(results(buffer, nullptr), 0);
  EXPECT_EQ(gst_buffer_get_n_meta(buffer.get(), gst_cuda_vision_analysis_meta_api_get_type()), 1u);
  ASSERT_TRUE(add_person(buffer.get()));
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "car", 3, nullptr));
  EXPECT_EQ(results(buffer, "person"), 1);
  EXPECT_EQ(results(buffer, nullptr), 4);
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 0, nullptr));
  EXPECT_EQ(results(buffer, "dog"), 0) << "marked for all types";
  EXPECT_EQ(results(buffer, "person"), 1);
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "car", G_MAXUINT, nullptr));
  EXPECT_EQ(results(buffer, "car"), gint64{G_MAXUINT}) << "the sum does not wrap around";
}

// The frame with a mark for two people, and with one for all types and five results.
Owned<GstBuffer> marked_frame() {
  Owned<GstBuffer> buffer = frame();
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "person", 2, nullptr));
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 5, nullptr));
  return buffer;
}

TEST(AttachRegion, marks_stay_on_copies) {
  const Owned<GstBuffer> buffer = marked_frame();
  const Owned<GstBuffer> copy(gst_buffer_copy(buffer.get())), deep(gst_buffer_copy_deep(buffer.get()));
  const auto flags = static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_META | GST_BUFFER_COPY_MEMORY);
  const Owned<GstBuffer> part(gst_buffer_copy_region(buffer.get(), flags, 30, 60));
  // Scaled: elements ask this only of metas with coordinates, but a mark would follow, too.
  const Owned<GstBuffer> scaled(gst_buffer_new());
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer.get(), &state,
                                                          gst_cuda_vision_analysis_meta_api_get_type()))
    meta->info->transform_func(scaled.get(), meta, buffer.get(), gst_video_meta_transform_scale_get_quark(),
                               nullptr);
  for (const auto *other : {&copy, &deep, &part, &scaled}) {
    EXPECT_EQ(results(*other, "person"), 7);
    EXPECT_EQ(results(*other, "car"), 5);
  }
}

TEST(AttachRegion, marks_stay_on_frames_of_another_format_or_size) {
  int installed = 0;
  for (const char *elements :
       {"videoconvert ! capsfilter caps=video/x-raw,format=I420",
        "videoscale ! capsfilter caps=video/x-raw,width=160,height=120", "videocrop left=10", "videorate"}) {
    const Owned<GstBuffer> out = through(elements, marked_frame());
    if (out == nullptr) continue;
    ++installed;
    EXPECT_EQ(results(out, "person"), 7) << elements;
    EXPECT_EQ(results(out, "car"), 5) << elements;
  }
  if (installed == 0) GTEST_SKIP() << "no elements of gstreamer1.0-plugins-base";
}

#if GST_CHECK_VERSION(1, 24, 0)
TEST(AttachRegion, marks_are_serialised) {
  const Owned<GstBuffer> buffer(gst_buffer_new()), read(gst_buffer_new());
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "Fußgänger", 2, nullptr));
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 5, nullptr));
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(buffer.get(), &state)) {
    const Owned<GByteArray> bytes(g_byte_array_new());
    ASSERT_TRUE(gst_meta_serialize_simple(meta, bytes.get()));
    guint32 consumed = 0;
    EXPECT_NE(gst_meta_deserialize(read.get(), bytes->data, bytes->len, &consumed), nullptr);
    for (guint size = 0; size < bytes->len; ++size) {  // torn off
      const Owned<GstBuffer> none(gst_buffer_new());
      gst_meta_deserialize(none.get(), bytes->data, size, &consumed);
      EXPECT_EQ(results(none, nullptr), -1) << size;
    }
  }
  EXPECT_EQ(results(read, "Fußgänger"), 7);
  EXPECT_EQ(results(read, "car"), 5);
}
#endif

// --- errors ---

TEST(AttachRegion, errors_say_what_to_do) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  const auto add = [&](const char *type, guint width, const char *label) {
    return message_of([&, type, width, label](GError **error) {
      return gst_cuda_vision_buffer_add_region(buffer.get(), type, 1, 2, width, 4, 0, label, 0, error);
    });
  };
  EXPECT_NE(add(nullptr, 3, nullptr).find("needs a type"), std::string::npos);
  EXPECT_NE(add("person", 2147483648u, nullptr).find("at most 2147483647"), std::string::npos);
  EXPECT_NE(add("person", 3, "T\xfcr").find("UTF-8"), std::string::npos);
  const Owned<GstBuffer> other(gst_buffer_ref(buffer.get()));
  const std::string shared = "in a pad probe, give the probe's info";
  EXPECT_NE(add("person", 3, nullptr).find(shared), std::string::npos);
  EXPECT_NE(message_of([&](GError **error) {
              return gst_cuda_vision_buffer_remove_regions(buffer.get(), nullptr, error) >= 0;
            }).find(shared),
            std::string::npos);
  EXPECT_NE(message_of([&](GError **error) {
              return gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 0, error);
            }).find(shared),
            std::string::npos);
  EXPECT_EQ(gst_buffer_get_n_meta(buffer.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 0u);
  EXPECT_EQ(results(buffer, nullptr), -1) << "nothing was attached";
}

TEST(AttachRegion, wrong_arguments_are_programming_errors) {
  Criticals criticals;
  const Owned<GstBuffer> buffer(gst_buffer_new());
  EXPECT_FALSE(add_person(nullptr));
  EXPECT_EQ(gst_cuda_vision_buffer_remove_regions(nullptr, nullptr, nullptr), -1);
  EXPECT_FALSE(gst_cuda_vision_buffer_mark_analysed(nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(nullptr, nullptr), -1);
  EXPECT_FALSE(gst_cuda_vision_probe_add_region(nullptr, "person", 1, 2, 3, 4, 0, nullptr, 0, nullptr));
  EXPECT_EQ(gst_cuda_vision_probe_remove_regions(nullptr, nullptr, nullptr), -1);
  EXPECT_FALSE(gst_cuda_vision_probe_mark_analysed(nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(criticals.count(), 7);
  gst_cuda_vision_region_free(nullptr);
}

// --- pad probes ---

// What a probe does with its info; called for each buffer that passes an element.
struct Probe {
  std::function<void(GstPadProbeInfo *)> work;

  static GstPadProbeReturn call(GstPad *, GstPadProbeInfo *info, gpointer self) {
    static_cast<Probe *>(self)->work(info);
    return GST_PAD_PROBE_OK;
  }
};

TEST(AttachRegion, probes_change_the_frame_that_goes_on_and_no_other) {
  Probe probe{[](GstPadProbeInfo *info) {
    // A second reference to the buffer while the probe runs, as PyGObject holds one.
    const Owned<GstBuffer> seen(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
    EXPECT_TRUE(gst_cuda_vision_probe_add_region(info, "person", -1, 2, 3, 4, 0.5, nullptr, 0, nullptr));
    EXPECT_TRUE(gst_cuda_vision_probe_add_region(info, "car", 1, 2, 3, 4, 0.5, nullptr, 0, nullptr));
    EXPECT_TRUE(gst_cuda_vision_probe_mark_analysed(info, "dog", 0, nullptr));
    EXPECT_EQ(gst_cuda_vision_probe_remove_regions(info, "car", nullptr), 1);
    EXPECT_EQ(results(seen, nullptr), -1) << "the frame of others was changed";
  }};
  GstHarness *harness = gst_harness_new("identity");
  gst_harness_set_src_caps_str(harness, "video/x-raw,format=RGB,width=320,height=240");
  GstPad *pad = gst_element_get_static_pad(harness->element, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, Probe::call, &probe, nullptr);
  for (const bool is_shared : {false, true}) {
    Owned<GstBuffer> in = frame();
    GstMemory *pixels = gst_buffer_peek_memory(in.get(), 0);
    const Owned<GstBuffer> other(is_shared ? gst_buffer_ref(in.get()) : nullptr);
    ASSERT_EQ(gst_harness_push(harness, in.release()), GST_FLOW_OK);
    const Owned<GstBuffer> out(gst_harness_pull(harness));
    Owned<GList> keeper;
    const Regions regions = regions_of(out.get(), &keeper);
    ASSERT_EQ(regions.size(), 1u);
    EXPECT_EQ(regions[0].x, -1);
    EXPECT_EQ(results(out, "dog"), 0);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), pixels) << "the pixels were copied";
  }
  gst_object_unref(pad);
  gst_harness_teardown(harness);
}

TEST(AttachRegion, probes_without_a_buffer_say_so) {
  GstPadProbeInfo info{};
  const auto message = [&info] {
    return message_of([&info](GError **error) {
      return gst_cuda_vision_probe_add_region(&info, "person", 1, 2, 3, 4, 0, nullptr, 0, error);
    });
  };
  GstEvent *event = gst_event_new_eos();
  info.type = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, info.data = event;
  EXPECT_NE(message().find("add it with the type GST_PAD_PROBE_TYPE_BUFFER"), std::string::npos);
  gst_event_unref(event);
  info.type = GST_PAD_PROBE_TYPE_BUFFER, info.data = nullptr;  // in pull mode, before the buffer comes
  EXPECT_NE(message().find("has no buffer"), std::string::npos);
  GstBufferList *list = gst_buffer_list_new();
  info.type = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER_LIST | GST_PAD_PROBE_TYPE_PUSH),
  info.data = list;
  EXPECT_NE(message().find("list of buffers"), std::string::npos);
  EXPECT_EQ(gst_cuda_vision_probe_remove_regions(&info, nullptr, nullptr), -1);
  gst_buffer_list_unref(list);
}

}  // namespace
}  // namespace cudavision::test
