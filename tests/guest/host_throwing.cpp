// SPDX-License-Identifier: LGPL-2.1-or-later
// A host in C++ with a runtime of its own, whose symbols it exports, and which throws and catches exceptions on all
// of its threads while the elements work.
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/guest/host.h"

namespace {

int fall(int depth) {
  const std::string witness(100, 'x');  // destroyed while the exception passes
  if (depth == 0) throw std::runtime_error("an exception of the host");
  return fall(depth - 1) + static_cast<int>(witness.size());
}

}  // namespace

int main(int argc, char **argv) {
  std::atomic<bool> ended = false;
  std::atomic<long> caught = 0;
  std::vector<std::thread> throwing;
  for (int i = 0; i < 2; ++i)
    throwing.emplace_back([&] {
      while (!ended) {
        try {
          fall(5);
        } catch (const std::runtime_error &) {
          ++caught;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  const int result = guest_main(argc, argv);
  ended = true;
  for (std::thread &thread : throwing) thread.join();
  return caught > 0 ? result : 1;
}
