// exp and log in f32 without branches, so that loops over them vectorise; the same bits wherever a loop begins or ends.
//
//   float p = exp_negative(x - largest);     // softmax
#pragma once

#include <bit>
#include <cstdint>

namespace voxshard::fast {

/// e^x for x <= 0, relative error about 1e-7; below -87 as for -87; NaN stays NaN. Source: the polynomial of expf in
/// Cephes (S. Moshier).
inline float exp_negative(float x) {
  x = x < -87.0F ? -87.0F : x;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504F + kRound, n = shifted - kRound;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) + 127U) << 23;  // 2^n
  return (p * r * r + r + 1.0F) * std::bit_cast<float>(power);
}

/// log(1 + e) for e in [0, 1], relative error about 1e-7: 2 atanh(t), t = e / (2 + e) <= 1/3, by its series (the first
/// term left out is below 2e-8 of the sum).
inline float log1p_unit(float e) {
  const float t = e / (2.0F + e), u = t * t;
  float p = 1.0F / 13;
  p = p * u + 1.0F / 11;
  p = p * u + 1.0F / 9;
  p = p * u + 1.0F / 7;
  p = p * u + 1.0F / 5;
  p = p * u + 1.0F / 3;
  return 2.0F * t * (p * u + 1.0F);
}

}  // namespace voxshard::fast
