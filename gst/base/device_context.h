// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA device of an element: its context and the stream on which the element works. Elements and the base
// class know no more of CUDA than this. A build without CUDA has the class too, but cannot open one.
#pragma once

#include <memory>

#include "common/execution.h"

namespace cudavision {

class DeviceContext {
 public:
  // device_id: -1 for the first device. Fails with no_device when there is none, or none that this build has
  // code for.
  static Status open(int device_id, std::unique_ptr<DeviceContext> *context);
  // Whatever lives on the device must be gone before, and the stream idle.
  ~DeviceContext();

  CUstream_st *stream() const { return stream_; }
  int device_id() const { return device_id_; }
  // Waits for the stream; errors of the kernels show here.
  Status synchronize() const;

  // Makes the device current on this thread while it lives: around every call into cuda/. A null context does
  // nothing.
  class Scope {
   public:
    explicit Scope(const DeviceContext *context);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

   private:
    bool changed_ = false;
    int previous_ = 0;
  };

 private:
  explicit DeviceContext(int device_id) : device_id_(device_id) {}

  int device_id_;
  CUstream_st *stream_ = nullptr;
};

}  // namespace cudavision
