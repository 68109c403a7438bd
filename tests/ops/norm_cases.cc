// Norms in pieces: batch, per-replica and instance norm. Sums of small integers are exact; the gradient's sums and what
// follows them are compared within f64 rounding where a sum is cut, to the bit elsewhere.
#include "libcore/tensor/rounding.h"

#include "tests/ops/op_cases.h"

namespace voxshard::test {
namespace {

constexpr std::int64_t kBatch = 4, kChannels = 3;

NormAttrs norm_of(std::int64_t groups, double slope = 0) {
  return {.groups = groups,
          .batch = kBatch,
          .count = static_cast<double>(kBatch * 7 * 5 / groups),
          .epsilon = 1e-3,
          .slope = slope};
}

/// Returns a case whose op reads the sums of a cut x, so that groups of a cut batch live where their samples do.
OpCase behind_sums(const std::string& op, std::int64_t groups, Attributes attrs) {
  OpCase c{.op = op,
           .label = std::to_string(groups) + " groups of a cut batch",
           .inputs = {cut_input({kBatch, 7, 5, kChannels})}};
  c.build = [=](Builder& b, const std::vector<ValueId>& in) {
    const ValueId sums = b.op("moment_sums", {in[0]}, norm_of(groups), "sums");
    return b.op(op, {sums}, attrs, "result");
  };
  return c;
}

}  // namespace

std::vector<OpCase> norm_cases() {
  std::vector<OpCase> cases;
  // An element is a chain of at most seven roundings in f32: of mean, scale and shift, difference, product, sum, slope.
  // Their errors are a random walk like those of a sum of seven terms.
  const double chain = product_allowance(7, 1);
  const Shape x{kBatch, 7, 5, kChannels}, volume{kBatch, 5, 3, 4, kChannels};
  for (std::int64_t groups : {1, 4}) {
    const std::string label = std::to_string(groups) + " groups";
    const OpInput stats = parameter({groups, kChannels, 2}, Values::kStats),
                  gamma = parameter({kChannels}, Values::kPositive);
    const OpInput beta = parameter({kChannels}, Values::kNormal), real = cut_input(x, Values::kNormal);
    cases.push_back({.op = "moment_sums", .label = label, .inputs = {cut_input(x)}, .attrs = norm_of(groups)});
    cases.push_back(
        {.op = "moment_sums", .label = label + " 3-D", .inputs = {cut_input(volume)}, .attrs = norm_of(groups)});
    cases.push_back({.op = "norm_apply",
                     .label = label,
                     .inputs = {real, stats, gamma, beta},
                     .attrs = norm_of(groups),
                     .set_tolerance = chain});
    cases.push_back({.op = "norm_apply",
                     .label = label + " 3-D leaky",
                     .inputs = {cut_input(volume, Values::kNormal), stats, gamma, beta},
                     .attrs = norm_of(groups, 0.01),
                     .set_tolerance = chain});
    cases.push_back({.op = "norm_grad_sums",
                     .label = label,
                     .inputs = {real, stats, gamma, beta, real},
                     .attrs = norm_of(groups),
                     .tolerance = 1e-12,  // 9007 roundings of f64 (2^-53); at most 140 addends of either sign
                     .set_tolerance = chain});
    cases.push_back(
        {.op = "norm_input_grad",
         .label = label,
         .inputs = {real, stats, gamma, beta, real, parameter({groups, kChannels, 2}, Values::kNormal, DType::kF64)},
         .attrs = norm_of(groups),
         .set_tolerance = 1e-5});  // 7 times a chain of nine: the result is a difference of three terms
    cases.push_back(behind_sums("norm_stats", groups, norm_of(groups)));
    cases.push_back(behind_sums("group_column", groups, ColumnAttrs{.column = 1}));
    cases.push_back(behind_sums("group_moments", groups, norm_of(groups)));
    for (OpCase* c : {&cases.back(), &cases[cases.size() - 3]}) c->tolerance = 1e-6;
  }
  cases.push_back({.op = "running_stats",
                   .label = "of a state",
                   .inputs = {parameter({kChannels, 2}, Values::kPositive)},
                   .attrs = NormAttrs{.epsilon = 1e-3}});
  return cases;
}

}  // namespace voxshard::test
