// SPDX-License-Identifier: LGPL-2.1-or-later
// The structs of DLPack 1.0 (https://dmlc.github.io/dlpack/latest/c_api.html), as its binary interface lays them out.
#pragma once

#include <cstdint>

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode : std::uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2 };

struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};

struct DLDataType {
  DLDataTypeCode code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;  // in elements
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

struct DLPackVersion {
  std::uint32_t major, minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

constexpr std::uint64_t kDLPackReadOnly = 1, kDLPackIsCopied = 2;
