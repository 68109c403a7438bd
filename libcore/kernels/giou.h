// The GIoU loss of one anchor (Rezatofighi et al. 2019, Generalized Intersection over Union) on box codes, shared by
// both kernel sets.
//
// A code {ty, tx, th, tw} is a box in units of its anchor: its centre at (ty, tx), e^th high and e^tw wide
// (libcore/detection/box_coding.h). A change of unit multiplies every area of an axis alike, so the ratios of areas,
// and the loss with them, are those of the boxes in pixels, and the anchor is not needed:
//
//   loss = 1 - GIoU = 2 - I / U - U / C,  I the intersection, U the union, C the smallest box around both; 0 to 2
//
//   giou_terms({0, 0.5, 0, 0}, {0, 0, 0, 0}).loss      // half a side apart: I = 1/2, U = C = 3/2, the loss is 2/3
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace voxshard {

struct GiouTerms {
  double loss = 0;
  std::array<double, 4> d_code{};  // d loss / d code
};

namespace giou {

/// Logs of sides are clipped to this, as decode() clips them: log(1000 / 16). Beyond it a side has no gradient.
inline constexpr double kMostLog = 4.135166556742356;

/// An axis of both boxes: of the predicted one the side and its derivative by the log, of both together what they share
/// and the length around both, with the derivatives by the two edges of the predicted one.
struct Axis {
  double side = 0, truth = 0, d_side = 0;
  double shared = 0, d_shared_low = 0, d_shared_high = 0;
  double around = 0, d_around_low = 0, d_around_high = 0;

  /// A number that is no number stays one: std::min and std::max return their first argument then.
  Axis(double centre, double log_side, double true_centre, double true_log_side)
      : side(std::exp(std::min(log_side, kMostLog))),
        truth(std::exp(std::min(true_log_side, kMostLog))),
        d_side(log_side > kMostLog ? 0.0 : side) {
    const double low = centre - side / 2, high = centre + side / 2;
    const double true_low = true_centre - truth / 2, true_high = true_centre + truth / 2;
    const double common = std::min(high, true_high) - std::max(low, true_low);
    shared = std::max(common, 0.0);
    if (common > 0) d_shared_low = low > true_low ? -1 : 0, d_shared_high = high < true_high ? 1 : 0;
    around = std::max(high, true_high) - std::min(low, true_low);
    d_around_low = low < true_low ? -1 : 0, d_around_high = high > true_high ? 1 : 0;
  }
};

/// d loss / d {centre, log of the side} of one axis, given the derivatives by what this axis and the other one have.
inline std::array<double, 2> through(const Axis& axis, double d_shared, double d_around, double d_side) {
  const double low = d_shared * axis.d_shared_low + d_around * axis.d_around_low,
               high = d_shared * axis.d_shared_high + d_around * axis.d_around_high;
  return {low + high, axis.d_side * ((high - low) / 2 + d_side)};
}

}  // namespace giou

/// Returns the loss of a predicted code against the true one, with its derivatives by the predicted one. Finite for all
/// finite codes; boxes without a measurable area (codes far below 0) have the loss 2 and no gradient.
inline GiouTerms giou_terms(const std::array<double, 4>& code, const std::array<double, 4>& truth) {
  const giou::Axis y(code[0], code[2], truth[0], truth[2]), x(code[1], code[3], truth[1], truth[3]);
  const double shared = y.shared * x.shared, joint = y.side * x.side + y.truth * x.truth - shared,
               around = y.around * x.around;
  if (joint <= 0 || around <= 0) return {.loss = 2};
  GiouTerms terms{.loss = 2 - shared / joint - joint / around};
  const double d_joint = shared / (joint * joint) - 1 / around, d_shared = -1 / joint - d_joint,
               d_around = joint / (around * around);
  const auto [d_y, d_h] = giou::through(y, d_shared * x.shared, d_around * x.around, d_joint * x.side);
  const auto [d_x, d_w] = giou::through(x, d_shared * y.shared, d_around * y.around, d_joint * y.side);
  terms.d_code = {d_y, d_x, d_h, d_w};
  return terms;
}

}  // namespace voxshard
