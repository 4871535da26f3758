// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: models of cudahog in XML, YAML and plain text.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "gst/hog/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  cudavision::HogModel model;
  model.window = {16, 16};
  const std::string text(reinterpret_cast<const char *>(data), size);
  const cudavision::Status status = cudavision::hog::parse_model(text, &model);
  if (size % 64 == 0) {  // through a file, now and then, because that is slow
    const std::string name = "/dev/shm/model_fuzz." + std::to_string(getpid());
    std::ofstream(name, std::ios::binary) << text;
    cudavision::HogModel loaded;
    loaded.window = {16, 16};
    if (load_hog_model(name, &loaded).ok() != status.ok()) std::abort();
    unlink(name.c_str());
    if (load_hog_model(name, &loaded).code() != cudavision::Status::Code::no_file) std::abort();
  }
  // What is accepted is valid, and what is refused says why.
  if (status.ok() ? !validate(model).ok() : status.text().empty()) std::abort();
  if (status.text().size() > 600) std::abort();
  return 0;
}
