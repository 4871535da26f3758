// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs cudavisionjson between two pads of the test and parses its lines with json-glib.
#include "tests/elements/json_lines.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cudavision::test {

// --- Json ---

Json::Json(const std::string &line) : parser_(json_parser_new_immutable(), g_object_unref) {
  GError *error = nullptr;
  EXPECT_TRUE(
      json_parser_load_from_data(parser_.get(), line.data(), static_cast<gssize>(line.size()), &error))
      << (error != nullptr ? error->message : "") << ": " << line.substr(0, 200);
  g_clear_error(&error);
}

JsonNode *Json::find(const std::string &path) const {
  JsonNode *node = json_parser_get_root(parser_.get());
  std::istringstream steps(path);
  for (std::string step; node != nullptr && std::getline(steps, step, '.');) {
    if (JSON_NODE_HOLDS_OBJECT(node)) {
      node = json_object_get_member(json_node_get_object(node), step.c_str());
    } else if (JSON_NODE_HOLDS_ARRAY(node)) {
      JsonArray *array = json_node_get_array(node);
      const auto index = static_cast<guint>(std::stoul(step));
      node = index < json_array_get_length(array) ? json_array_get_element(array, index) : nullptr;
    } else {
      node = nullptr;
    }
  }
  return node;
}

JsonNode *Json::value(const std::string &path, GType type) const {
  JsonNode *node = find(path);
  const bool holds = node != nullptr && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
  EXPECT_TRUE(holds) << path << " is " << (node != nullptr ? json_node_type_name(node) : "missing");
  return holds ? node : nullptr;
}

bool Json::is_null(const std::string &path) const {
  JsonNode *node = find(path);
  return node != nullptr && JSON_NODE_HOLDS_NULL(node);
}

std::string Json::text(const std::string &path) const {
  JsonNode *node = value(path, G_TYPE_STRING);
  return node != nullptr ? json_node_get_string(node) : "";
}

gint64 Json::whole(const std::string &path) const {
  JsonNode *node = value(path, G_TYPE_INT64);
  return node != nullptr ? json_node_get_int(node) : -1;
}

double Json::real(const std::string &path) const {
  JsonNode *node = value(path, G_TYPE_DOUBLE);
  return node != nullptr ? json_node_get_double(node) : -1;
}

std::size_t Json::length(const std::string &path) const {
  JsonNode *node = find(path);
  const bool list = node != nullptr && JSON_NODE_HOLDS_ARRAY(node);
  EXPECT_TRUE(list) << path;
  return list ? json_array_get_length(json_node_get_array(node)) : 0;
}

std::vector<std::string> Json::members(const std::string &path) const {
  std::vector<std::string> names;
  JsonNode *node = find(path);
  if (node == nullptr || !JSON_NODE_HOLDS_OBJECT(node)) return names;
  GList *list = json_object_get_members(json_node_get_object(node));
  for (GList *item = list; item != nullptr; item = item->next)
    names.emplace_back(static_cast<const char *>(item->data));
  g_list_free(list);
  return names;
}

// --- files ---

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "cudavisionjson-XXXXXX").string()) {
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string content(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> lines(const std::string &file) {
  const std::string text = content(file);
  EXPECT_TRUE(text.empty() || text.back() == '\n')
      << "half a line: " << text.substr(text.rfind('\n') + 1, 200);
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// --- JsonHarness ---

JsonHarness::JsonHarness(const std::string &properties, const std::string &location)
    : element_(parse("cudavisionjson " + properties)),
      harness_(nullptr),
      file_(location.empty() ? folder_.path("lines.jsonl") : location) {
  g_object_set(element_.get(), "location", file_.c_str(), nullptr);
  harness_ = gst_harness_new_with_element(element_.get(), "sink", "src");
  negotiate("video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1");
}

void JsonHarness::negotiate(const std::string &caps) { gst_harness_set_src_caps_str(harness_, caps.c_str()); }

std::string JsonHarness::line_of(Owned<GstBuffer> buffer) {
  EXPECT_EQ(push(std::move(buffer)), GST_FLOW_OK);
  const std::vector<std::string> all = lines(file_);
  EXPECT_FALSE(all.empty());
  return all.empty() ? "{}" : all.back();
}

void JsonHarness::restart() {
  gst_element_set_state(element(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_stream_start("again")));
  negotiate("video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1");
}

void JsonHarness::flush() {
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_segment(&segment)));
}

// --- frames ---

Owned<GstBuffer> frame(GstClockTime pts) {
  GstBuffer *buffer = gst_buffer_new();
  GST_BUFFER_PTS(buffer) = pts;
  return Owned<GstBuffer>(buffer);
}

void add_keypoints(GstBuffer *frame, const std::vector<GstCudaVisionKeypoint> &keypoints) {
  EXPECT_NE(gst_cuda_vision_buffer_add_keypoints_meta(frame, keypoints.data(),
                                                      static_cast<guint>(keypoints.size())),
            nullptr);
}

void add_lines(GstBuffer *frame, const std::vector<GstCudaVisionLine> &lines) {
  EXPECT_NE(gst_cuda_vision_buffer_add_lines_meta(frame, lines.data(), static_cast<guint>(lines.size())),
            nullptr);
}

GstVideoRegionOfInterestMeta *add_region(GstBuffer *frame, const char *type) {
  return gst_buffer_add_video_region_of_interest_meta(frame, type, 1, 2, 64, 128);
}

void add_score(GstVideoRegionOfInterestMeta *region, double score) {
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, score, nullptr));
}

}  // namespace cudavision::test
