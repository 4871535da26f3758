// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionoverlay draws tensors as the elements that computed them do; tensors of others may hold anything.
#include <gst/cudavision/cudavision.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaVisionOverlayTensor : public ElementTest {};
class CudaVisionOverlayTensorFormat : public ElementTest, public testing::WithParamInterface<const char *> {};
INSTANTIATE_TEST_SUITE_P(, CudaVisionOverlayTensorFormat,
                         testing::Values("GRAY8", "NV12", "I420", "YUY2", "RGB", "BGRA"));

VideoFrame frame_of(const char *format, Size size, std::vector<std::uint8_t> bytes) {
  VideoFrame frame(format, size);
  frame.bytes() = std::move(bytes);
  return frame;
}

// The last frame as drawn by an element itself, and as drawn by the overlay after the element with display=false.
struct Pictures {
  std::vector<std::uint8_t> own, overlaid;
};
Pictures pictures_of(const std::string &element, const std::vector<VideoFrame> &frames,
                     const std::string &overlay_properties) {
  Harness own(element), hidden(element + " display=false"),
      overlay("cudavisionoverlay " + overlay_properties);
  Pictures pictures;
  for (const VideoFrame &frame : frames) {
    pictures.own = own.work(frame);
    hidden.negotiate(frame), overlay.negotiate(frame);
    const Owned<GstBuffer> out = overlay.exchange(hidden.exchange(frame.buffer()));
    pictures.overlaid = bytes_of(out.get());
  }
  return pictures;
}

testing::AssertionResult look_the_same(const std::string &element, const std::vector<VideoFrame> &frames,
                                       const std::string &overlay_properties = {}) {
  const Pictures pictures = pictures_of(element, frames, overlay_properties);
  if (pictures.own == frames.back().bytes())
    return testing::AssertionFailure() << element << " draws nothing";
  VideoFrame expected = frames.back();
  expected.bytes() = pictures.own;
  return same_bytes(pictures.overlaid, expected);
}

TEST_P(CudaVisionOverlayTensorFormat, edges_look_the_same) {
  for (const Size size : {Size{61, 47}, Size{120, 90}}) {
    const std::vector<VideoFrame> frame{VideoFrame(GetParam(), size, 3)};
    EXPECT_TRUE(look_the_same("cudacanny output=overlay", frame));
    EXPECT_TRUE(
        look_the_same("cudacanny output=overlay color=0x8000ff00 roi-x=5 roi-y=7 roi-width=31 roi-height=29",
                      frame, "edge-color=0x8000ff00"));
  }
}

TEST_P(CudaVisionOverlayTensorFormat, what_its_element_has_drawn_is_not_drawn_again) {
  for (const char *element : {"cudacanny", "cudacanny output=overlay color=blue", "cudahistogram",
                              "cudaopticalflow preset=fast", "cudaopticalflow display-mode=arrows"}) {
    Harness own(element), overlay("cudavisionoverlay");
    for (unsigned seed = 1; seed < 3; ++seed) {
      const VideoFrame frame(GetParam(), {64, 48}, seed);
      own.negotiate(frame), overlay.negotiate(frame);
      Owned<GstBuffer> drawn = own.exchange(frame.buffer());
      const VideoFrame expected = frame_of(GetParam(), {64, 48}, bytes_of(drawn.get()));
      EXPECT_TRUE(same_bytes(bytes_of(overlay.exchange(std::move(drawn)).get()), expected)) << element;
    }
  }
}

TEST_P(CudaVisionOverlayTensorFormat, flow_looks_the_same) {
  const std::string flow = "cudaopticalflow window-size=5 levels=1 iterations=2 ";
  for (const Size size : kSlow ? std::vector{Size{40, 33}} : std::vector{Size{97, 83}, Size{160, 130}}) {
    const VideoFrame first(GetParam(), size, 3), second(GetParam(), size, 4);
    const std::vector<VideoFrame> frames{first, first, second};
    EXPECT_TRUE(look_the_same(flow, frames, "flow-mode=wheel"));
    EXPECT_TRUE(look_the_same(flow + "display-mode=arrows color=direction", frames));
    EXPECT_TRUE(
        look_the_same(flow + "stride=4 display-mode=arrows color=direction arrow-scale=9 line-width=2",
                      frames, "arrow-scale=9 line-width=2"));
    EXPECT_TRUE(look_the_same(flow + "stride=2 max-speed=2 roi-x=4 roi-y=6 roi-width=32 roi-height=26",
                              frames, "flow-mode=wheel max-speed=2"));
  }
}

// The frame is so small that the plot has no axes.
TEST_P(CudaVisionOverlayTensorFormat, histogram_looks_the_same) {
  const std::vector<VideoFrame> frame{VideoFrame(GetParam(), {40, 26}, 3)};
  EXPECT_TRUE(look_the_same("cudahistogram", frame));
  EXPECT_TRUE(look_the_same("cudahistogram mode=channels bins=20", frame));
}

TEST_F(CudaVisionOverlayTensor, edges_outside_of_the_region_of_interest_stay) {
  const VideoFrame frame("RGB", {64, 48}, 3);
  Harness canny("cudacanny display=false"),
      overlay("cudavisionoverlay roi-x=11 roi-y=9 roi-width=20 roi-height=17"), whole("cudavisionoverlay");
  canny.negotiate(frame), overlay.negotiate(frame), whole.negotiate(frame);
  const Owned<GstBuffer> part = overlay.exchange(canny.exchange(frame.buffer())),
                         all = whole.exchange(canny.exchange(frame.buffer()));
  const VideoFrame drawn = frame_of("RGB", {64, 48}, bytes_of(part.get())),
                   expected = frame_of("RGB", {64, 48}, bytes_of(all.get()));
  int edges = 0;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c) {
        const bool inside = x >= 11 && x < 31 && y >= 9 && y < 26;
        ASSERT_EQ(drawn.sample(c, x, y), (inside ? expected : frame).sample(c, x, y)) << x << ", " << y;
        edges += drawn.sample(c, x, y) != frame.sample(c, x, y);
      }
  EXPECT_GT(edges, 0);
}

// --- tensors of others ---

struct Tensor {
  const char *id;
  GstCudaVisionElementType type;
  std::vector<gsize> dims;
  std::vector<std::uint8_t> bytes;
  guint width = 64, height = 48;
  double x = 0, y = 0, step = 1, step_y = 1;
  std::size_t offset = 0;  // of the first byte in its memory
};

void attach(GstBuffer *buffer, const Tensor &tensor) {
  GstBuffer *data = gst_buffer_new_allocate(nullptr, tensor.offset + tensor.bytes.size(), nullptr);
  gst_buffer_fill(data, tensor.offset, tensor.bytes.data(), tensor.bytes.size());
  gst_buffer_resize(data, static_cast<gssize>(tensor.offset), static_cast<gssize>(tensor.bytes.size()));
  GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_add_tensor_meta(
      buffer, tensor.id, tensor.type, static_cast<guint>(tensor.dims.size()), tensor.dims.data(), data);
  ASSERT_NE(meta, nullptr);
  gst_cuda_vision_tensor_meta_set_geometry(meta, tensor.width, tensor.height, tensor.x, tensor.y, tensor.step,
                                           tensor.step_y);
}

std::vector<std::uint8_t> drawn(Harness *overlay, const VideoFrame &frame,
                                const std::vector<Tensor> &tensors) {
  overlay->negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  for (const Tensor &tensor : tensors) attach(buffer.get(), tensor);
  const Owned<GstBuffer> out = overlay->exchange(std::move(buffer));
  return bytes_of(out.get());
}

constexpr GstCudaVisionElementType kU8 = GST_CUDA_VISION_ELEMENT_TYPE_U8,
                                   kF32 = GST_CUDA_VISION_ELEMENT_TYPE_F32,
                                   kU32 = GST_CUDA_VISION_ELEMENT_TYPE_U32;

std::vector<std::uint8_t> bytes_of_floats(const std::vector<float> &values) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(values.data());
  return {first, first + values.size() * sizeof(float)};
}

TEST_F(CudaVisionOverlayTensor, map_of_an_application_is_drawn_where_it_lies) {
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  Harness overlay("cudavisionoverlay edge-color=white message=true");
  std::vector<std::uint8_t> expected = frame.bytes();
  expected[static_cast<std::size_t>(21 * 64 + 12)] = 255;
  EXPECT_TRUE(
      same_bytes(drawn(&overlay, frame, {{"edges", kU8, {2, 3}, {0, 0, 0, 0, 0, 255}, 64, 48, 10, 20}}),
                 frame_of("GRAY8", {64, 48}, expected)));
  gint tensors = 0;
  while (const Owned<GstMessage> message = take_message(overlay.element(), GST_MESSAGE_ELEMENT))
    gst_structure_get_int(gst_message_get_structure(message.get()), "tensors", &tensors);
  EXPECT_EQ(tensors, 1);
}

TEST_F(CudaVisionOverlayTensor, what_does_not_belong_to_the_frame_is_left_out) {
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  const std::vector<std::uint8_t> six(6, 255), flow = bytes_of_floats(std::vector<float>(12, 5));
  Harness overlay("cudavisionoverlay flow-mode=wheel");
  for (const Tensor &tensor :
       std::vector<Tensor>{{"edges", kU8, {2, 3}, six, 65, 48, 10, 20},
                           {"edges", kU8, {2, 3}, six, 0, 0, 10, 20},
                           {"edges", kU8, {2, 3}, six, 64, 48, 62, 20},
                           {"edges", kU8, {2, 3}, six, 64, 48, 10, 47},
                           {"edges", kU8, {2, 3}, six, 64, 48, -1, 20},
                           {"edges", kU8, {2, 3}, six, 64, 48, 0.5, 20},
                           {"edges", kU8, {2, 3}, six, 64, 48, 10, 20, 2, 2},
                           {"edges", kU8, {2, 3}, six, 64, 48, 10, 20, 0, 0},
                           {"edges", kU8, {2, 3}, six, 64, 48, 10, 20, 1, 2},
                           {"edges", kU8, {6}, six},
                           {"other", kU8, {2, 3}, six},
                           {"optical-flow", kF32, {2, 3, 2}, flow},
                           {"optical-flow", kF32, {3, 4}, flow},
                           {"histogram", kU32, {2, 3}, bytes_of_floats({1, 2, 3, 4, 5, 6})}})
    EXPECT_TRUE(same_bytes(drawn(&overlay, frame, {tensor}), frame))
        << tensor.id << " " << tensor.x << " " << tensor.y;
  // Validity tensors of another place and of another shape.
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame,
                               {{"optical-flow", kF32, {2, 3, 2}, flow},
                                {"optical-flow-valid", kU8, {2, 3}, six, 64, 48, 1, 0},
                                {"optical-flow-valid", kU8, {3, 2}, six}}),
                         frame));
}

// Vectors that are no numbers, or as large as they can be, look as no motion does. Their memory is not aligned.
TEST_F(CudaVisionOverlayTensor, vectors_of_others_may_be_anything) {
  const VideoFrame frame("BGRA", {64, 48}, 3);
  const std::vector<std::uint8_t> valid(64 * 48, 1);
  const auto flow_of = [](const std::vector<float> &values) {
    std::vector<float> flow(64 * 48 * 2, 0);
    for (std::size_t i = 0; i < flow.size(); ++i) flow[i] = values[i % values.size()];
    return bytes_of_floats(flow);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                  kMost = std::numeric_limits<float>::max();
  const std::vector<std::uint8_t> wild = flow_of({NAN, 1, kInfinity, -kInfinity, 2, NAN, kMost, -kMost, NAN,
                                                  NAN, 0, kMost}),
                                  still = flow_of({0});
  for (const char *mode : {"wheel", "arrows"}) {
    Harness overlay("cudavisionoverlay flow-mode=" + std::string(mode));
    const std::vector<std::uint8_t> expected =
        drawn(&overlay, frame,
              {{"optical-flow", kF32, {48, 64, 2}, still}, {"optical-flow-valid", kU8, {48, 64}, valid}});
    Tensor tensor{"optical-flow", kF32, {48, 64, 2}, wild};
    tensor.offset = 1;
    EXPECT_TRUE(same_bytes(drawn(&overlay, frame, {tensor, {"optical-flow-valid", kU8, {48, 64}, valid}}),
                           frame_of("BGRA", {64, 48}, expected)))
        << mode;
  }
}

// Somebody has changed the meta behind the element that computed the tensor.
TEST_F(CudaVisionOverlayTensor, tensors_that_cannot_be_read_are_left_out) {
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  const std::vector<std::uint8_t> flow = bytes_of_floats(std::vector<float>(12, 5)), valid(6, 1);
  const Tensor tensors[] = {{"edges", kU8, {2, 3}, std::vector<std::uint8_t>(6, 255), 64, 48, 10, 20},
                            {"optical-flow", kF32, {2, 3, 2}, flow},
                            {"optical-flow-valid", kU8, {2, 3}, valid},
                            {"histogram", kU32, {1, 6}, bytes_of_floats({1, 2, 3, 4, 5, 6})}};
  const struct {
    std::function<void(GstCudaVisionTensorMeta *)> spoil;
    bool warned;  // whether there is a warning: for tensors that would be drawn, but cannot be read
  } cases[] = {{[](auto *meta) { meta->id = 0; }, false},
               {[](auto *meta) { meta->id = G_MAXUINT32; }, false},
               {[](auto *meta) { meta->n_dims = 1000; }, false},
               {[](auto *meta) { meta->dims[1] = 0; }, true},
               {[](auto *meta) { meta->dims[0] = G_MAXSIZE; }, false},
               {[](auto *meta) { meta->origin_x = meta->step_y = NAN; }, false},
               {[](auto *meta) { std::memset(&meta->element_type, 77, sizeof meta->element_type); }, false},
               {[](auto *meta) { gst_clear_buffer(&meta->data); }, true},
               {[](auto *meta) { gst_buffer_set_size(meta->data, 5); }, true}};
  for (const auto &c : cases) {
    Harness overlay("cudavisionoverlay flow-mode=wheel");
    overlay.negotiate(frame);
    for (int i = 0; i < 3; ++i) {
      Owned<GstBuffer> buffer = frame.buffer();
      for (const Tensor &tensor : tensors) attach(buffer.get(), tensor);
      const std::unique_ptr<GPtrArray, decltype(&g_ptr_array_unref)> metas(
          gst_cuda_vision_buffer_get_tensor_metas(buffer.get()), g_ptr_array_unref);
      // A histogram has no position, so its dimensions are spoiled instead.
      for (guint j = 0; j < metas->len; ++j) {
        auto *meta = static_cast<GstCudaVisionTensorMeta *>(g_ptr_array_index(metas.get(), j));
        c.spoil(meta);
        if (std::isnan(meta->origin_x) && j == 3) meta->n_dims = 1;
      }
      const Owned<GstBuffer> out = overlay.exchange(std::move(buffer));
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), frame)) << &c - cases;
    }
    EXPECT_EQ(take_warning(overlay.element()).has_value(), c.warned) << &c - cases;
    EXPECT_FALSE(take_warning(overlay.element())) << "one is enough";
  }
}

// Pooled buffers may carry cleared metas.
TEST_F(CudaVisionOverlayTensor, cleared_metas_are_left_out) {
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  Harness overlay("cudavisionoverlay");
  overlay.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  ASSERT_NE(gst_buffer_add_meta(buffer.get(), GST_CUDA_VISION_TENSOR_META_INFO, nullptr), nullptr);
  const Owned<GstBuffer> out = overlay.exchange(std::move(buffer));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), frame));
}

TEST_F(CudaVisionOverlayTensor, tensors_can_be_left_out) {
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  Harness overlay("cudavisionoverlay tensors=false");
  const Tensor edges{"edges", kU8, {2, 3}, std::vector<std::uint8_t>(6, 255), 64, 48, 10, 20};
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, {edges}), frame));
  g_object_set(overlay.element(), "tensors", TRUE, nullptr);
  EXPECT_NE(drawn(&overlay, frame, {edges}), frame.bytes());
  g_object_set(overlay.element(), "tensors", FALSE, nullptr);
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, {edges}), frame));
}

TEST_F(CudaVisionOverlayTensor, properties_have_the_defaults_of_the_elements) {
  const Owned<GstElement> overlay = parse("cudavisionoverlay"), canny = parse("cudacanny"),
                          flow = parse("cudaopticalflow");
  EXPECT_EQ(text(overlay.get(), "edge-color"), text(canny.get(), "color"));
  for (const char *property : {"max-speed", "arrow-scale"})
    EXPECT_EQ(real(overlay.get(), property), real(flow.get(), property));
}

}  // namespace
