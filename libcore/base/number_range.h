// What a number from outside may be. A row of a table has one, and both the command line and the library that the
// number is for ask it: a NaN lies in none, an infinity in none that ends.
//
//   constexpr NumberRange kShare{0, 1};
//   require_in_range("foreground", share, kShare);   // kUsage: "{foreground} is nan; expected a number of 0 to 1"
#pragma once

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {

struct NumberRange {
  double least = 0, most = 0;  // both are in it

  bool holds(double value) const { return value >= least && value <= most; }
};

/// "0 to 1", "1 to 1e+09".
inline std::string to_text(const NumberRange& range) {
  return number_text(range.least) + " to " + number_text(range.most);
}

/// Errors: kUsage with the option of that name, the value and the range.
inline void require_in_range(const std::string& name, double value, const NumberRange& range) {
  if (!range.holds(value))
    throw Error(ErrorKind::kUsage, "[usage] {" + name + "} is " + (std::isnan(value) ? "nan" : number_text(value)) +
                                       "; expected a number of " + to_text(range));
}

}  // namespace voxshard
