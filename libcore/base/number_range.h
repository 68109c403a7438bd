// The range of values that a number from a user may have. A row of a table has one; both the command line and the
// library function that uses the number check it. A NaN lies in no range, an infinity in no finite one.
//
//   constexpr NumberRange kShare{0, 1};
//   require_in_range("foreground", share, kShare);   // kUsage: "{foreground} is nan; expected a number of 0 to 1"
#pragma once

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {

struct NumberRange {
  double least = 0, most = 0;  // both bounds are included

  bool holds(double value) const { return value >= least && value <= most; }
};

/// "0 to 1", "1 to 1e+09".
inline std::string to_text(const NumberRange& range) {
  return number_text(range.least) + " to " + number_text(range.most);
}

/// Errors: kUsage, naming the option, the value and the range.
inline void require_in_range(const std::string& name, double value, const NumberRange& range) {
  if (!range.holds(value))
    throw Error(ErrorKind::kUsage, "[usage] {" + name + "} is " + (std::isnan(value) ? "nan" : number_text(value)) +
                                       "; expected a number of " + to_text(range));
}

}  // namespace voxshard
