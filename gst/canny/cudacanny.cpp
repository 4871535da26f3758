// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudacanny
 * @title: cudacanny
 * @short_description: Canny's edge detector
 *
 * cudacanny finds the edges of every frame: byte for byte those of OpenCV's `cv::Canny`, on an NVIDIA GPU or,
 * without one, on the CPU. With `output=edges` they replace the picture, white on black; with `output=overlay`
 * they are drawn on it. The luma is analysed: of RGB what `cv::cvtColor` makes of it, of YUV the Y as it is.
 * With a region of interest the picture outside of it stays as it is.
 *
 * Thresholds are in units of the Sobel operator: a step of k grey levels answers with 4 k at aperture 3, 48 k at
 * 5 and 640 k at 7, so that a threshold of 100 at aperture 3 corresponds to 1200 and 16000.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudacanny ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc pattern=ball ! cudacanny output=overlay color=0xff00ff00 ! videoconvert ! autovideosink
 * ]|
 */
// clang-format on
#include "gst/gstcudacanny.h"

#include <utility>
#include <vector>

#include "gst/base/attach.h"
#include "gst/base/format.h"
#include "gst/base/properties.h"
#include "gst/base/tensor_pool.h"
#include "cuda/canny/canny.h"
#include "gst/canny/canny_properties.h"
#include "cuda/common/owned_memory.h"
#include "cuda/draw/draw.h"
#include "cuda/histogram/histogram.h"

namespace {

using cudavision::Job;
using cudavision::OwnedImage;
using cudavision::Site;
using cudavision::Size;
using cudavision::Status;

enum class Output { edges, overlay };

struct CannySettings : cudavision::CannyParams {
  Output output = Output::edges;
  guint32 color = 0xffff0000;
};

}  // namespace

struct GstCudaVisionCanny {
  GstCudaVisionFilter parent;
  CannySettings *settings;
};
struct GstCudaVisionCannyClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionCanny, gst_cuda_vision_canny, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudacanny, "cudacanny", GST_RANK_NONE, GST_TYPE_CUDA_VISION_CANNY)

namespace {

using Properties = cudavision::PropertyTable<CannySettings>;

class CannyOperation final : public cudavision::Operation {
 public:
  explicit CannyOperation(GstCudaVisionCanny *element) : element_(element) {}

  Status allocate(const Site &site) {
    region_ = site.region;
    const auto bytes = static_cast<std::size_t>(region_.width) * static_cast<std::size_t>(region_.height);
    CUDAVISION_TRY(cudavision::TensorPool::make(site.context, bytes, &tensors_));
    CUDAVISION_TRY(edges_.allocate(site.execution, region_));
    CUDAVISION_TRY(counts_.allocate(site.execution, sizeof edge_counts_));
    CUDAVISION_TRY(make_histogram(site.execution, &histogram_));
    return make_canny(site.execution, region_, &canny_);
  }

  Status run(const Job &job) override {
    const CannySettings settings = Properties::snapshot(element_);
    if (!job.draw) return attach(job, settings);
    CUDAVISION_TRY(canny_->run(job.luma, edges_.view(), settings));
    if (job.report) CUDAVISION_TRY(count(job, edges_.view()));
    if (settings.output == Output::edges)
      return replace_with_mask(job.execution, job.frame, job.region, edges_.view());
    return overlay_mask(job.execution, job.frame, job.region, edges_.view(),
                        cudavision::color_of(settings.color, *job.info));
  }

  bool host_reads_result() const override { return false; }

  void describe(GstStructure *message) override {
    gst_structure_set(message, "edge-pixels", G_TYPE_UINT, edge_counts_[1], nullptr);
  }

 private:
  // The edge map goes along with the frame, whose picture stays as it is.
  Status attach(const Job &job, const CannySettings &settings) {
    cudavision::TensorPool::Lease lease;
    CUDAVISION_TRY(tensors_->acquire(&lease));
    const cudavision::ImageView<std::uint8_t> edges{static_cast<std::uint8_t *>(lease.data), region_.width,
                                                    region_.width, region_.height};
    CUDAVISION_TRY(attach_tensor(job, "edges", GST_CUDA_VISION_ELEMENT_TYPE_U8,
                                 {region_.height, region_.width}, lease.buffer));
    CUDAVISION_TRY(canny_->run(job.luma, edges, settings));
    return job.report ? count(job, edges) : Status();
  }

  // For the message: how many pixels of the map are 0, and how many 255.
  Status count(const Job &job, cudavision::ImageView<const std::uint8_t> edges) {
    auto *counts = static_cast<std::uint32_t *>(counts_.data());
    CUDAVISION_TRY(histogram_->run(cudavision::luma_samples(edges), {2, 0, 256}, counts));
    return copy_to_host(job.execution, edge_counts_, counts, sizeof edge_counts_);
  }

  GstCudaVisionCanny *element_;
  Size region_;
  OwnedImage edges_;
  std::unique_ptr<cudavision::Canny> canny_;
  std::unique_ptr<cudavision::TensorPool> tensors_;
  std::unique_ptr<cudavision::Histogram> histogram_;
  cudavision::OwnedBytes counts_;
  std::uint32_t edge_counts_[2] = {};
};

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto made = std::make_unique<CannyOperation>(reinterpret_cast<GstCudaVisionCanny *>(filter));
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

GType output_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Output::edges), "The edge map replaces the picture: 255 on edges, 0 elsewhere",
       "edges"},
      {static_cast<int>(Output::overlay), "Edges are drawn on the picture in a colour", "overlay"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionCannyOutput", values);
  return type;
}

void install_properties(GObjectClass *klass) {
  using S = CannySettings;
  std::vector<cudavision::Property<S>> properties = cudavision::canny_properties<S>();
  properties.insert(
      properties.end(),
      {cudavision::boolean_property<S>(
           {"l2-gradient", "L2 gradient",
            "Measure the gradient by sqrt(dx^2 + dy^2), otherwise by |dx| + |dy|"},
           &S::l2_gradient, cudavision::Mutable::controllable),
       cudavision::boolean_property<S>(
           {"hysteresis", "Hysteresis",
            "Keep weak pixels that hang together with strong ones, otherwise strong ones alone"},
           &S::hysteresis, cudavision::Mutable::controllable),
       cudavision::enum_property<S>({"output", "Output", "What becomes of the picture when display is on"},
                                    output_type(), &S::output, cudavision::Mutable::controllable),
       cudavision::color_property<S>(
           {"color", "Color", "Colour and opacity of drawn edges as 0xAARRGGBB (default opaque red)"},
           &S::color)});
  Properties::install(
      klass, [](GObject *object) { return reinterpret_cast<GstCudaVisionCanny *>(object)->settings; },
      std::move(properties));
}

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionCanny *>(object)->settings;
  G_OBJECT_CLASS(gst_cuda_vision_canny_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_canny_class_init(GstCudaVisionCannyClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Canny edge detector", "Filter/Effect/Video/Hardware",
                                        "Finds edges as cv::Canny does, on an NVIDIA GPU or on the CPU",
                                        "gst-cudavision");
  cudavision::add_video_pads(element);
  reinterpret_cast<GstCudaVisionFilterClass *>(klass)->make_operation = make_operation;
}

static void gst_cuda_vision_canny_init(GstCudaVisionCanny *canny) { canny->settings = new CannySettings(); }
