// SPDX-License-Identifier: LGPL-2.1-or-later
// The names and sizes of a tensor's element types.
#include <gst/cudavision/elementtype.h>

namespace {

constexpr GEnumValue kTypes[] = {
    {GST_CUDA_VISION_ELEMENT_TYPE_U8, "GST_CUDA_VISION_ELEMENT_TYPE_U8", "u8"},
    {GST_CUDA_VISION_ELEMENT_TYPE_U16, "GST_CUDA_VISION_ELEMENT_TYPE_U16", "u16"},
    {GST_CUDA_VISION_ELEMENT_TYPE_U32, "GST_CUDA_VISION_ELEMENT_TYPE_U32", "u32"},
    {GST_CUDA_VISION_ELEMENT_TYPE_I32, "GST_CUDA_VISION_ELEMENT_TYPE_I32", "i32"},
    {GST_CUDA_VISION_ELEMENT_TYPE_F32, "GST_CUDA_VISION_ELEMENT_TYPE_F32", "f32"},
    {0, nullptr, nullptr}};
constexpr gsize kSizes[] = {1, 2, 4, 4, 4};

// The index of a type in the tables; -1 if C code passed an invalid value.
int index_of(GstCudaVisionElementType type) {
  const int value = static_cast<int>(type);
  return value >= 0 && value < static_cast<int>(G_N_ELEMENTS(kSizes)) ? value : -1;
}

}  // namespace

GType gst_cuda_vision_element_type_get_type() {
  static const GType type = g_enum_register_static("GstCudaVisionElementType", kTypes);
  return type;
}

gsize gst_cuda_vision_element_type_size(GstCudaVisionElementType type) {
  const int index = index_of(type);
  return index < 0 ? 0 : kSizes[index];
}

const gchar *gst_cuda_vision_element_type_to_string(GstCudaVisionElementType type) {
  const int index = index_of(type);
  return index < 0 ? nullptr : kTypes[index].value_nick;
}
