// SPDX-License-Identifier: LGPL-2.1-or-later
// The result of every call of cuda/: success, or an error with its code and text. Only two exceptions leave an
// algorithm: std::bad_alloc, and Stopped, which Workers throw when work is to stop (stop.h).
#pragma once

#include <string>
#include <utility>

namespace cudavision {

class [[nodiscard]] Status {
 public:
  enum class Code {
    ok,
    invalid_argument,
    out_of_memory,
    no_device,
    device_failed,
    no_file,
    unreadable_file,
    stopped,
    too_many_blocks
  };

  Status() = default;
  Status(Code code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  // The error as one sentence for the user; for a CUDA error: the call, file:line and CUDA's text. Empty on
  // success.
  const std::string &text() const { return text_; }

 private:
  Code code_ = Code::ok;
  std::string text_;
};

inline Status invalid_argument(std::string text) { return {Status::Code::invalid_argument, std::move(text)}; }
inline Status out_of_memory(std::string text) { return {Status::Code::out_of_memory, std::move(text)}; }

}  // namespace cudavision

// Returns the Status of `call` from the enclosing function unless it is ok.
#define CUDAVISION_TRY(call)                                                                       \
  do {                                                                                             \
    if (::cudavision::Status status_of_call = (call); !status_of_call.ok()) return status_of_call; \
  } while (false)
