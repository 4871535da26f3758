// SPDX-License-Identifier: LGPL-2.1-or-later
// A Kalman filter of one number and its velocity. Both methods of tracking follow the four numbers of a box with one
// filter each: the covariances between them would start at 0 and stay 0.
#pragma once

namespace cudavision {

class ConstantVelocity {
 public:
  // A velocity without a variance stays 0.
  ConstantVelocity(double value, double variance, double velocity_variance)
      : value_(value), variance_(variance), velocity_variance_(velocity_variance) {}

  double value() const { return value_; }
  double velocity() const { return velocity_; }
  void stop() { velocity_ = 0; }

  // Makes all later steps of predict() longer by this factor.
  void scale(double factor) {
    velocity_ *= factor;
    covariance_ *= factor;
    velocity_variance_ *= factor * factor;
  }
  // The noise that a step adds to the variance of the number, to its covariance with the velocity, and to the variance
  // of the velocity.
  struct Noise {
    double value, covariance, velocity;
  };
  void predict(double time, const Noise &noise) {
    value_ += velocity_ * time;
    variance_ += 2 * covariance_ * time + velocity_variance_ * time * time + noise.value;
    covariance_ += velocity_variance_ * time + noise.covariance;
    velocity_variance_ += noise.velocity;
  }
  void measure(double value, double variance) {
    const double total = variance_ + variance, gain = variance_ / total, velocity_gain = covariance_ / total,
                 difference = value - value_;
    value_ += gain * difference;
    velocity_ += velocity_gain * difference;
    velocity_variance_ -= velocity_gain * covariance_;
    covariance_ *= 1 - gain;
    variance_ *= 1 - gain;
  }

 private:
  double value_, velocity_ = 0;
  double variance_, covariance_ = 0, velocity_variance_;
};

}  // namespace cudavision
