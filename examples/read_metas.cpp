// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what the elements attach to frames: runs a pipeline and prints the metas of every frame.
//
//   read_metas [PIPELINE]
//   read_metas "filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahistogram display=false"
//
// To build it:
//   c++ read_metas.cpp -o read_metas $(pkg-config --cflags --libs gstreamer-cudavision-1.0 gstreamer-app-1.0)
#include <gst/app/gstappsink.h>
#include <gst/cudavision/cudavision.h>

#include <cstdio>
#include <string>

#include "one_file.h"
#include "warnings.h"

namespace {

template <typename T>
void print_list(gconstpointer data, gsize size) {
  const T *values = static_cast<const T *>(data);
  for (gsize i = 0; i < size / sizeof(T); ++i) std::printf(" %" G_GINT64_FORMAT, gint64{values[i]});
}

template <>
void print_list<gfloat>(gconstpointer data, gsize size) {
  const gfloat *values = static_cast<const gfloat *>(data);
  for (gsize i = 0; i < size / sizeof(gfloat); ++i) std::printf(" %g", values[i]);
}

void print_numbers(const GstCudaVisionTensorMeta *tensor) {
  GBytes *bytes = gst_cuda_vision_tensor_meta_get_bytes(tensor);  // downloads a tensor on a GPU
  if (bytes == nullptr) return;
  gsize size = 0;
  gconstpointer data = g_bytes_get_data(bytes, &size);
  switch (tensor->element_type) {
    case GST_CUDA_VISION_ELEMENT_TYPE_U8:
      print_list<guint8>(data, size);
      break;
    case GST_CUDA_VISION_ELEMENT_TYPE_U16:
      print_list<guint16>(data, size);
      break;
    case GST_CUDA_VISION_ELEMENT_TYPE_U32:
      print_list<guint32>(data, size);
      break;
    case GST_CUDA_VISION_ELEMENT_TYPE_I32:
      print_list<gint32>(data, size);
      break;
    case GST_CUDA_VISION_ELEMENT_TYPE_F32:
      print_list<gfloat>(data, size);
      break;
  }
  g_bytes_unref(bytes);
}

void print_tensor(const GstCudaVisionTensorMeta *tensor) {
  const gchar *id = gst_cuda_vision_tensor_meta_get_id(tensor);
  guint n_dims = 0;
  const gsize *dims = gst_cuda_vision_tensor_meta_get_dims(tensor, &n_dims);
  if (id == nullptr || n_dims == 0) {  // a buffer pool has cleared it, or an element has changed it
    std::printf("  a tensor that cannot be read\n");
    return;
  }
  std::printf("  tensor %s %s ", id, gst_cuda_vision_element_type_to_string(tensor->element_type));
  for (guint i = 0; i < n_dims; ++i) std::printf("[%" G_GSIZE_FORMAT "]", dims[i]);
  std::printf(" of %ux%u from (%g, %g) in steps of (%g, %g):", tensor->frame_width, tensor->frame_height,
              tensor->origin_x, tensor->origin_y, tensor->step_x, tensor->step_y);
  print_numbers(tensor);
  std::printf("\n");
}

void print_keypoints(const GstCudaVisionKeypointsMeta *meta) {
  guint n = 0;
  const GstCudaVisionKeypoint *keypoints = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &n);
  std::printf("  %u keypoints\n", n);
  for (guint i = 0; i < n; ++i)
    std::printf("    (%g, %g) response %g angle %g\n", keypoints[i].x, keypoints[i].y, keypoints[i].response,
                keypoints[i].angle);
}

void print_lines(const GstCudaVisionLinesMeta *meta) {
  guint n = 0;
  const GstCudaVisionLine *lines = gst_cuda_vision_lines_meta_get_lines(meta, &n);
  std::printf("  %u lines\n", n);
  for (guint i = 0; i < n; ++i)
    std::printf("    rho %g theta %g votes %u from (%g, %g) to (%g, %g)\n", lines[i].rho, lines[i].theta,
                lines[i].votes, lines[i].x1, lines[i].y1, lines[i].x2, lines[i].y2);
}

void print_region(const GstCudaVisionRegion *region) {
  std::printf("  region %s id %d in %d at (%d, %d) of %ux%u score %g\n",
              region->type != nullptr ? region->type : "unnamed", region->id, region->parent_id, region->x,
              region->y, region->width, region->height, region->score);
}

// The metas belong to the buffer: copy any data that is needed longer.
void print_metas(GstBuffer *buffer) {
  GPtrArray *tensors = gst_cuda_vision_buffer_get_tensor_metas(buffer);
  for (guint i = 0; i < tensors->len; ++i)
    print_tensor(static_cast<GstCudaVisionTensorMeta *>(g_ptr_array_index(tensors, i)));
  g_ptr_array_unref(tensors);
  if (const auto *keypoints = gst_cuda_vision_buffer_get_keypoints_meta(buffer)) print_keypoints(keypoints);
  if (const auto *lines = gst_cuda_vision_buffer_get_lines_meta(buffer)) print_lines(lines);
  GList *regions = gst_cuda_vision_buffer_get_regions(buffer);  // the list holds copies
  for (GList *item = regions; item != nullptr; item = item->next)
    print_region(static_cast<const GstCudaVisionRegion *>(item->data));
  g_list_free_full(regions, reinterpret_cast<GDestroyNotify>(gst_cuda_vision_region_free));
}

// Prints the error that ended the stream, if there is one.
bool has_failed(GstElement *pipeline) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (message == nullptr) return false;
  GError *error = nullptr;
  gchar *debug = nullptr;  // often names the file
  gst_message_parse_error(message, &error, &debug);
  std::fprintf(stderr, "%s (%s)\n", error->message, debug);
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  return true;
}

// Returns the exit code of the program. Waits for frames with a timeout, because after an error no frame arrives.
int run(GstElement *pipeline) {
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), "metas");
  GstAppSink *sink = GST_APP_SINK(element);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  bool failed = false;
  for (unsigned frame = 0; !failed && !gst_app_sink_is_eos(sink);) {
    if (GstSample *sample = gst_app_sink_try_pull_sample(sink, 100 * GST_MSECOND)) {
      std::printf("frame %u\n", frame++);
      print_metas(gst_sample_get_buffer(sample));
      gst_sample_unref(sample);
    } else {
      failed = has_failed(pipeline);
    }
  }
  failed = failed || has_failed(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(element);
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  read_nothing_else();
  const std::string described = argc > 1 ? argv[1] : "videotestsrc num-buffers=3 ! cudahistogram bins=16";
  GError *error = nullptr;
  GstElement *pipeline =
      gst_parse_launch((described + " ! appsink name=metas sync=false max-buffers=4").c_str(), &error);
  if (error != nullptr) {
    std::fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  print_warnings(pipeline);
  const int code = run(pipeline);
  gst_object_unref(pipeline);
  return code;
}
