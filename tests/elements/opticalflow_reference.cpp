// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudaopticalflow.
#include "tests/elements/opticalflow_reference.h"

#include "cuda/draw/canvas.h"
#include "cuda/opticalflow/flow_display.h"
#include "tests/elements/drawn_frame.h"
#include "tests/support/pictures.h"

namespace cudavision::test {
namespace {

const Workers &one_worker() {
  static const Workers workers(1);
  return workers;
}
Execution cpu() { return {Backend::cpu, &one_worker(), nullptr}; }

FlowOnFrame on_frame(const ExpectedFlow &flow, Region region) {
  return {{reinterpret_cast<const FlowVector *>(flow.xy.data()), flow.size.width * 8, flow.size.width,
           flow.size.height},
          {flow.valid.data(), flow.size.width, flow.size.width, flow.size.height},
          flow.stride,
          region};
}

ImageView<const std::uint8_t> view_of_mat(const cv::Mat &mat) {
  return {mat.ptr(), static_cast<std::ptrdiff_t>(mat.step), mat.cols, mat.rows};
}

}  // namespace

ExpectedFlow flow_between(const VideoFrame &first, const VideoFrame &second, const OpticalFlowParams &params,
                          Part part) {
  const Region region = region_of(first, part);
  const cv::Rect rectangle(region.x, region.y, region.width, region.height);
  const cv::Mat lumas[] = {luma_of(first)(rectangle).clone(), luma_of(second)(rectangle).clone()};
  ExpectedFlow flow;
  flow.stride = params.stride;
  flow.size = flow_size({region.width, region.height}, params.stride);
  flow.valid.resize(static_cast<std::size_t>(flow.size.width) * static_cast<std::size_t>(flow.size.height));
  flow.xy.resize(2 * flow.valid.size());
  std::unique_ptr<OpticalFlow> optical_flow;
  EXPECT_TRUE(make_opticalflow(cpu(), {region.width, region.height}, &optical_flow).ok());
  EXPECT_TRUE(optical_flow->run(view_of_mat(lumas[0]), params, {}, {}).ok());
  EXPECT_TRUE(optical_flow
                  ->run(view_of_mat(lumas[1]), params,
                        {reinterpret_cast<FlowVector *>(flow.xy.data()), flow.size.width * 8, flow.size.width,
                         flow.size.height},
                        {flow.valid.data(), flow.size.width, flow.size.width, flow.size.height})
                  .ok());
  return flow;
}

VideoFrame with_wheel(VideoFrame frame, const ExpectedFlow &flow, double max_speed, Part part) {
  constexpr std::uint32_t kCorners[] = {0xffff0000, 0xffffff00, 0xff00ff00,
                                        0xff00ffff, 0xff0000ff, 0xffff00ff};
  FlowWheel wheel;
  for (int i = 0; i < 6; ++i) wheel.corners[i] = color_in(frame, kCorners[i]);
  wheel.ring = color_in(frame, 0xffffffff);
  wheel.black = color_in(frame, 0xff000000);
  wheel.max_speed = static_cast<float>(max_speed);
  const FlowOnFrame placed = on_frame(flow, region_of(frame, part));
  wheel.legend_radius = legend_radius_for({placed.region.width, placed.region.height});
  EXPECT_TRUE(draw_flow_wheel(cpu(), view_of(&frame), placed, wheel).ok());
  return frame;
}

VideoFrame with_arrows(VideoFrame frame, const ExpectedFlow &flow, std::uint32_t argb, float scale,
                       int line_width, Part part) {
  const Region region = region_of(frame, part);
  const int count = arrow_line_count({region.width, region.height});
  std::vector<Primitive> lines(static_cast<std::size_t>(count));
  FlowArrows arrows{.scale = scale, .line_width = line_width};
  std::fill_n(arrows.colors, 6, color_in(frame, argb));
  EXPECT_TRUE(make_flow_arrows(cpu(), on_frame(flow, region), arrows, lines.data()).ok());
  std::unique_ptr<Canvas> canvas;
  EXPECT_TRUE(make_canvas(cpu(), frame.size(), &canvas).ok());
  EXPECT_TRUE(canvas->draw(view_of(&frame), lines.data(), count, nullptr).ok());
  return frame;
}

void expect_flow(const Owned<GstBuffer> &buffer, const ExpectedFlow &flow) {
  ASSERT_NE(buffer, nullptr);
  ASSERT_EQ(tensor_count(buffer), 2);
  const auto rows = static_cast<std::size_t>(flow.size.height),
             columns = static_cast<std::size_t>(flow.size.width);
  const GstCudaVisionTensorMeta *vectors = tensor_of(buffer, "optical-flow");
  ASSERT_NE(vectors, nullptr);
  EXPECT_EQ(vectors->element_type, GST_CUDA_VISION_ELEMENT_TYPE_F32);
  EXPECT_EQ(dims_of(vectors), (std::vector<std::size_t>{rows, columns, 2}));
  EXPECT_EQ(elements_of<float>(vectors), flow.xy);
  const GstCudaVisionTensorMeta *valid = tensor_of(buffer, "optical-flow-valid");
  ASSERT_NE(valid, nullptr);
  EXPECT_EQ(valid->element_type, GST_CUDA_VISION_ELEMENT_TYPE_U8);
  EXPECT_EQ(dims_of(valid), (std::vector<std::size_t>{rows, columns}));
  EXPECT_EQ(elements_of<std::uint8_t>(valid), flow.valid);
  for (const GstCudaVisionTensorMeta *meta : {vectors, valid}) {
    EXPECT_EQ(geometry_of(meta).step_x, flow.stride);
    EXPECT_EQ(geometry_of(meta).step_y, flow.stride);
  }
}

void expect_untouched(const Owned<GstBuffer> &buffer, const VideoFrame &frame) {
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(tensor_count(buffer), 0);
  EXPECT_TRUE(same_bytes(bytes_of(buffer.get()), frame));
}

VideoFrame moving_frame(const std::string &format, Size size, int i, Layout layout) {
  static const Picture texture = smooth_noise({260, 220}, 2, 77);
  VideoFrame frame(format, size, static_cast<unsigned>(100 + i), layout);
  const auto shade = [&](int x, int y) { return texture.at(60 + x - 3 * i, 60 + y - i); };
  for (int c = 0; c < (frame.is_rgb() ? 3 : 1); ++c)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        frame.sample(c, x, y) = static_cast<std::uint8_t>((frame.sample(c, x, y) + 7 * shade(x, y)) / 8);
  return frame;
}

}  // namespace cudavision::test
