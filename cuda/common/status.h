// SPDX-License-Identifier: LGPL-2.1-or-later
// The result of every call of cuda/: success, or an error with its code and text. Algorithms throw no exception but
// std::bad_alloc.
#pragma once

#include <string>
#include <utility>

namespace cudavision {

class [[nodiscard]] Status {
 public:
  enum class Code {
    ok,
    invalid_argument,
    too_small,  // the picture or the region is too small for the parameters, which are valid
    out_of_memory,
    no_device,
    device_failed,
    no_file,
    unreadable_file,
    stopped,
    too_many_blocks
  };

  Status() = default;
  // An error with the fixed text of its code, which must be stopped or out_of_memory. Allocates nothing.
  explicit Status(Code code) : code_(code) {}
  Status(Code code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  // The error as one sentence for the user; for a CUDA error: the call, file:line and CUDA's text. Empty on
  // success.
  const std::string &text() const {
    if (!text_.empty()) return text_;
    return code_ == Code::stopped ? kStopped : code_ == Code::out_of_memory ? kNoMemory : text_;
  }

 private:
  // Never destroyed, because other threads may still use them while the process exits.
  static inline const std::string &kStopped = *new std::string("the work was stopped"),
                                  &kNoMemory = *new std::string("the host has no memory left for it");

  Code code_ = Code::ok;
  std::string text_;
};

inline Status invalid_argument(std::string text) { return {Status::Code::invalid_argument, std::move(text)}; }
inline Status too_small(std::string text) { return {Status::Code::too_small, std::move(text)}; }
inline Status out_of_memory(std::string text) { return {Status::Code::out_of_memory, std::move(text)}; }

}  // namespace cudavision

// Returns the Status of `call` from the enclosing function unless it is ok.
#define CUDAVISION_TRY(call)                                                                       \
  do {                                                                                             \
    if (::cudavision::Status status_of_call = (call); !status_of_call.ok()) return status_of_call; \
  } while (false)
