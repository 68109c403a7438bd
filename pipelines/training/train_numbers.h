// The numbers that a user may say to a training, one row each: the name of the option, where it stands, what it may be.
// The command line makes its checks of these rows, and run_train asks them of whoever calls it.
//
//   for (const TrainNumber& row : train_numbers(options)) app.get_option("--" + row.name)->check(number_in(row.range));
//   require_in_range(train_numbers(options));   // kUsage: "{noise} is nan; expected a number of 0 to 1000"
#pragma once

#include <variant>

#include "libcore/base/number_range.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

struct TrainNumber {
  std::string name;  // long, without dashes
  NumberRange range;
  std::variant<double*, std::int64_t*, std::vector<std::int64_t>*> value;
};

/// Of `options`, which are referred to.
std::vector<TrainNumber> train_numbers(TrainOptions& options);

/// Errors: kUsage for the first that is out of its range, or not finite.
void require_in_range(const std::vector<TrainNumber>& rows);

/// Makes steps of what is said in passes over so many training cases: 2 epochs of 100 cases in batches of 64 are 4
/// steps. Errors: kUsage for more steps than there may be.
void count_epochs(TrainOptions& options, std::int64_t cases);

}  // namespace voxshard
