// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames with primitives drawn on them.
#include "tests/elements/drawn_frame.h"

namespace cudavision::test {

Frame view_of(VideoFrame *frame) {
  const GstVideoInfo &info = frame->info();
  Frame view;
  view.model = frame->is_rgb()                 ? ColorModel::rgb
               : frame->component_count() == 1 ? ColorModel::gray
                                               : ColorModel::yuv;
  view.width = frame->size().width;
  view.height = frame->size().height;
  for (int c = 0; c < frame->component_count(); ++c)
    view.component[c] = {.data = &frame->sample(c, 0, 0),
                         .pitch_bytes = GST_VIDEO_INFO_COMP_STRIDE(&info, c),
                         .step_bytes = GST_VIDEO_INFO_COMP_PSTRIDE(&info, c),
                         .shift_x = frame->shift_x(c),
                         .shift_y = frame->shift_y(c)};
  return view;
}

Region region_of(const VideoFrame &frame, Part part) {
  if (part.width == 0) return {0, 0, frame.size().width, frame.size().height};
  return {part.x, part.y, part.width, part.height};
}

Color color_in(const VideoFrame &frame, std::uint32_t argb) {
  const Colour colour = colour_in(frame, argb);
  Color color;
  for (std::size_t i = 0; i < 3; ++i) color.component[i] = static_cast<std::uint8_t>(colour[i]);
  color.alpha = static_cast<std::uint8_t>(argb >> 24);
  return color;
}

VideoFrame with_primitives(VideoFrame frame, const std::vector<Primitive> &primitives, Part part) {
  const Workers workers(1);
  std::unique_ptr<Canvas> canvas;
  EXPECT_TRUE(make_canvas({Backend::cpu, &workers, nullptr}, frame.size(), &canvas).ok());
  EXPECT_TRUE(canvas
                  ->draw(view_of(&frame), primitives.data(), static_cast<int>(primitives.size()), nullptr,
                         region_of(frame, part))
                  .ok());
  return frame;
}

}  // namespace cudavision::test
