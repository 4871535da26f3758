// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the kernels whose blocks wait for one another (keypoints and the fill of inpainting) while kernels of other
// threads hold all multiprocessors of the card. CUDAVISION_BUSY_FRAMES sets the number of frames.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/canny/canny.h"
#include "tests/kernels/inpaint_definition.h"
#include "tests/kernels/sigma2kp_runner.h"

namespace {

using namespace cudavision::test;
using cudavision::Execution;
using cudavision::InpaintParams;
using cudavision::InpaintReport;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2KpCount;
using cudavision::Sigma2KpParams;
using cudavision::Size;

class Busy : public BackendTest {
 protected:
  void SetUp() override {
    if (kEmulated || GetParam().backend == cudavision::Backend::cpu)
      GTEST_SKIP() << "only blocks on a card wait for multiprocessors";
    BackendTest::SetUp();
  }
};
CUDAVISION_TEST_ON_EVERY_BACKEND(Busy);

int frame_count() {
  const char *given = std::getenv("CUDAVISION_BUSY_FRAMES");
  return given != nullptr ? std::max(1, std::atoi(given)) : 100;
}

// A thread that enqueues frames on a stream of its own, several at a time, until the object is destroyed.
class Neighbour {
 public:
  // make: returns the function that enqueues a frame.
  using Enqueue = std::function<cudavision::Status()>;
  Neighbour(const BackendCase &backend, const std::function<Enqueue(const Execution &)> &make) {
    thread_ = std::thread([this, backend, make] {
      const ExecutionOwner owner(backend);
      const Enqueue enqueue = make(owner.execution());
      while (!done_) {
        for (int i = 0; i < 4 && !done_; ++i)
          if (const cudavision::Status status = enqueue(); !status.ok()) {
            EXPECT_TRUE(succeeds(status));
            done_ = true;
          }
        finish(owner.execution());
        frames_ += 4;
      }
    });
  }
  ~Neighbour() {
    done_ = true;
    thread_.join();
    EXPECT_GT(frames_, 0);
  }
  void wait_for_frames() const {
    while (frames_ == 0) std::this_thread::yield();
  }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<int> frames_ = 0;
  std::thread thread_;
};

// Returns a function that enqueues Canny, whose blocks take all threads of each multiprocessor.
Neighbour::Enqueue edges_of_large_pictures(const Execution &execution) {
  const Size size{16384, 8192};
  std::unique_ptr<cudavision::Canny> canny;
  EXPECT_TRUE(succeeds(make_canny(execution, size, &canny)));
  auto luma = std::make_shared<TestImage<std::uint8_t>>(execution, noise(size, 1), kAligned);
  auto edges = std::make_shared<TestImage<std::uint8_t>>(execution, size, kAligned);
  return [canny = std::shared_ptr<cudavision::Canny>(std::move(canny)), luma, edges] {
    if (!canny)
      return cudavision::Status(cudavision::Status::Code::out_of_memory, "the card has too little memory");
    return canny->run(luma->view(), edges->view(), {});
  };
}

// A picture with a hole, which each enqueue() fills again.
struct Holes {
  Holes(const Execution &execution, Size size, cudavision::Region hole)
      : pixels(textured("RGB", size, 76)),
        frame(execution, pixels, kAligned),
        mask(execution, mask_of(size, hole), kAligned) {
    EXPECT_TRUE(succeeds(make_inpaint(execution, size, &inpaint)));
  }
  cudavision::Status enqueue() {
    return inpaint->run({frame.frame(), {}, mask.view(), {}}, InpaintParams{}, &report, {}, {});
  }

  HostFrame pixels;
  TestFrame frame;
  TestImage<std::uint8_t> mask;
  std::unique_ptr<cudavision::Inpaint> inpaint;
  InpaintReport report;
};

// Returns a function that enqueues a fill. Its blocks take all shared memory of the card and wait for one another.
Neighbour::Enqueue fills(const Execution &execution) {
  const Size size{320, 240};
  auto holes = std::make_shared<Holes>(execution, size, cudavision::Region{12, 10, 9, 9});
  return [holes] { return holes->enqueue(); };
}

// Two neighbours run Canny, so that the card has work while one of them waits for the host; the third fills holes.
struct Neighbours {
  explicit Neighbours(const BackendCase &backend)
      : first(backend, edges_of_large_pictures),
        second(backend, edges_of_large_pictures),
        third(backend, fills) {
    first.wait_for_frames(), second.wait_for_frames(), third.wait_for_frames();
  }
  Neighbour first, second, third;
};

TEST_P(Busy, keypoints_are_those_of_an_idle_card) {
  const Size size{640, 360};
  const Picture pictures[] = {noise(size, 3), smooth_noise(size, 2, 4)};
  Sigma2KpParams params;
  params.max_keypoints = 1000, params.orientation = true, params.min_distance = 3;
  const Memory list(execution(), 1000 * sizeof(Sigma2Keypoint)), count(execution(), sizeof(Sigma2KpCount));
  std::unique_ptr<cudavision::Sigma2Kp> detector;
  ASSERT_TRUE(succeeds(make_sigma2kp(execution(), size, &detector)));
  const TestImage<std::uint8_t> luma[] = {{execution(), pictures[0], kAligned},
                                          {execution(), pictures[1], kAligned}};
  const auto run = [&](int i) {
    EXPECT_TRUE(succeeds(detector->run(
        luma[i].view(), params,
        {reinterpret_cast<Sigma2Keypoint *>(list.data()), reinterpret_cast<Sigma2KpCount *>(count.data())})));
    const std::vector<std::uint8_t> counts = count.read();
    const int listed = reinterpret_cast<const Sigma2KpCount *>(counts.data())->listed;
    return list.read(static_cast<std::size_t>(listed) * sizeof(Sigma2Keypoint));
  };
  const std::vector<std::uint8_t> alone[] = {run(0), run(1)};
  ASSERT_NE(alone[0], alone[1]);
  const Neighbours neighbours(GetParam());
  for (int frame = 0; frame < frame_count(); ++frame) ASSERT_EQ(run(frame % 2), alone[frame % 2]) << frame;
  std::printf("%d frames of keypoints\n", frame_count());
}

TEST_P(Busy, filled_pictures_are_those_of_an_idle_card) {
  const Size size{160, 120};
  Holes first(execution(), size, {10, 8, 8, 7}), second(execution(), size, {15, 12, 7, 9});
  Holes *const pictures[] = {&first, &second};
  std::vector<HostFrame> alone;
  for (Holes *picture : pictures) {
    ASSERT_TRUE(succeeds(picture->enqueue()));
    alone.push_back(picture->frame.download());
    EXPECT_GT(picture->report.patches, 0);
  }
  const Neighbours neighbours(GetParam());
  for (int frame = 0; frame < frame_count(); ++frame) {
    Holes *picture = pictures[frame % 2];
    ASSERT_TRUE(succeeds(picture->enqueue()));
    ASSERT_TRUE(same(picture->frame.download(), alone[static_cast<std::size_t>(frame % 2)])) << frame;
  }
  std::printf("%d fills\n", frame_count());
}

}  // namespace
