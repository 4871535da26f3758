// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionzones: messages, metas, configuration while frames pass, and how elements downstream use its results. Its
// counts are tested in cudavisionzones_counter_test.cpp.
#include <glib/gstdio.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/drawn_frame.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/track_harness.h"

namespace {

using namespace cudavision::test;

constexpr const char
    *kDoor =
        R"({"lines": [{"name": "door", "from": [32, 0], "to": [32, 48], "hysteresis": 2, "least-stay": 0}]})",
    *kDoorAndHall =
        R"({"lines": [{"name": "door", "from": [32, 0], "to": [32, 48], "hysteresis": 2, "least-stay": 0}],
  "zones": [{"name": "hall", "polygon": [[0, 0], [32, 0], [32, 48], [0, 48]], "hysteresis": 0, "least-stay": 0}]})";

class CudaVisionZones : public ElementTest {};

class ZonesHarness {
 public:
  // At most one of the two properties is set before the start.
  explicit ZonesHarness(const char *zones, const std::string &location = "", const std::string &state = "")
      : element_(parse("cudavisionzones")) {
    if (zones != nullptr) g_object_set(element(), "zones", zones, nullptr);
    if (!location.empty()) g_object_set(element(), "location", location.c_str(), nullptr);
    if (!state.empty()) g_object_set(element(), "state-location", state.c_str(), nullptr);
    harness_ = gst_harness_new_with_element(element(), "sink", "src");
    gst_harness_set_src_caps(harness_, track_picture().caps().release());
  }
  ZonesHarness(const ZonesHarness &) = delete;
  ZonesHarness &operator=(const ZonesHarness &) = delete;
  ~ZonesHarness() { gst_harness_teardown(harness_); }

  GstElement *element() const { return element_.get(); }
  // A frame with a track whose box ends at (x, y) in its bottom centre.
  Owned<GstBuffer> at(int x, int y = 20, guint64 id = 1) {
    Owned<GstBuffer> buffer = track_picture().buffer();
    if (id != 0)
      add_track(buffer.get(), {x - 2.0, y - 8.0, 4, 8}, id);
    else
      add_region(buffer.get(), {x - 2.0, y - 8.0, 4, 8}, "person");
    return exchange(std::move(buffer));
  }
  Owned<GstBuffer> exchange(Owned<GstBuffer> buffer) {
    GST_BUFFER_PTS(buffer.get()) = time;
    time += 40 * GST_MSECOND;
    EXPECT_EQ(gst_harness_push(harness_, buffer.release()), GST_FLOW_OK);
    return Owned<GstBuffer>(gst_harness_pull(harness_));
  }
  GstHarness *get() const { return harness_; }

  GstClockTime time = 0;

 private:
  Owned<GstElement> element_;
  GstHarness *harness_ = nullptr;
};

std::string text_of(const GstStructure *structure) {
  g_autofree gchar *text = structure != nullptr ? gst_structure_to_string(structure) : nullptr;
  return text != nullptr ? text : "";
}

// The next element message of cudavisionzones as text, or "".
std::string take_event(const ZonesHarness &zones) {
  const Owned<GstMessage> message = take_message(zones.element(), GST_MESSAGE_ELEMENT);
  return message ? text_of(gst_message_get_structure(message.get())) : "";
}

const GstStructure *results_of(const Owned<GstBuffer> &buffer) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer.get(), "GstCudaVisionZonesMeta");
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}
guint count_in(const Owned<GstBuffer> &buffer, const char *list) {
  const GstStructure *results = results_of(buffer);
  return results != nullptr ? gst_value_array_get_size(gst_structure_get_value(results, list)) : 0;
}

// How often the door was crossed to the right, as the meta of the buffer says.
guint64 crossings_of_door(const Owned<GstBuffer> &buffer) {
  const auto first = [](const GstStructure *structure, const char *list) {
    return gst_value_get_structure(gst_value_array_get_value(gst_structure_get_value(structure, list), 0));
  };
  guint64 total = 0;
  gst_structure_get_uint64(first(first(results_of(buffer), "zones"), "counts"), "total", &total);
  return total;
}

TEST_F(CudaVisionZones, events_are_posted_and_attached) {
  ZonesHarness zones(kDoorAndHall);
  EXPECT_EQ(count_in(zones.at(40), "events"), 0u);
  EXPECT_EQ(take_event(zones), "");
  const Owned<GstBuffer> frame = zones.at(28);
  EXPECT_EQ(count_in(frame, "events"), 2u);
  EXPECT_EQ(count_in(frame, "zones"), 2u);
  EXPECT_EQ(count_in(frame, "shapes"), 2u);
  EXPECT_EQ(take_event(zones),
            "cudavisionzones, event=(string)cross, name=(string)door, id=(guint64)1, type=(string)person, "
            "x=(double)28, "
            "y=(double)20, direction=(string)left-to-right, running-time=(guint64)40000000;");
  EXPECT_EQ(take_event(zones),
            "cudavisionzones, event=(string)enter, name=(string)hall, id=(guint64)1, type=(string)person, "
            "x=(double)28, "
            "y=(double)20, running-time=(guint64)40000000;");
  zones.at(40);
  EXPECT_NE(take_event(zones).find("right-to-left"), std::string::npos);
  EXPECT_NE(take_event(zones).find(
                "event=(string)leave, name=(string)hall, id=(guint64)1, type=(string)person, x=(double)40, "
                "y=(double)20, duration=(guint64)40000000"),
            std::string::npos);
}

// A box in a wrong place, and then a crossing, which is told a fifth of a second later.
TEST_F(CudaVisionZones, what_lasts_is_told_with_its_own_time_and_place) {
  ZonesHarness zones(R"({"lines": [{"name": "door", "from": [32, 0], "to": [32, 48]}]})");
  for (const int x : {40, 40, 20, 40, 40, 28, 20, 20, 20, 20}) {
    zones.at(x);
    EXPECT_EQ(take_event(zones), "");
  }
  EXPECT_EQ(count_in(zones.at(20), "events"), 1u);
  EXPECT_EQ(take_event(zones),
            "cudavisionzones, event=(string)cross, name=(string)door, id=(guint64)1, type=(string)person, "
            "x=(double)28, "
            "y=(double)20, direction=(string)left-to-right, running-time=(guint64)200000000;");
}

TEST_F(CudaVisionZones, what_a_tracker_predicts_is_not_counted) {
  ZonesHarness zones(kDoorAndHall);
  zones.at(40);
  Owned<GstBuffer> buffer = track_picture().buffer();
  add_track(buffer.get(), {26, 12, 4, 8}, 1);
  gst_structure_set(gst_video_region_of_interest_meta_get_param(regions_of(buffer)[0], "tracking"),
                    "predicted", G_TYPE_BOOLEAN, TRUE, nullptr);
  EXPECT_EQ(count_in(zones.exchange(std::move(buffer)), "events"), 0u);
  EXPECT_EQ(count_in(zones.at(28), "events"), 2u);
}

// GStreamer's ioutracker begins with 0. Others write -1 where they have not given an id.
TEST_F(CudaVisionZones, the_id_0_is_counted_and_minus_1_is_none) {
  const auto events_of = [](GType type, auto id) {
    ZonesHarness zones(kDoorAndHall);
    guint events = 0;
    for (const double x : {38, 26}) {
      Owned<GstBuffer> buffer = track_picture().buffer();
      gst_video_region_of_interest_meta_add_param(add_region(buffer.get(), {x, 12, 4, 8}, "person"),
                                                  gst_structure_new("tracking", "id", type, id, nullptr));
      events = count_in(zones.exchange(std::move(buffer)), "events");
    }
    return events;
  };
  EXPECT_EQ(events_of(G_TYPE_UINT64, guint64{0}), 2u);
  EXPECT_EQ(events_of(G_TYPE_INT, 0), 2u);
  EXPECT_EQ(events_of(G_TYPE_UINT64, G_MAXUINT64 - 1), 2u);
  EXPECT_EQ(events_of(G_TYPE_UINT64, G_MAXUINT64), 0u);
  EXPECT_EQ(events_of(G_TYPE_INT64, gint64{-1}), 0u);
  EXPECT_EQ(events_of(G_TYPE_INT, -1), 0u);
}

// A region that stays right of the door while its tracker estimates that it has gone through. A number that is missing,
// not finite or huge makes the estimate unusable.
TEST_F(CudaVisionZones, the_place_is_the_estimate_of_the_tracker) {
  const char *const fields[] = {"x", "y", "width", "height", "velocity-x", "velocity-y"};
  const auto crossings = [&](const char *wrong_field, double wrong) {
    ZonesHarness zones(kDoor);
    Owned<GstBuffer> out;
    for (int frame = 0; frame < 30; ++frame) {
      Owned<GstBuffer> buffer = track_picture().buffer();
      add_track(buffer.get(), {38, 12, 4, 8}, 1);
      const double values[] = {frame < 10 ? 38.0 : 26.0, 12, 4, 8, 0, 0};
      GstStructure *tracking = gst_video_region_of_interest_meta_get_param(regions_of(buffer)[0], "tracking");
      for (std::size_t i = 0; i < 6; ++i)
        gst_structure_set(tracking, fields[i], G_TYPE_DOUBLE, fields[i] == wrong_field ? wrong : values[i],
                          nullptr);
      out = zones.exchange(std::move(buffer));
    }
    return crossings_of_door(out);
  };
  EXPECT_EQ(crossings(nullptr, 0), 1u);
  for (const char *field : fields)
    for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity(), -1e10})
      EXPECT_EQ(crossings(field, wrong), 0u) << field << ' ' << wrong;
  EXPECT_EQ(crossings("width", 0), 0u);
}

TEST_F(CudaVisionZones, shared_frames_keep_their_memory_and_stay_as_they_are) {
  ZonesHarness zones(kDoor);
  const Owned<GstBuffer> shared = track_picture().buffer();
  const Owned<GstBuffer> again(gst_buffer_ref(shared.get()));
  const Owned<GstBuffer> out = zones.exchange(Owned<GstBuffer>(gst_buffer_copy(shared.get())));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(shared.get(), 0));
  EXPECT_EQ(results_of(shared), nullptr);
  EXPECT_NE(results_of(out), nullptr);
}

TEST_F(CudaVisionZones, a_flush_ends_tracks_and_keeps_counts) {
  ZonesHarness zones(kDoorAndHall);
  zones.at(40), zones.at(20);
  while (!take_event(zones).empty()) {
  }
  gst_harness_push_event(zones.get(), gst_event_new_flush_start());
  gst_harness_push_event(zones.get(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(zones.get(), gst_event_new_segment(&segment));
  const Owned<GstBuffer> frame = zones.at(40);
  EXPECT_EQ(take_event(zones), "") << "nobody has crossed back, and nobody was in the hall";
  EXPECT_EQ(crossings_of_door(frame), 1u);
}

// --- the configuration ---

// The error of a start with these properties.
std::optional<Complaint> error_of_start(const char *zones, const char *location) {
  const Owned<GstElement> element = parse("cudavisionzones");
  g_object_set(element.get(), "zones", zones, "location", location, nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  return take_error(element.get());
}

TEST_F(CudaVisionZones, a_bad_text_stops_the_start_with_line_and_reason) {
  EXPECT_TRUE(is(error_of_start("{\"lines\": [\n{\"name\": \"a\",\n\"from\": 7}]}", nullptr),
                 GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "zones: line 3: 'from' of 'a' is no list of two numbers"));
  EXPECT_TRUE(is(error_of_start(nullptr, "/nowhere/zones.json"), GST_RESOURCE_ERROR,
                 GST_RESOURCE_ERROR_SETTINGS, "'/nowhere/zones.json': "));
  EXPECT_TRUE(is(error_of_start(kDoor, "/nowhere/zones.json"), GST_RESOURCE_ERROR,
                 GST_RESOURCE_ERROR_SETTINGS, "both set"));
}

TEST_F(CudaVisionZones, a_new_value_holds_from_the_next_frame_and_keeps_counts) {
  ZonesHarness zones(kDoor);
  zones.at(40), zones.at(20);
  EXPECT_NE(take_event(zones), "");
  g_object_set(zones.element(), "zones", kDoorAndHall, nullptr);
  const Owned<GstBuffer> frame = zones.at(20);
  EXPECT_EQ(count_in(frame, "zones"), 2u);
  EXPECT_EQ(crossings_of_door(frame), 1u);
  g_object_set(zones.element(), "zones", "{]", nullptr);
  EXPECT_EQ(count_in(zones.at(20), "zones"), 2u);
  EXPECT_TRUE(is(take_warning(zones.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "the last valid zones stay in force"));
  zones.at(20);
  EXPECT_FALSE(take_warning(zones.element())) << "once for a value";
}

TEST_F(CudaVisionZones, a_file_that_is_replaced_is_read_again) {
  const Folder folder;
  const std::string file = folder.path("zones.json"), next = folder.path("next.json");
  std::ofstream(file) << kDoor;
  ZonesHarness zones(nullptr, file);
  zones.at(40), zones.at(20);
  std::ofstream(next) << kDoorAndHall;
  ASSERT_EQ(g_rename(next.c_str(), file.c_str()), 0);
  Owned<GstBuffer> frame = zones.at(20);
  for (int i = 0; i < 100 && count_in(frame, "zones") < 2; ++i) {
    g_usleep(50000);
    frame = zones.at(20);
  }
  EXPECT_EQ(count_in(frame, "zones"), 2u);
  EXPECT_EQ(crossings_of_door(frame), 1u);
}

TEST_F(CudaVisionZones, fractions_are_of_the_frame) {
  ZonesHarness zones(
      R"({"units": "fraction", "lines": [{"name": "door", "from": [0.5, 0], "to": [0.5, 1], "hysteresis": 0.1, "least-stay": 0}]})");
  zones.at(36), zones.at(27);
  EXPECT_EQ(take_event(zones), "") << "it was not a tenth of 48 pixels away";
  zones.at(33), zones.at(36);
  EXPECT_EQ(take_event(zones), "") << "it is not beyond by a tenth of 48 pixels";
  zones.at(37);
  EXPECT_NE(take_event(zones), "");
}

// --- state-location ---

// A harness with lines and zones, and a file in which it keeps the counts.
std::unique_ptr<ZonesHarness> with_state(const char *zones, const std::string &file) {
  return std::make_unique<ZonesHarness>(zones, "", file);
}

std::string text_in(const std::string &file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(CudaVisionZones, counts_survive_a_restart) {
  const Folder folder;
  const std::string file = folder.path("counts");
  std::string json;
  for (guint64 run = 1; run <= 3; ++run) {
    const auto zones = with_state(kDoorAndHall, file);
    EXPECT_EQ(crossings_of_door(zones->at(40)), run - 1);
    const Owned<GstBuffer> frame = zones->at(20);
    EXPECT_EQ(crossings_of_door(frame), run);
    json = JsonHarness().line_of(Owned<GstBuffer>(gst_buffer_copy(frame.get())));
  }
  EXPECT_NE(
      json.find(
          R"("direction":"enter","total":3,"recent":1,"types":[{"type":"person","total":3,"recent":1}])"),
      std::string::npos)
      << json;
  EXPECT_EQ(crossings_of_door(with_state((std::string(" ") + kDoorAndHall).c_str(), file)->at(40)), 3u)
      << "the same plan, written otherwise";
}

TEST_F(CudaVisionZones, counts_are_written_every_minute) {
  const Folder folder;
  const std::string file = folder.path("counts");
  const auto zones = with_state(kDoor, file);
  zones->at(40), zones->at(20);
  EXPECT_EQ(text_in(file), "");
  zones->time = 59 * GST_SECOND;
  zones->at(20);
  EXPECT_EQ(text_in(file), "");
  zones->time = 60 * GST_SECOND;
  zones->at(20);
  EXPECT_NE(text_in(file).find("[(1, {'person': 1}, 0, {})]"), std::string::npos) << text_in(file);
}

TEST_F(CudaVisionZones, counts_of_another_plan_and_other_files_are_refused_and_kept) {
  const Folder folder;
  const std::string file = folder.path("counts"), other = folder.path("other");
  { with_state(kDoor, file)->at(40); }
  const std::string counts = text_in(file);
  std::ofstream(other) << "a letter";
  const std::pair<std::string, const char *> cases[] = {{file, "it has the counts of other lines and zones"},
                                                        {other, "it is no file of counts"},
                                                        {folder.path(""), "it is a directory"}};
  for (const auto &[location, reason] : cases) {
    const Owned<GstElement> element = parse("cudavisionzones");
    g_object_set(element.get(), "zones", R"({"lines": [{"name": "door", "from": [31, 0], "to": [32, 48]}]})",
                 "state-location", location.c_str(), nullptr);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, reason));
  }
  EXPECT_EQ(text_in(file), counts);
  EXPECT_EQ(text_in(other), "a letter");
  {
    const auto zones = with_state(kDoor, folder.path("new"));
    zones->at(40);
    std::ofstream(folder.path("new")) << "a letter";
  }
  EXPECT_EQ(text_in(folder.path("new")), "a letter");
  const auto zones = with_state(kDoor, folder.path("nowhere/counts"));
  zones->time = 0, zones->at(20), zones->time = 60 * GST_SECOND, zones->at(20);
  EXPECT_TRUE(is(take_warning(zones->element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "is not replaced by the counts: "));
}

// --- what is missing is said once ---

TEST_F(CudaVisionZones, warns_if_there_are_no_zones_and_if_boxes_have_no_ids) {
  ZonesHarness none(nullptr);
  EXPECT_EQ(results_of(none.at(20)), nullptr);
  EXPECT_TRUE(is(take_warning(none.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "Neither location nor zones"));
  ZonesHarness untracked(kDoor);
  for (int i = 0; i < 200; ++i) untracked.at(20, 20, 0);
  EXPECT_TRUE(is(take_warning(untracked.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "put cudavisiontrack"));
  EXPECT_FALSE(take_warning(untracked.element()));
}

TEST_F(CudaVisionZones, warns_of_lines_and_zones_that_can_count_nothing) {
  const std::string unit_square = R"([[0, 0], [0.9, 0], [0.9, 0.9]])",
                    right = R"([[65, 0], [90, 0], [90, 48]])";
  const auto line = [](const char *units, const char *ends) {
    return std::string(R"({"units": ")") + units + R"(", "lines": [{"name": "door", )" + ends + "}]}";
  };
  const auto zone = [](const std::string &corners, const char *more = "") {
    return R"({"zones": [{"name": "hall", "polygon": )" + corners + more + "}]}";
  };
  const struct {
    std::string plan;
    const char *warning;
  } cases[] = {
      {line("pixels", R"("from": [0.5, 0.2], "to": [0.5, 0.9])"), R"(set "units": "fraction")"},
      {line("fraction", R"("from": [0.5, 0.2], "to": [0.5, 0.9])"), nullptr},
      {line("pixels", R"("from": [65, 0], "to": [65, 48])"), "outside of the frame, which has 64x48"},
      {line("pixels", R"("from": [64, 0], "to": [64, 48])"), nullptr},
      {line("pixels", R"("from": [0.5, 0], "to": [0.5, 1])"), nullptr},
      {line("fraction", R"("from": [1.1, 0], "to": [1.1, 1])"), "The line 'door' counts nothing"},
      {zone(unit_square), "The zone 'hall' is smaller than a pixel"},
      {zone(right), "The zone 'hall' counts nothing"},
      {zone(right, R"(, "inverse": true)"), nullptr}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.plan);
    ZonesHarness zones(c.plan.c_str());
    zones.at(20);
    const std::optional<Complaint> warning = take_warning(zones.element());
    if (c.warning == nullptr)
      EXPECT_FALSE(warning);
    else
      EXPECT_TRUE(is(warning, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, c.warning));
    zones.at(20);
    EXPECT_FALSE(take_warning(zones.element())) << "once for a plan";
  }
}

TEST_F(CudaVisionZones, warns_of_a_line_that_a_smaller_frame_leaves_outside) {
  ZonesHarness zones(R"({"lines": [{"name": "door", "from": [60, 0], "to": [60, 40]}]})");
  zones.at(20);
  EXPECT_FALSE(take_warning(zones.element()));
  const auto take_frames_of = [&zones](int width) {
    gst_harness_set_src_caps(zones.get(), VideoFrame("GRAY8", {width, 48}, 1).caps().release());
    return take_warning(zones.element());
  };
  EXPECT_TRUE(is(take_frames_of(32), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "outside of the frame, which has 32x48"));
  EXPECT_FALSE(take_frames_of(64));
  EXPECT_FALSE(take_frames_of(32)) << "it has been said";
}

// --- the elements behind it ---

TEST_F(CudaVisionZones, json_has_events_and_counters) {
  ZonesHarness zones(kDoorAndHall);
  JsonHarness json;
  EXPECT_NE(
      json.line_of(zones.at(40))
          .find(
              R"("regions":[{"type":"person","x":38,"y":12,"width":4,"height":8,"score":null,"params":{"tracking":{"id":1}}}],)"
              R"("events":[],"zones":[{"name":"door","counts":[)"
              R"({"direction":"left-to-right","total":0,"recent":0,"types":[]},{"direction":"right-to-left","total":0,"recent":0,"types":[]}]},)"
              R"({"name":"hall","occupancy":0,"crowded":false,"counts":[{"direction":"enter","total":0,"recent":0,"types":[]},)"
              R"({"direction":"leave","total":0,"recent":0,"types":[]}]}],"tensors":[])"),
      std::string::npos);
  const std::string line = json.line_of(zones.at(28));
  EXPECT_NE(
      line.find(R"("events":[{"event":"cross","name":"door","id":1,"type":"person","x":28.0,"y":20.0,)"
                R"("direction":"left-to-right","running-time":40000000},{"event":"enter","name":"hall",)"),
      std::string::npos)
      << line;
  EXPECT_NE(
      line.find(
          R"({"name":"hall","occupancy":1,"crowded":false,"counts":[{"direction":"enter","total":1,"recent":1,)"
          R"("types":[{"type":"person","total":1,"recent":1}]},)"),
      std::string::npos)
      << line;
  EXPECT_EQ(json.line_of(frame()).find("events"), std::string::npos);
}

// The crossing is told 120 ms after the first box beyond the line. A frame without a time of day has events without.
TEST_F(CudaVisionZones, json_has_the_time_of_day_of_an_event) {
  ZonesHarness zones(R"({"lines": [{"name": "door", "from": [32, 0], "to": [32, 48], "least-stay": 0.1}]})");
  JsonHarness json;
  const auto line_at = [&](int x, const char *clock) {
    Owned<GstBuffer> buffer = zones.at(x);
    const Owned<GstCaps> reference(gst_caps_from_string(clock));
    gst_buffer_add_reference_timestamp_meta(
        buffer.get(), reference.get(), 1000 * GST_SECOND + GST_BUFFER_PTS(buffer.get()), GST_CLOCK_TIME_NONE);
    return json.line_of(std::move(buffer));
  };
  std::string line;
  for (const int x : {40, 40, 28, 20, 20, 20}) line = line_at(x, "timestamp/x-unix");
  EXPECT_NE(line.find(R"("running-time":200000000,"utc":"1970-01-01T00:16:40.200000000Z")"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(R"("running-time":80000000,"utc":"1970-01-01T00:16:40.080000000Z"}],)"),
            std::string::npos)
      << line;
  for (const int x : {20, 28, 40, 40, 40, 40}) line = line_at(x, "timestamp/x-boot");
  EXPECT_NE(line.find(R"("running-time":320000000}],)"), std::string::npos) << line;
}

TEST_F(CudaVisionZones, json_of_events_only_has_the_numbers_of_their_frames) {
  ZonesHarness zones(kDoor);
  JsonHarness json("only=events");
  for (const int x : {40, 38, 20, 22, 40}) EXPECT_EQ(json.push(zones.at(x)), GST_FLOW_OK);
  const std::vector<std::string> written = lines(json.file());
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(Json(written[0]).whole("frame"), 2);
  EXPECT_EQ(Json(written[1]).whole("frame"), 4);
  JsonHarness text("output=text only=events");
  for (const int x : {38, 20, 22}) EXPECT_EQ(text.push(zones.at(x)), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_in_queue(text.get()), 1u);
}

// A tenth of a metre for a pixel. Who walks by 2 pixels a frame walks 5 metres a second.
constexpr const char *kMetres =
    R"({"metres": {"picture": [[0, 0], [64, 0], [64, 48], [0, 48]], "ground": [[0, 0], [6.4, 0], [6.4, 4.8], [0, 4.8]]},
        "lines": [{"name": "door", "from": [32, 0], "to": [32, 48], "least-stay": 0}]})";

TEST_F(CudaVisionZones, places_on_the_ground_are_told_attached_and_drawn) {
  ZonesHarness zones(kMetres);
  JsonHarness json;
  Harness labels("cudavisionoverlay zones=false");
  const auto drawn = [&labels](const Owned<GstBuffer> &buffer) {
    labels.negotiate(track_picture());
    const Owned<GstBuffer> out = labels.exchange(Owned<GstBuffer>(gst_buffer_copy_deep(buffer.get())));
    std::vector<std::uint8_t> bytes(gst_buffer_get_size(out.get()));
    gst_buffer_extract(out.get(), 0, bytes.data(), bytes.size());
    return bytes;
  };
  zones.at(4);
  zones.time = 12 * 40 * GST_MSECOND;
  zones.at(28);
  zones.time = 25 * 40 * GST_MSECOND;
  const Owned<GstBuffer> frame = zones.at(54);
  ASSERT_EQ(count_in(frame, "events"), 1u);
  const GstStructure *event = gst_value_get_structure(
      gst_value_array_get_value(gst_structure_get_value(results_of(frame), "events"), 0));
  for (const auto &[field, expected] :
       {std::pair{"place-x", 5.4}, {"place-y", 2.0}, {"way", 5.0}, {"speed", 5.0}}) {
    double value = 0;
    EXPECT_TRUE(gst_structure_get_double(event, field, &value)) << field;
    EXPECT_NEAR(value, expected, 1e-9) << field;
  }
  const std::string line = json.line_of(Owned<GstBuffer>(gst_buffer_copy(frame.get())));
  const auto tracks = line.find("\"tracks\":[{\"id\":1,\"place-x\":5.4");
  ASSERT_NE(tracks, std::string::npos) << line;
  EXPECT_NE(line.find("\"speed\":5", tracks), std::string::npos) << line;
  const std::vector<std::uint8_t> with_speed = drawn(frame);
  Owned<GstBuffer> without(gst_buffer_copy(frame.get()));
  gst_buffer_remove_meta(without.get(), reinterpret_cast<GstMeta *>(gst_buffer_get_custom_meta(
                                            without.get(), "GstCudaVisionZonesMeta")));
  EXPECT_NE(drawn(without), with_speed);
  EXPECT_EQ(json.line_of(std::move(without)).find("tracks"), std::string::npos);
}

TEST_F(CudaVisionZones, who_comes_too_close_is_told_with_the_other_and_the_distance) {
  ZonesHarness zones(
      R"({"metres": {"picture": [[0, 0], [64, 0], [64, 48], [0, 48]], "ground": [[0, 0], [6.4, 0], [6.4, 4.8], [0, 4.8]]},
          "zones": [{"name": "hall", "polygon": [[0, 0], [64, 0], [64, 48], [0, 48]], "distance": 2, "least-stay": 0}]})");
  Owned<GstBuffer> buffer = track_picture().buffer();
  add_track(buffer.get(), {10, 12, 4, 8}, 1);
  add_track(buffer.get(), {25, 12, 4, 8}, 7);
  const Owned<GstBuffer> frame = zones.exchange(std::move(buffer));
  ASSERT_EQ(count_in(frame, "events"), 4u);
  EXPECT_NE(take_event(zones).find("event=(string)enter"), std::string::npos);
  EXPECT_NE(take_event(zones).find("event=(string)enter"), std::string::npos);
  for (const auto &[id, other] : {std::pair(1, 7), {7, 1}}) {
    const std::string told = take_event(zones), ids = std::to_string(id);
    EXPECT_NE(told.find("event=(string)close, name=(string)hall, id=(guint64)" + ids + ","),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("other=(guint64)" + std::to_string(other) + ", distance=(double)1.5"),
              std::string::npos)
        << told;
  }
}

// Crops and rotations drop the zones, as GStreamer's elements do with metas of these tags.
TEST_F(CudaVisionZones, scaled_frames_keep_zones_and_cropped_ones_do_not) {
  const auto shapes_behind = [](const std::string &elements) {
    const Owned<GstElement> pipeline =
        parse("videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! cudavisionzones name=zones ! " +
              elements + " ! appsink name=sink sync=false");
    GstElement *zones = child(pipeline, "zones"), *sink = child(pipeline, "sink");
    g_object_set(zones, "zones", kDoorAndHall, nullptr);
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    GstSample *pulled = nullptr;
    g_signal_emit_by_name(sink, "pull-sample", &pulled);
    const Owned<GstSample> sample(pulled);
    return count_in(Owned<GstBuffer>(gst_buffer_ref(gst_sample_get_buffer(sample.get()))), "shapes");
  };
  EXPECT_EQ(shapes_behind("videoscale ! video/x-raw,width=32,height=24"), 2u);
  EXPECT_EQ(shapes_behind("videoconvert ! video/x-raw,format=RGB"), 2u);
  EXPECT_EQ(shapes_behind("videocrop left=4"), 0u);
  EXPECT_EQ(shapes_behind("videoflip video-direction=90r"), 0u);
}

// A meta into which another program has written anything.
TEST_F(CudaVisionZones, metas_of_others_are_written_and_drawn_as_far_as_they_can_be) {
  ZonesHarness zones(kDoorAndHall);
  for (const char *text :
       {"x", "x, tracks=(int)1", "x, tracks=<1>",
        "x, tracks=<(structure)\"t\\,\\ id\\=\\(string\\)a\\,\\ speed\\=\\(double\\)1e300\\;\">",
        "x, events=(int)1, zones=<1, 2.5>, shapes=<(structure)\"s\\,\\ "
        "points\\=\\(int\\)4\\;\">, width=(string)a",
        "x, shapes=<(structure)\"s\\,\\ points\\=\\(structure\\)\\<\\ \\\"p\\\\\\,\\\\\\ "
        "x\\\\\\=\\\\\\(double\\\\\\)1e300\\\\\\;\\\"\\ "
        "\\>\\;\">, width=-5, height=7"}) {
    const Owned<GstBuffer> out = zones.at(20);
    GstStructure *results = const_cast<GstStructure *>(results_of(out));
    gst_structure_remove_all_fields(results);
    GstStructure *written = gst_structure_from_string(text, nullptr);
    ASSERT_NE(written, nullptr) << text;
    for (const char *field : {"events", "zones", "shapes", "tracks", "width", "height"})
      if (gst_structure_has_field(written, field))
        gst_structure_set_value(results, field, gst_structure_get_value(written, field));
    gst_structure_free(written);
    JsonHarness json;
    EXPECT_TRUE(Json(json.line_of(Owned<GstBuffer>(gst_buffer_copy(out.get())))).has("events"));
    Harness overlay("cudavisionoverlay");
    overlay.negotiate(track_picture());
    EXPECT_NE(overlay.exchange(Owned<GstBuffer>(gst_buffer_copy_deep(out.get()))), nullptr);
  }
}

using cudavision::make_primitive;
using cudavision::Primitive;

// Whether the overlay, with zones alone, draws these primitives on the frame.
testing::AssertionResult looks_like(Harness *overlay, Owned<GstBuffer> buffer,
                                    const std::vector<Primitive> &primitives) {
  overlay->negotiate(track_picture());
  const Owned<GstBuffer> out = overlay->exchange(Owned<GstBuffer>(gst_buffer_copy_deep(buffer.get())));
  const VideoFrame expected = with_primitives(track_picture(), primitives);
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(out.get()));
  gst_buffer_extract(out.get(), 0, bytes.data(), bytes.size());
  return same_bytes(bytes, expected);
}

TEST_F(CudaVisionZones, overlay_draws_lines_with_arrows_and_flashes_for_half_a_second) {
  ZonesHarness zones(kDoorAndHall);
  Harness overlay("cudavisionoverlay regions=false draw-labels=false zone-color=white");
  const auto drawn = [](int door_width, int hall_width) {
    const cudavision::Color white = color_in(track_picture(), 0xffffffff);
    const auto line = [&](int width, int x0, int y0, int x1, int y1) {
      return make_primitive(Primitive::Kind::line, width, white, x0, y0, x1, y1);
    };
    return std::vector<Primitive>{line(door_width, 32, 0, 32, 48),  line(door_width, 32, 24, 26, 24),
                                  line(door_width, 29, 21, 26, 24), line(door_width, 29, 27, 26, 24),
                                  line(hall_width, 0, 48, 0, 0),    line(hall_width, 0, 0, 32, 0),
                                  line(hall_width, 32, 0, 32, 48),  line(hall_width, 32, 48, 0, 48)};
  };
  EXPECT_TRUE(looks_like(&overlay, zones.at(40), drawn(1, 1)));
  EXPECT_TRUE(looks_like(&overlay, zones.at(28), drawn(3, 3)));
  EXPECT_TRUE(looks_like(&overlay, zones.at(33), drawn(3, 3))) << "a leave, and the crossing of before";
  zones.time = 540 * GST_MSECOND;
  EXPECT_TRUE(looks_like(&overlay, zones.at(40), drawn(3, 3)));
  zones.time = 2000 * GST_MSECOND;
  EXPECT_TRUE(looks_like(&overlay, zones.at(42), drawn(1, 1)));
}

TEST_F(CudaVisionZones, overlay_writes_counters) {
  ZonesHarness zones(kDoor);
  Harness plain("cudavisionoverlay regions=false draw-labels=false"),
      labels("cudavisionoverlay regions=false");
  const auto of = [](Harness *overlay, const Owned<GstBuffer> &buffer) {
    overlay->negotiate(track_picture());
    const Owned<GstBuffer> out = overlay->exchange(Owned<GstBuffer>(gst_buffer_copy_deep(buffer.get())));
    std::vector<std::uint8_t> bytes(gst_buffer_get_size(out.get()));
    gst_buffer_extract(out.get(), 0, bytes.data(), bytes.size());
    return bytes;
  };
  const Owned<GstBuffer> before = zones.at(40);
  const std::vector<std::uint8_t> none = of(&labels, before), one = of(&labels, zones.at(20));
  EXPECT_NE(none, of(&plain, before));
  EXPECT_NE(none, one);
}

// Somebody stands in the hall. A tracker gives an id of its own to the box of a stray frame.
TEST_F(CudaVisionZones, a_stray_timestamp_counts_nobody_twice) {
  for (const GstClockTime stray : {GstClockTime{0}, GstClockTime{14400} * GST_SECOND})
    for (const guint64 id_in_stray_frame : {1, 2}) {
      ZonesHarness zones(kDoorAndHall);
      zones.time = 7200 * GST_SECOND;
      for (int n = 0; n < 60; ++n) {
        const GstClockTime time = zones.time;
        if (n == 30) zones.time = stray;
        zones.at(16, 20, n == 30 ? id_in_stray_frame : 1);
        zones.time = time + 100 * GST_MSECOND;
      }
      EXPECT_NE(take_event(zones).find("event=(string)enter"), std::string::npos);
      EXPECT_EQ(take_event(zones), "");
    }
}

// A frame counts as 1/30 s. Four people come one after the other, each for a frame.
TEST_F(CudaVisionZones, people_leave_also_if_nothing_tells_the_time) {
  ZonesHarness zones(kDoorAndHall);
  Owned<GstCaps> caps = track_picture().caps();
  caps.reset(gst_caps_make_writable(caps.release()));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 0, 1, nullptr);
  gst_harness_set_src_caps(zones.get(), caps.release());
  for (guint64 id = 1; id <= 4; ++id)
    for (int n = 0; n < 92; ++n) {
      zones.time = GST_CLOCK_TIME_NONE;
      if (n == 0)
        zones.at(16, 20, id);
      else
        zones.exchange(track_picture().buffer());
    }
  for (int i = 0; i < 8; ++i)
    EXPECT_NE(take_event(zones).find(i % 2 == 0 ? "event=(string)enter" : "event=(string)leave"),
              std::string::npos)
        << i;
  EXPECT_EQ(take_event(zones), "");
}

}  // namespace
