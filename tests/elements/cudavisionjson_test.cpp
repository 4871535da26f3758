// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: every member of its lines, compared with metas that the test attaches, and frames that pass
// unchanged.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/elements/json_lines.h"

namespace {

using namespace cudavision::test;
using Names = std::vector<std::string>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class CudaVisionJson : public ElementTest {};

// A frame with all members, as in the documentation of the format.
Owned<GstBuffer> example_frame() {
  Owned<GstBuffer> buffer = frame(0);
  add_keypoints(buffer.get(), {{10, 20, 3.5, 1.57f}});
  add_lines(buffer.get(), {{12, 0.785f, 230, 0, 5, 100, 105}});
  add_score(add_region(buffer.get(), "person"), 0.9);
  add_tensor<guint32>(buffer.get(), "histogram", {0, 1, 2}, {1, 3});
  return buffer;
}

// --- the line as a whole ---

TEST_F(CudaVisionJson, line_is_this_text) {
  JsonHarness json("tensor-data=full");
  EXPECT_EQ(json.line_of(example_frame()),
            R"({"frame":0,"pts":0,"running-time":0,"width":640,"height":480,)"
            R"("keypoints":[{"x":10.0,"y":20.0,"response":3.5,"angle":1.57}],)"
            R"("lines":[{"rho":12.0,"theta":0.785,"votes":230,"x1":0.0,"y1":5.0,"x2":100.0,"y2":105.0}],)"
            R"("regions":[{"type":"person","x":1,"y":2,"width":64,"height":128,"score":0.9}],)"
            R"("tensors":[{"id":"histogram","dims":[1,3],"type":"u32","data":[0,1,2]}]})");
}

TEST_F(CudaVisionJson, frame_without_results_is_this_text) {
  JsonHarness json("source=door");
  EXPECT_EQ(json.line_of(frame(40)),
            R"({"source":"door","frame":0,"pts":40,"running-time":40,"width":640,"height":480,)"
            R"("regions":[],"tensors":[]})");
}

// A warning is a custom meta, with which any program may do anything.
TEST_F(CudaVisionJson, warnings_of_elements_are_told) {
  JsonHarness json;
  const auto add = [](GstBuffer *buffer, const char *fields) {
    GstStructure *note =
        gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, "GstCudaVisionNoteMeta"));
    GstStructure *own = gst_structure_from_string(fields, nullptr);
    for (const char *name : {"element", "warning"})
      if (const GValue *value = gst_structure_get_value(own, name); value != nullptr)
        gst_structure_set_value(note, name, value);
    gst_structure_free(own);
  };
  Owned<GstBuffer> buffer = frame();
  add(buffer.get(), "note,element=(string)cudahog,warning=(string)turned");
  add(buffer.get(), "note,element=(string)\"a \\\"quoted\\\" name\",warning=(string)x");
  for (const char *hostile : {"note", "note,element=(string)y", "note,element=(int)1,warning=(string)z"})
    add(buffer.get(), hostile);
  EXPECT_EQ(json.line_of(std::move(buffer)),
            R"({"frame":0,"pts":0,"running-time":0,"width":640,"height":480,)"
            R"("warnings":["cudahog: turned","a \"quoted\" name: x"],"regions":[],"tensors":[]})");
  EXPECT_FALSE(json.json_of(frame()).has("warnings"));
}

TEST_F(CudaVisionJson, members_are_in_their_order) {
  JsonHarness json("source=door");
  const Json line = json.json_of(example_frame());
  EXPECT_EQ(line.members(), (Names{"source", "frame", "pts", "running-time", "width", "height", "keypoints",
                                   "lines", "regions", "tensors"}));
  EXPECT_EQ(line.members("keypoints.0"), (Names{"x", "y", "response", "angle"}));
  EXPECT_EQ(line.members("lines.0"), (Names{"rho", "theta", "votes", "x1", "y1", "x2", "y2"}));
  EXPECT_EQ(line.members("regions.0"), (Names{"type", "x", "y", "width", "height", "score"}));
  EXPECT_EQ(line.members("tensors.0"), (Names{"id", "dims", "type", "min", "max", "sum", "mean"}));
}

// --- the frame ---

TEST_F(CudaVisionJson, frames_are_counted) {
  JsonHarness json;
  for (int i = 0; i < 12; ++i) EXPECT_EQ(json.json_of(frame()).whole("frame"), i);
  EXPECT_EQ(lines(json.file()).size(), 12u);
}

// The filters skip late frames; results that were computed are always written.
TEST_F(CudaVisionJson, late_frames_are_not_skipped) {
  JsonHarness json;
  json.line_of(frame(0));
  EXPECT_TRUE(gst_harness_push_upstream_event(json.get(),
                                              gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, GST_SECOND, 0)));
  for (gint64 i = 1; i < 4; ++i) EXPECT_EQ(json.json_of(frame(i)).whole("frame"), i);
}

TEST_F(CudaVisionJson, times_are_nanoseconds_or_null) {
  JsonHarness json;
  const Json none = json.json_of(frame(GST_CLOCK_TIME_NONE));
  EXPECT_TRUE(none.is_null("pts"));
  EXPECT_TRUE(none.is_null("running-time"));
  EXPECT_EQ(json.json_of(frame(123456789012345)).whole("pts"), 123456789012345);
}

TEST_F(CudaVisionJson, running_time_is_the_segments) {
  JsonHarness json;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 100 * GST_SECOND;
  segment.base = 7 * GST_SECOND;
  segment.rate = 2.0;
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_segment(&segment)));
  const Json inside = json.json_of(frame(104 * GST_SECOND));
  EXPECT_EQ(inside.whole("pts"), gint64{104 * GST_SECOND});
  EXPECT_EQ(inside.whole("running-time"), gint64{9 * GST_SECOND});
  EXPECT_TRUE(json.json_of(frame(99 * GST_SECOND)).is_null("running-time"));

  gst_segment_init(&segment, GST_FORMAT_BYTES);  // the default of appsrc
  EXPECT_TRUE(gst_harness_push_event(json.get(), gst_event_new_segment(&segment)));
  const Json bytes = json.json_of(frame(5));
  EXPECT_EQ(bytes.whole("pts"), 5);
  EXPECT_TRUE(bytes.is_null("running-time"));
}

// --- the time of day ---

// A frame with a reference timestamp of each of these caps.
Owned<GstBuffer> timed_frame(const std::vector<std::pair<const char *, GstClockTime>> &times) {
  Owned<GstBuffer> buffer = frame();
  for (const auto &[caps, time] : times) {
    const Owned<GstCaps> reference(gst_caps_from_string(caps));
    gst_buffer_add_reference_timestamp_meta(buffer.get(), reference.get(), time, GST_CLOCK_TIME_NONE);
  }
  return buffer;
}

TEST_F(CudaVisionJson, utc_follows_the_running_time) {
  JsonHarness json;
  EXPECT_EQ(json.line_of(timed_frame({{"timestamp/x-unix", 1795350896123456789}})),
            R"({"frame":0,"pts":0,"running-time":0,"utc":"2026-11-22T12:34:56.123456789Z","width":640,)"
            R"("height":480,"regions":[],"tensors":[]})");
}

TEST_F(CudaVisionJson, utc_counts_from_1970_or_1900) {
  JsonHarness json;
  const auto utc = [&](const char *caps, GstClockTime time) {
    return json.json_of(timed_frame({{caps, time}})).text("utc");
  };
  EXPECT_EQ(utc("timestamp/x-unix", 0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(utc("timestamp/x-unix,host=a", 951782399000000001), "2000-02-28T23:59:59.000000001Z");
  EXPECT_EQ(utc("timestamp/x-unix", 1709164800 * GST_SECOND), "2024-02-29T00:00:00.000000000Z");
  EXPECT_EQ(utc("timestamp/x-ntp", 0), "1900-01-01T00:00:00.000000000Z");
  EXPECT_EQ(utc("timestamp/x-ntp", 1500000000), "1900-01-01T00:00:01.500000000Z");
  EXPECT_EQ(utc("timestamp/x-ntp", 2208988800 * GST_SECOND - 1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(utc("timestamp/x-ntp", 4004339696 * GST_SECOND), "2026-11-22T12:34:56.000000000Z");
}

TEST_F(CudaVisionJson, other_reference_clocks_are_no_time_of_day) {
  JsonHarness json;
  for (const char *caps : {"timestamp/x-boot", "timestamp/x-ptp", "ANY", "EMPTY"})
    EXPECT_FALSE(json.json_of(timed_frame({{caps, GST_SECOND}})).has("utc")) << caps;
  EXPECT_FALSE(json.json_of(timed_frame({{"timestamp/x-unix", G_MAXUINT64 - 1}})).has("utc"));
  EXPECT_FALSE(json.json_of(frame()).has("utc"));
  EXPECT_EQ(json.json_of(timed_frame({{"timestamp/x-ptp", 5}, {"timestamp/x-unix", 6}})).text("utc"),
            "1970-01-01T00:00:00.000000006Z");
}

// The seconds of a line's time since 1970.
gint64 seconds_of(const Json &line) {
  GDateTime *date = g_date_time_new_from_iso8601(line.text("utc").c_str(), nullptr);
  EXPECT_NE(date, nullptr) << line.text("utc");
  if (date == nullptr) return -1;
  const gint64 seconds = g_date_time_to_unix(date);
  g_date_time_unref(date);
  return seconds;
}

TEST_F(CudaVisionJson, wall_clock_takes_the_place_of_a_missing_time) {
  JsonHarness json("wall-clock=true");
  const gint64 before = g_get_real_time() / G_USEC_PER_SEC;
  const gint64 written = seconds_of(json.json_of(frame()));
  EXPECT_GE(written, before);
  EXPECT_LE(written, g_get_real_time() / G_USEC_PER_SEC);
  EXPECT_EQ(seconds_of(json.json_of(timed_frame({{"timestamp/x-unix", 7 * GST_SECOND}}))), 7);
  set(json.element(), "wall-clock", "false");
  EXPECT_FALSE(json.json_of(frame()).has("utc"));
}

// --- the size ---

TEST_F(CudaVisionJson, size_follows_the_caps) {
  JsonHarness json;
  json.negotiate("video/x-raw,format=I420,width=16384,height=1,framerate=25/1");
  const Json line = json.json_of(frame());
  EXPECT_EQ(line.whole("width"), 16384);
  EXPECT_EQ(line.whole("height"), 1);
}

// --- the property source ---

TEST_F(CudaVisionJson, source_is_any_text) {
  JsonHarness json;
  std::string controls;
  for (char c = 1; c < 32; ++c) controls += c;
  for (const std::string &source : {std::string("say \"hi\" \\ / {}[]:,"), std::string("Tür 1 — 入口 🚪"),
                                    controls, std::string("\x7f"), std::string(), std::string(5000, '"')}) {
    g_object_set(json.element(), "source", source.c_str(), nullptr);
    const std::string line = json.line_of(frame());
    EXPECT_EQ(Json(line).text("source"), source);
    for (const char c : line) EXPECT_FALSE(c >= 0 && c < 32) << "JSON forbids control characters";
  }
  g_object_set(json.element(), "source", nullptr, nullptr);
  EXPECT_FALSE(json.json_of(frame()).has("source"));
}

TEST_F(CudaVisionJson, source_that_is_no_utf8_is_mended) {
  JsonHarness json;
  g_object_set(json.element(), "source", "T\xfcr", nullptr);
  EXPECT_EQ(json.json_of(frame()).text("source"), "T\xef\xbf\xbdr");  // U+FFFD
}

// --- keypoints and lines ---

TEST_F(CudaVisionJson, nothing_found_is_an_empty_list_and_not_looked_is_no_member) {
  JsonHarness json;
  Owned<GstBuffer> both = frame();
  add_keypoints(both.get(), {});
  add_lines(both.get(), {});
  const Json line = json.json_of(std::move(both));
  EXPECT_EQ(line.length("keypoints"), 0u);
  EXPECT_EQ(line.length("lines"), 0u);

  Owned<GstBuffer> keypoints = frame();
  add_keypoints(keypoints.get(), {{1, 2, 3, 4}});
  EXPECT_FALSE(json.json_of(std::move(keypoints)).has("lines"));
  EXPECT_FALSE(json.json_of(frame()).has("keypoints"));
}

TEST_F(CudaVisionJson, items_of_several_metas_follow_each_other) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_keypoints(buffer.get(), {{1, 0, 0, 0}, {2, 0, 0, 0}});
  add_keypoints(buffer.get(), {});
  add_keypoints(buffer.get(), {{3, 0, 0, 0}});
  const Json line = json.json_of(std::move(buffer));
  ASSERT_EQ(line.length("keypoints"), 3u);
  EXPECT_EQ(line.real("keypoints.1.x"), 2.0);
  EXPECT_EQ(line.real("keypoints.2.x"), 3.0);
}

TEST_F(CudaVisionJson, what_is_not_finite_is_null) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_keypoints(buffer.get(), {{-0.5f, 1e-20f, kInfinity, kNan}});
  add_lines(buffer.get(), {{-kInfinity, kNan, G_MAXUINT32, -1e30f, kNan, 3, kInfinity}});
  const Json line = json.json_of(std::move(buffer));
  EXPECT_EQ(line.real("keypoints.0.x"), -0.5);
  EXPECT_EQ(static_cast<float>(line.real("keypoints.0.y")), 1e-20f);
  for (const char *null : {"keypoints.0.response", "keypoints.0.angle", "lines.0.rho", "lines.0.theta",
                           "lines.0.y1", "lines.0.y2"})
    EXPECT_TRUE(line.is_null(null)) << null;
  EXPECT_EQ(line.whole("lines.0.votes"), gint64{G_MAXUINT32});
  EXPECT_EQ(static_cast<float>(line.real("lines.0.x1")), -1e30f);
}

// --- regions ---

TEST_F(CudaVisionJson, regions_keep_type_box_and_order) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  for (const char *type : {"person", "a \"b\"\\\n", "車"}) add_region(buffer.get(), type);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "all", 0, G_MAXUINT, G_MAXUINT, 0);
  const Json line = json.json_of(std::move(buffer));
  ASSERT_EQ(line.length("regions"), 4u);
  EXPECT_EQ(line.text("regions.0.type"), "person");
  EXPECT_EQ(line.text("regions.1.type"), "a \"b\"\\\n");
  EXPECT_EQ(line.text("regions.2.type"), "車");
  EXPECT_EQ(line.whole("regions.0.width"), 64);
  EXPECT_EQ(line.whole("regions.3.y"), -1);
  EXPECT_EQ(line.whole("regions.3.width"), gint64{G_MAXUINT});
}

TEST_F(CudaVisionJson, score_is_the_detections_confidence_or_null) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  add_region(buffer.get(), "none");
  auto *other = add_region(buffer.get(), "other");
  gst_video_region_of_interest_meta_add_param(
      other, gst_structure_new("classification", "confidence", G_TYPE_DOUBLE, 0.5, nullptr));
  auto *second = add_region(buffer.get(), "second");
  gst_video_region_of_interest_meta_add_param(second, gst_structure_new_empty("classification"));
  add_score(second, 0.1);
  auto *no_double = add_region(buffer.get(), "text");
  gst_video_region_of_interest_meta_add_param(
      no_double, gst_structure_new("detection", "confidence", G_TYPE_STRING, "much", nullptr));
  add_score(add_region(buffer.get(), "nan"), std::numeric_limits<double>::quiet_NaN());
  add_score(add_region(buffer.get(), "thin"), 1e-300);
  const Json line = json.json_of(std::move(buffer));
  for (const char *null : {"regions.0.score", "regions.1.score", "regions.3.score", "regions.4.score"})
    EXPECT_TRUE(line.is_null(null)) << null;
  EXPECT_EQ(line.real("regions.2.score"), 0.1);
  EXPECT_EQ(line.real("regions.5.score"), 1e-300);
}

TEST_F(CudaVisionJson, region_has_its_parameters) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  auto *region = add_region(buffer.get(), "car");
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.5, "label_id", G_TYPE_INT, 3, nullptr));
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("colour", "label", G_TYPE_STRING, "\"red\"\n", "sure", G_TYPE_BOOLEAN, TRUE,
                                "share", G_TYPE_FLOAT, 0.25f, "bits", G_TYPE_UINT64, G_MAXUINT64, "ratio",
                                GST_TYPE_FRACTION, 4, 3, nullptr));
  gst_video_region_of_interest_meta_add_param(region, gst_structure_new_empty("nothing"));
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find(R"("score":0.5,"params":{"detection":{"confidence":0.5,"label_id":3},)"
                      R"("colour":{"label":"\"red\"\n","sure":true,"share":0.25,"bits":18446744073709551615,)"
                      R"("ratio":"4/3"},"nothing":{}}})"),
            std::string::npos)
      << line;
}

TEST_F(CudaVisionJson, score_is_a_number_of_any_type) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  const auto add = [&buffer](GstStructure *detection) {
    gst_video_region_of_interest_meta_add_param(add_region(buffer.get(), "car"), detection);
  };
  add(gst_structure_new("detection", "confidence", G_TYPE_FLOAT, 0.75f, nullptr));
  add(gst_structure_new("detection", "confidence", G_TYPE_INT, -3, nullptr));
  add(gst_structure_new("detection", "confidence", G_TYPE_UINT64, guint64{7}, nullptr));
  const Json line = json.json_of(std::move(buffer));
  EXPECT_EQ(line.real("regions.0.score"), 0.75);
  EXPECT_EQ(line.real("regions.1.score"), -3);
  EXPECT_EQ(line.real("regions.2.score"), 7);
}

// A name that comes twice in an object of JSON hides the first one from its readers.
TEST_F(CudaVisionJson, parameters_of_one_name_are_a_list) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  auto *region = add_region(buffer.get(), "face");
  add_score(region, 0.9);
  add_score(region, 0.5);
  for (const char *label : {"female", "smiling"}) {
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("class", "label", G_TYPE_STRING, label, nullptr));
    gst_video_region_of_interest_meta_add_param(region, gst_structure_new_empty(label));
  }
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find(R"("score":0.9,"params":{"detection":{"confidence":0.5},)"
                      R"("class":[{"label":"female"},{"label":"smiling"}],"female":{},"smiling":{}}})"),
            std::string::npos)
      << line;
}

TEST_F(CudaVisionJson, fields_that_hold_several_values_are_lists_and_objects) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  GstStructure *embedding = gst_structure_from_string(
      "embedding, data=<(float)0.5, (float)-2>, dims={(int)1, (int)3}, none=<>, byte=(guchar)200, "
      "long=(glong)-6, nested=<<(int)1>, <(int)2, (string)x>>",
      nullptr);
  GstStructure *inner = gst_structure_new("inner", "x", G_TYPE_INT, 5, nullptr);
  gst_structure_set(embedding, "inner", GST_TYPE_STRUCTURE, inner, "char", G_TYPE_CHAR, -5, nullptr);
  gst_structure_free(inner);
  gst_video_region_of_interest_meta_add_param(add_region(buffer.get(), "face"), embedding);
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find(R"({"embedding":{"data":[0.5,-2.0],"dims":[1,3],"none":[],"byte":200,"long":-6,)"
                      R"("nested":[[1],[2,"x"]],"inner":{"x":5},"char":-5}})"),
            std::string::npos)
      << line;
}

TEST_F(CudaVisionJson, fields_that_are_nested_too_deeply_are_null) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  GValue value = G_VALUE_INIT;
  g_value_set_int(g_value_init(&value, G_TYPE_INT), 1);
  for (int i = 0; i < 100; ++i) {
    GValue outer = G_VALUE_INIT;
    gst_value_array_append_and_take_value(g_value_init(&outer, GST_TYPE_ARRAY), &value);
    value = outer;
  }
  GstStructure *deep = gst_structure_new_empty("deep");
  gst_structure_take_value(deep, "value", &value);
  gst_video_region_of_interest_meta_add_param(add_region(buffer.get(), "face"), deep);
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find(R"({"deep":{"value":[[[[[[[[[[[[[[[[null]]]]]]]]]]]]]]]]}})"), std::string::npos)
      << line;
}

TEST_F(CudaVisionJson, region_without_a_type_has_null) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), 0, 1, 2, 3, 4);
  EXPECT_TRUE(json.json_of(std::move(buffer)).is_null("regions.0.type"));
}

// --- frames pass unchanged ---

TEST_F(CudaVisionJson, frame_passes_as_it_is) {
  JsonHarness json;
  Owned<GstBuffer> pushed = example_frame();
  const Owned<GstBuffer> shared(gst_buffer_ref(pushed.get()));  // makes it read-only
  EXPECT_EQ(json.push(std::move(pushed)), GST_FLOW_OK);
  const Owned<GstBuffer> pulled(gst_harness_pull(json.get()));
  EXPECT_EQ(pulled.get(), shared.get());
}

TEST_F(CudaVisionJson, every_kind_of_raw_video_passes) {
  for (const char *caps :
       {"video/x-raw,format=ARGB64,width=2,height=3",
        "video/x-raw(memory:CUDAMemory),format=NV12,width=2,height=3",
        "video/x-raw(memory:DMABuf),format=DMA_DRM,width=2,height=3,drm-format=NV12",
        "video/x-raw(memory:GLMemory,meta:GstVideoOverlayComposition),format=of_the_future,"
        "width=2,height=3"}) {
    JsonHarness json;
    json.negotiate(caps);
    const Json line = json.json_of(frame());
    EXPECT_EQ(line.whole("width"), 2) << caps;
    EXPECT_EQ(line.whole("height"), 3) << caps;
  }
}

// --- properties ---

TEST_F(CudaVisionJson, properties_have_their_defaults) {
  const Owned<GstElement> json = parse("cudavisionjson");
  EXPECT_EQ(text(json.get(), "location"), "-");
  EXPECT_EQ(text(json.get(), "tensor-data"), "summary");
  EXPECT_EQ(text(json.get(), "wall-clock"), "false");
  gchar *source = nullptr;
  g_object_get(json.get(), "source", &source, nullptr);
  EXPECT_EQ(source, nullptr);
  EXPECT_NE(why_refused("fakesrc ! cudavisionjson tensor-data=some ! fakesink").find("tensor-data"),
            std::string::npos);
}

TEST_F(CudaVisionJson, location_is_for_the_next_start_and_the_others_for_the_next_frame) {
  auto flags = [](const char *property) {
    const Owned<GstElement> json = parse("cudavisionjson");
    return g_object_class_find_property(G_OBJECT_GET_CLASS(json.get()), property)->flags;
  };
  EXPECT_TRUE(flags("location") & GST_PARAM_MUTABLE_READY);
  EXPECT_TRUE(flags("source") & GST_PARAM_MUTABLE_PLAYING);
  EXPECT_TRUE(flags("tensor-data") & GST_PARAM_MUTABLE_PLAYING);
}

TEST_F(CudaVisionJson, factory_says_what_it_is) {
  GstElementFactory *factory = gst_element_factory_find("cudavisionjson");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME), "JSON lines writer");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video");
  EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), static_cast<guint>(GST_RANK_NONE));
  gst_object_unref(factory);
}

}  // namespace
