// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudahistogram
 * @title: cudahistogram
 * @short_description: How many pixels have each value
 *
 * cudahistogram counts the values of every frame exactly, as `cv::calcHist` does, and attaches the counts as the
 * tensor `histogram`: `[channels][bins]`, u32. With `mode=luma` there is one channel; with `mode=channels` there
 * are R, G, B or Y, U, V, whatever the order in memory, and alpha is not counted. With `display` the histogram
 * is plotted on the frame, a panel for each channel.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahistogram ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc num-buffers=1 ! cudahistogram display=false ! cudavisionjson tensor-data=full ! fakesink
 * ]|
 */
// clang-format on
#include "gst/gstcudahistogram.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gst/base/attach.h"
#include "gst/base/format.h"
#include "gst/base/properties.h"
#include "gst/base/tensor_pool.h"
#include "gst/base/valid_settings.h"
#include "cuda/common/owned_memory.h"
#include "cuda/histogram/histogram.h"
#include "cuda/histogram/plot.h"

namespace {

using cudavision::Job;
using cudavision::Samples;
using cudavision::Site;
using cudavision::Status;

enum class Mode { luma, channels };

struct HistogramSettings : cudavision::HistogramParams {
  Mode mode = Mode::luma;

  friend bool operator==(const HistogramSettings &, const HistogramSettings &) = default;
};

struct State {
  HistogramSettings settings;  // under the object lock
  cudavision::ValidSettings<HistogramSettings> valid;
};

}  // namespace

struct GstCudaVisionHistogram {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionHistogramClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionHistogram, gst_cuda_vision_histogram, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudahistogram, "cudahistogram", GST_RANK_NONE, GST_TYPE_CUDA_VISION_HISTOGRAM)

namespace {

using Properties = cudavision::PropertyTable<HistogramSettings>;

class HistogramOperation final : public cudavision::Operation {
 public:
  explicit HistogramOperation(GstCudaVisionHistogram *element) : element_(element) {}

  Status allocate(const Site &site) {
    constexpr int kMost = cudavision::kMaxChannels;
    context_ = site.context;
    CUDAVISION_TRY(make_histogram(site.execution, &histogram_));
    CUDAVISION_TRY(primitives_.allocate(
        site.execution, sizeof(cudavision::Primitive) * cudavision::plot_size(kMost, cudavision::kMaxBins)));
    return make_canvas(site.execution, {GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)},
                       &canvas_);
  }

  cudavision::Reads begin_frame() override {
    settings_ = element_->state->valid.take(element_, Properties::snapshot(element_));
    return settings_.mode == Mode::channels ? cudavision::Reads::components : cudavision::Reads::luma;
  }

  Status run(const Job &job) override {
    const HistogramSettings &settings = settings_;
    const bool channels = settings.mode == Mode::channels;
    const Samples samples =
        channels ? channel_samples(job.frame, job.region) : cudavision::luma_samples(job.luma);
    cudavision::TensorPool::Lease lease;
    CUDAVISION_TRY(lease_counts(samples.channels * settings.bins, &lease));
    auto *counts = static_cast<std::uint32_t *>(lease.data);
    CUDAVISION_TRY(attach_tensor(job, "histogram", GST_CUDA_VISION_ELEMENT_TYPE_U32,
                                 {samples.channels, settings.bins}, lease.buffer));
    CUDAVISION_TRY(histogram_->run(samples, settings, counts));
    if (job.report) CUDAVISION_TRY(read_back(job, counts, samples.channels, settings.bins));
    return job.draw ? plot(job, counts, samples.channels, settings) : Status();
  }

  bool host_reads_result() const override { return false; }

  // The number of samples that were counted, and the fullest bin of the first channel.
  void describe(GstStructure *message) override {
    const auto first = reported_.begin(), end = first + reported_bins_;
    gst_structure_set(message, "counted", G_TYPE_UINT64, std::accumulate(first, reported_.end(), guint64{0}),
                      "fullest-bin", G_TYPE_UINT, static_cast<guint>(std::max_element(first, end) - first),
                      nullptr);
  }

 private:
  Status read_back(const Job &job, const std::uint32_t *counts, int channels, int bins) {
    reported_.assign(static_cast<std::size_t>(channels) * static_cast<std::size_t>(bins), 0);
    reported_bins_ = bins;
    return copy_to_host(job.execution, reported_.data(), counts, reported_.size() * sizeof(std::uint32_t));
  }

  // One pool for each size of tensor; a new size, after a change of bins or mode, makes a new one.
  Status lease_counts(int count, cudavision::TensorPool::Lease *lease) {
    if (count != pool_count_) {
      pool_count_ = 0;
      CUDAVISION_TRY(cudavision::TensorPool::make(
          context_, static_cast<std::size_t>(count) * sizeof(std::uint32_t), &pool_));
      pool_count_ = count;
    }
    return pool_->acquire(lease);
  }

  Status plot(const Job &job, const std::uint32_t *counts, int channels, const HistogramSettings &settings) {
    cudavision::HistogramPlot plot = cudavision::place_plot(job.region, channels);
    plot.background = cudavision::color_of(0xa0000000, *job.info);
    plot.outline = cudavision::color_of(0xffffffff, *job.info);
    static constexpr guint32 kOne[3] = {0xffffffff, 0, 0}, kRgb[3] = {0xffff4040, 0xff40ff40, 0xff6080ff},
                             kYuv[3] = {0xffffffff, 0xff6080ff, 0xffff4040};
    const guint32 *colors = channels == 1 ? kOne : GST_VIDEO_INFO_IS_RGB(job.info) ? kRgb : kYuv;
    for (int i = 0; i < channels; ++i) plot.bars[i] = cudavision::color_of(colors[i], *job.info);
    auto *primitives = static_cast<cudavision::Primitive *>(primitives_.data());
    CUDAVISION_TRY(plot_histogram(job.execution, counts, channels, settings.bins, plot, primitives));
    return canvas_->draw(job.frame, primitives, cudavision::plot_size(channels, settings.bins), nullptr);
  }

  GstCudaVisionHistogram *element_;
  HistogramSettings settings_;  // of the frame
  std::shared_ptr<const cudavision::DeviceContext> context_;
  std::unique_ptr<cudavision::Histogram> histogram_;
  std::unique_ptr<cudavision::TensorPool> pool_;
  int pool_count_ = 0;
  std::vector<std::uint32_t> reported_;  // for the message
  int reported_bins_ = 0;
  cudavision::OwnedBytes primitives_;
  std::unique_ptr<cudavision::Canvas> canvas_;
};

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto made = std::make_unique<HistogramOperation>(reinterpret_cast<GstCudaVisionHistogram *>(filter));
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  auto *histogram = reinterpret_cast<GstCudaVisionHistogram *>(filter);
  return histogram->state->valid.begin(Properties::snapshot(histogram));
}

GType mode_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Mode::luma), "One channel: the luma", "luma"},
      {static_cast<int>(Mode::channels), "A channel for each of R, G, B or Y, U, V", "channels"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHistogramMode", values);
  return type;
}

void install_properties(GObjectClass *klass) {
  using S = HistogramSettings;
  Properties::install(
      klass,
      [](GObject *object) { return &reinterpret_cast<GstCudaVisionHistogram *>(object)->state->settings; },
      {cudavision::integer_property<S>({"bins", "Bins", "Number of bins of equal width"}, &S::bins, 1, 256),
       cudavision::enum_property<S>({"mode", "Mode", "What is counted"}, mode_type(), &S::mode),
       cudavision::integer_property<S>({"range-min", "Range minimum", "The least value that is counted"},
                                       &S::range_min, 0, 255),
       cudavision::integer_property<S>(
           {"range-max", "Range maximum", "The value from which on nothing is counted (more than range-min)"},
           &S::range_max, 1, 256)});
}

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionHistogram *>(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_histogram_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_histogram_class_init(GstCudaVisionHistogramClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Histogram", "Filter/Analyzer/Video/Hardware",
      "Counts the values of every frame as cv::calcHist does, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_histogram_init(GstCudaVisionHistogram *histogram) {
  histogram->state = new State();
}
