// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: metas in serialised form (GStreamer 1.24). The first byte chooses the meta, the second one is the
// version.
#include <gst/cudavision/cudavision.h>
#include <gst/gst.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  gst_init(nullptr, nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size < 2) return 0;
  const GstMetaInfo *const infos[] = {gst_cuda_vision_tensor_meta_get_info(),
                                      gst_cuda_vision_keypoints_meta_get_info(),
                                      gst_cuda_vision_lines_meta_get_info()};
  const GstMetaInfo *info = infos[data[0] % std::size(infos)];
  GstBuffer *buffer = gst_buffer_new();
  const GstMeta *meta = info->deserialize_func(info, buffer, data + 2, size - 2, data[1]);
  if (meta != nullptr) {  // what is accepted can be written again
    GByteArray *written = g_byte_array_new();
    if (!gst_meta_serialize_simple(meta, written)) std::abort();
    g_byte_array_unref(written);
  }
  gst_buffer_unref(buffer);
  return 0;
}
