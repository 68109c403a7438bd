#include "libcore/tensor/rounding.h"

#include <cmath>

namespace voxshard {

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x1p-53;
    case DType::kBF16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double product_allowance(double products, double magnitude) {
  constexpr double kWalks = 8;  // the allowance in standard deviations of a random walk
  return kWalks * epsilon_of(DType::kF32) * std::sqrt(products) * magnitude;
}

}  // namespace voxshard
