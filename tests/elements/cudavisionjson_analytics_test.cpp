// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionjson: GStreamer's analytics metas, which other elements attach too (GStreamer 1.24).
#include <gst/gst.h>

#include <cmath>
#include <string>

#include "tests/elements/json_lines.h"

#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

namespace {

using namespace cudavision::test;

class CudaVisionJsonAnalytics : public ElementTest {};

GstAnalyticsODMtd add_detection(GstAnalyticsRelationMeta *relations, const char *type, int x,
                                float confidence) {
  GstAnalyticsODMtd detection;
  EXPECT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string(type), x, -2, 30, 40,
                                                     confidence, &detection));
  return detection;
}

GstAnalyticsClsMtd add_class(GstAnalyticsRelationMeta *relations, const char *name, float confidence) {
  GstAnalyticsClsMtd classes;
  EXPECT_TRUE(gst_analytics_relation_meta_add_one_cls_mtd(relations, confidence, g_quark_from_string(name),
                                                          &classes));
  return classes;
}

TEST_F(CudaVisionJsonAnalytics, detections_have_class_box_confidence_id_and_classes) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  const GstAnalyticsODMtd car = add_detection(relations, "car", 10, 0.5f);
  add_detection(relations, "a \"b\"", 20, 0.25f);
  const GstAnalyticsClsMtd red = add_class(relations, "red", 0.75f);
  GstAnalyticsTrackingMtd tracking;
  ASSERT_TRUE(gst_analytics_relation_meta_add_tracking_mtd(relations, 77, 0, &tracking));
  for (const guint id : {red.id, tracking.id})
    ASSERT_TRUE(
        gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, car.id, id));
  add_class(relations, "street", 0.125f);
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(
      line.find(
          R"("regions":[],"detections":[{"class":"car","x":10,"y":-2,"width":30,"height":40,"confidence":0.5,)"
          R"("tracking-id":77,"classes":[{"class":"red","confidence":0.75}]},)"
          R"({"class":"a \"b\"","x":20,"y":-2,"width":30,"height":40,"confidence":0.25,"classes":[]}],)"
          R"("classifications":[{"class":"street","confidence":0.125}],"tensors":[])"),
      std::string::npos)
      << line;
}

// A member of a JSON object must not come twice, so the line has only one id.
TEST_F(CudaVisionJsonAnalytics, first_of_two_trackers_gives_the_id) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  const GstAnalyticsODMtd car = add_detection(relations, "car", 10, 0.5f);
  for (const guint64 id : {G_MAXUINT64, guint64{77}, guint64{88}}) {  // the first one is none
    GstAnalyticsTrackingMtd tracking;
    ASSERT_TRUE(gst_analytics_relation_meta_add_tracking_mtd(relations, id, 0, &tracking));
    ASSERT_TRUE(gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, car.id,
                                                         tracking.id));
  }
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_NE(line.find("\"tracking-id\":77"), std::string::npos) << line;
  EXPECT_EQ(line.find("\"tracking-id\""), line.rfind("\"tracking-id\"")) << line;
}

// Classes that nobody knows or that are no text, confidences that are no numbers, boxes as large as they can be.
TEST_F(CudaVisionJsonAnalytics, items_of_others_may_say_anything) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  GstAnalyticsODMtd detection;
  ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, G_MAXUINT32, G_MININT, G_MAXINT, G_MAXINT,
                                                     G_MININT, NAN, &detection));
  add_detection(relations, "T\xfcr", 1, INFINITY);
  add_class(relations, "\xff", -INFINITY);
  const Json line = json.json_of(std::move(buffer));
  EXPECT_TRUE(line.is_null("detections.0.class"));
  EXPECT_TRUE(line.is_null("detections.0.confidence"));
  EXPECT_EQ(line.whole("detections.0.x"), G_MININT);
  EXPECT_EQ(line.text("detections.1.class"), "T\xef\xbf\xbdr");
  EXPECT_TRUE(line.is_null("classifications.0.confidence"));
}

TEST_F(CudaVisionJsonAnalytics, meta_without_items_adds_nothing) {
  JsonHarness json;
  Owned<GstBuffer> buffer = frame();
  gst_buffer_add_analytics_relation_meta(buffer.get());
  const std::string line = json.line_of(std::move(buffer));
  EXPECT_EQ(line.find("detections"), std::string::npos) << line;
  EXPECT_EQ(line.find("classifications"), std::string::npos) << line;
}

}  // namespace
#endif
