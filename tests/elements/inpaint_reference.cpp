// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudainpaint.
#include "tests/elements/inpaint_reference.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <cmath>

#include "tests/elements/drawn_frame.h"

namespace cudavision::test {
namespace {

const Workers &one_worker() {
  static const Workers workers(1);
  return workers;
}

// The matrix of BT.601 or BT.709 by their definitions, in 2^-14.
RgbMatrix matrix_of(const VideoFrame &frame) {
  const GstVideoInfo &info = frame.info();
  const bool bt709 = info.colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709;
  const bool full = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  const double kr = bt709 ? 0.2126 : 0.299, kb = bt709 ? 0.0722 : 0.114, kg = 1 - kr - kb;
  const double y = full ? 1 : 255.0 / 219, c = full ? 1 : 255.0 / 224;
  const auto fixed = [](double v) { return static_cast<int>(std::lround(v * 16384)); };
  return {.offset = full ? 0 : 16,
          .luma = fixed(y),
          .red_v = fixed(2 * (1 - kr) * c),
          .green_u = fixed(-2 * (1 - kb) * kb / kg * c),
          .green_v = fixed(-2 * (1 - kr) * kr / kg * c),
          .blue_u = fixed(2 * (1 - kb) * c)};
}

}  // namespace

InpaintReference::InpaintReference(Size size) {
  EXPECT_TRUE(make_inpaint({Backend::cpu, &one_worker(), nullptr}, size, &inpaint_).ok());
}

VideoFrame InpaintReference::filled(VideoFrame frame, const Picture &mask, const InpaintParams &params,
                                    bool opaque) {
  InpaintFrame job{
      view_of(&frame), {}, {mask.row(0), mask.width(), mask.width(), mask.height()}, matrix_of(frame)};
  if (opaque) {
    job.alpha = job.frame.component[0];
    job.alpha.data = &frame.sample(3, 0, 0);
  }
  const Status status = inpaint_->run(job, params, &report_, {}, {});
  EXPECT_TRUE(status.ok()) << status.text();
  return frame;
}

VideoFrame with_filled(const VideoFrame &frame, const Picture &mask, const InpaintParams &params,
                       bool opaque) {
  return InpaintReference(frame.size()).filled(frame, mask, params, opaque);
}

Picture mask_of(Size size, const std::vector<Region> &regions) {
  Picture mask(size);
  for (const Region &r : regions)
    for (int y = r.y; y < r.y + r.height; ++y)
      for (int x = r.x; x < r.x + r.width; ++x) mask.at(x, y) = 255;
  return mask;
}

std::vector<std::uint8_t> through(const Owned<GstElement> &pipeline, const VideoFrame &frame) {
  auto *in = GST_APP_SRC(child(pipeline, "in"));
  const Owned<GstCaps> caps = frame.caps();
  gst_app_src_set_caps(in, caps.get());
  EXPECT_EQ(gst_app_src_push_buffer(in, frame.buffer().release()), GST_FLOW_OK);
  EXPECT_EQ(gst_app_src_end_of_stream(in), GST_FLOW_OK);
  std::vector<std::uint8_t> bytes;
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstSample *sample = gst_app_sink_try_pull_sample(GST_APP_SINK(child(pipeline, "out")), kPatience);
  EXPECT_NE(sample, nullptr);
  if (sample != nullptr) {
    bytes = bytes_of(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return bytes;
}

}  // namespace cudavision::test
