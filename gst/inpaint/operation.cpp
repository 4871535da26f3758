// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudainpaint does with each frame.
#include "inpaint/operation.h"

#include <chrono>
#include <cmath>
#include <string>

#include "base/format.h"

namespace cudavision {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProgressInterval = std::chrono::milliseconds(500);

// What GStreamer says of the caps' colorimetry; BT.601 where that says nothing.
RgbMatrix matrix_of(const GstVideoInfo &info) {
  gdouble kr, kb;
  if (!gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb)) kr = 0.299, kb = 0.114;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset, scale);
  const double kg = 1 - kr - kb, luma = 255.0 / scale[0], chroma = 255.0 / scale[1];
  const auto fixed = [](double factor) { return static_cast<int>(std::lround(factor * (1 << 14))); };
  return {offset[0],
          fixed(luma),
          fixed(2 * (1 - kr) * chroma),
          fixed(-2 * (1 - kb) * kb / kg * chroma),
          fixed(-2 * (1 - kr) * kr / kg * chroma),
          fixed(2 * (1 - kb) * chroma)};
}

// Appends the regions of interest of this type.
void add_regions(GstBuffer *buffer, const std::string &type, std::vector<Region> *regions) {
  const auto clipped = [](guint value) { return static_cast<int>(std::min<guint>(value, G_MAXINT)); };
  gpointer state = nullptr;
  while (const GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto *roi = reinterpret_cast<const GstVideoRegionOfInterestMeta *>(meta);
    if (type != "*" && roi->roi_type != g_quark_try_string(type.c_str())) continue;
    regions->push_back({clipped(roi->x), clipped(roi->y), clipped(roi->w), clipped(roi->h)});
  }
}

void post_progress(GstElement *element, GstProgressType type, int filled, int removed) {
  gchar *text = g_strdup_printf("Filled %d of %d pixels", filled, removed);
  gst_element_post_message(element, gst_message_new_progress(GST_OBJECT(element), type, "inpaint", text));
  g_free(text);
}

}  // namespace

Status InpaintOperation::allocate(const Site &site) {
  const Size size{GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)};
  matrix_ = matrix_of(*site.info);
  if (picture_) {
    host_mask_ = picture_->scaled_to(size);
    CUDAVISION_TRY(mask_.allocate(site.execution, host_mask_.size()));
    CUDAVISION_TRY(copy_from_host(site.execution, mask_.data(), host_mask_.data(), host_mask_.size()));
  }
  CUDAVISION_TRY(make_removal_mask(site.execution, size, &removal_));
  return make_inpaint(site.execution, size, &inpaint_);
}

Reads InpaintOperation::begin_frame() {
  settings_ = take_settings_();
  return Reads::components;
}

Status InpaintOperation::run(const Job &job) {
  report_ = {};
  RemovalSources sources;
  const InpaintParams params = settings_.params();
  if (!job.draw || (!find_sources(job, &sources) && !params.temporal)) return {};
  ImageView<const std::uint8_t> mask;
  CUDAVISION_TRY(removal_->run(job.frame, sources, &mask));
  return inpaint_->run({job.frame, sources.alpha, mask, matrix_}, params, &report_, {}, progress());
}

Status InpaintOperation::finish(const Job &) {
  if (progressing_) post_progress(element_, GST_PROGRESS_TYPE_COMPLETE, report_.removed, report_.removed);
  progressing_ = false;
  if (report_.refused && !warned_)
    GST_ELEMENT_WARNING(
        element_, STREAM, FAILED,
        ("%d pixels are removed: no patch of %dx%d pixels is left to fill them from, and the frame "
         "stays as it is",
         report_.removed, settings_.patch_size, settings_.patch_size),
        (nullptr));
  warned_ = report_.refused;
  return {};
}

void InpaintOperation::describe(GstStructure *message) {
  gst_structure_set(message, "removed", G_TYPE_UINT, static_cast<guint>(report_.removed), "remembered",
                    G_TYPE_UINT, static_cast<guint>(report_.remembered), "patches", G_TYPE_UINT,
                    static_cast<guint>(report_.patches), "diffused", G_TYPE_UINT,
                    static_cast<guint>(report_.diffused), "refused", G_TYPE_BOOLEAN,
                    static_cast<gboolean>(report_.refused), nullptr);
}

bool InpaintOperation::find_sources(const Job &job, RemovalSources *sources) {
  regions_.clear();
  if (settings_.region_width > 0 && settings_.region_height > 0)
    regions_.push_back(
        {settings_.region_x, settings_.region_y, settings_.region_width, settings_.region_height});
  if (settings_.roi_type) add_regions(job.buffer, *settings_.roi_type, &regions_);
  sources->picture = static_cast<const std::uint8_t *>(mask_.data());
  sources->regions = regions_.data();
  sources->region_count = static_cast<int>(regions_.size());
  sources->color = color_of(settings_.mask_color, *job.info);
  sources->by_color = sources->color.alpha != 0;
  sources->tolerance = settings_.mask_tolerance;
  sources->alpha = alpha_of(job);
  sources->limit = job.region;
  sources->dilation = settings_.dilation;
  return sources->picture != nullptr || !regions_.empty() || sources->by_color ||
         sources->alpha.data != nullptr;
}

// Of mask-alpha; without data where there is none.
Component InpaintOperation::alpha_of(const Job &job) const {
  if (!settings_.mask_alpha || !GST_VIDEO_INFO_HAS_ALPHA(job.info)) return {};
  Component alpha = job.frame.component[0];
  alpha.data += GST_VIDEO_INFO_COMP_POFFSET(job.info, 3) - GST_VIDEO_INFO_COMP_POFFSET(job.info, 0);
  return alpha;
}

Inpaint::Progress InpaintOperation::progress() {
  return [this, next = Clock::now() + kProgressInterval](int filled, int removed) mutable {
    if (Clock::now() < next) return;
    next = Clock::now() + kProgressInterval;
    post_progress(element_, progressing_ ? GST_PROGRESS_TYPE_CONTINUE : GST_PROGRESS_TYPE_START, filled,
                  removed);
    progressing_ = true;
  };
}

}  // namespace cudavision
