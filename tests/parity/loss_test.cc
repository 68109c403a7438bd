// The segmentation losses against PyTorch's autograd, uncut on the reference kernels and cut on the fast ones. The
// numbers and how they were made: loss_reference.json, make_loss_reference.py; those of the marginal losses:
// marginal_reference.json, make_marginal_reference.py.
#include "libcore/kernels/loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "libcore/base/rng.h"
#include "libcore/graph/autodiff.h"
#include "libcore/lower/lower.h"
#include "libcore/ops/op_table.h"
#include "tests/parity/allowance.h"
#include "tests/parity/reference.h"

namespace voxshard {
namespace {

struct Computed {
  double value;
  Tensor gradient;
};

/// The settings of one case of the file.
struct Asked {
  SegmentationAttrs attrs;
  bool absent;                // the last class is absent from the first sample
  double lowered;             // the amount by which the logits of that class are lowered there
  std::vector<double> known;  // rows of the known classes; empty: the loss is not marginal
};

Asked asked_by(const nlohmann::json& all, const nlohmann::json& expected) {
  const auto name = std::ranges::find(kLossNames, expected.at("loss").get<std::string>());
  EXPECT_NE(name, std::end(kLossNames));
  return {.attrs = {.loss = static_cast<LossKind>(name - std::begin(kLossNames)),
                    .groups = expected.at("groups"),
                    .batch = all.at("shape").at(0),
                    .smoothing = expected.value("smoothing", 0.0),
                    .weights = expected.value("weights", std::vector<double>{})},
          .absent = expected.at("absent"),
          .lowered = expected.at("lowered"),
          .known = expected.value("known", std::vector<double>{})};
}

/// Returns the loss of `logits`, which are x + 0 so that they have a gradient, and that gradient.
Computed loss_and_gradient(const nlohmann::json& all, const Asked& asked, DType dtype, const Target& target,
                           const Dims& cut) {
  const std::int64_t classes = all.at("classes"), batch = all.at("shape").at(0);
  Shape labels{batch, all.at("shape").at(1), all.at("shape").at(2), all.at("shape").at(3), 1}, logits = labels;
  logits[4] = classes;
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {dtype, logits}), y = b.input("labels", {DType::kI32, labels});
  const ValueId kernel = b.parameter("w", {dtype, {1, 1, 1, classes, classes}});
  const Window one{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const ValueId z = b.op("conv", {x, kernel}, ConvAttrs{.window = one, .dtype = dtype}, "logits");
  SegmentationAttrs attrs = asked.attrs;
  attrs.dtype = dtype;
  std::vector<ValueId> compared = {z, y};
  if (!asked.known.empty()) compared.push_back(b.input("known", {DType::kI32, {batch, classes}}));
  const ValueId sums = b.op("segmentation_sums", compared, attrs, "sums");
  compared.insert(compared.begin(), sums);
  graph.outputs["loss"] = b.op("segmentation_loss", compared, attrs, "loss");
  differentiate(b, graph.outputs["loss"]);
  const auto found = std::ranges::find_if(graph.nodes(), [](const Node& n) { return n.op == "segmentation_grad"; });
  graph.outputs["d_logits"] = static_cast<ValueId>(found - graph.nodes().begin());
  Parameters parameters;
  Tensor identity(dtype, {1, 1, 1, classes, classes});
  for (std::int64_t c = 0; c < classes; ++c) store(identity.view(), c * (classes + 1), 1);
  parameters.emplace("w", std::move(identity));
  const Executable executable = lower(graph, op_table(), {.mesh = {.partition = cut}}, target);
  WorkerPool pool(2);
  InProcessTransport transport;
  CoreSet cores(executable, op_table(), parameters, pool, transport);
  const auto seed = all.at("seed").get<std::uint64_t>();
  const auto feed = [&](const char* name, const auto& number) {
    const ValueId id = executable.program.graph.find(name);
    const TensorType& type = executable.program.graph.node(id).type;
    Tensor tensor(type.dtype, type.shape);
    for (std::int64_t i = 0; i < tensor.count(); ++i) store(tensor.view(), i, number(static_cast<std::uint64_t>(i)));
    cores.feed(id, [&](const TensorView& box) { copy(tensor.view(), box); });
  };
  const auto voxels = static_cast<std::uint64_t>(labels[1] * labels[2] * labels[3]);  // of a sample
  const auto of_each = static_cast<std::uint64_t>(classes);
  feed("x", [&](std::uint64_t i) {
    const bool lower = asked.absent && i / of_each < voxels && i % of_each == of_each - 1;
    return 6 * rng_uniform({seed, rng_stream("logits")}, i) - 3 - (lower ? asked.lowered : 0);
  });
  feed("labels", [&](std::uint64_t i) {
    const auto label = static_cast<std::int64_t>(rng_below({seed, rng_stream("labels")}, i, classes));
    return static_cast<double>(asked.absent && i < voxels ? std::min(label, classes - 2) : label);
  });
  if (!asked.known.empty()) feed("known", [&](std::uint64_t i) { return asked.known.at(i); });
  cores.run();
  return {load(cores.replicated(graph.outputs.at("loss")), 0), cores.gather(graph.outputs.at("d_logits"))};
}

void expect_agreement(const std::string& file, int at) {
  const auto all = stored_reference(file);
  const auto expected = all.at("cases").at(at);
  const Asked asked = asked_by(all, expected);
  double largest = 0;
  for (const double g : expected.at("gradient")) largest = std::max(largest, std::abs(g));
  ASSERT_GT(largest, 0);
  struct Setting {
    DType dtype;
    KernelSet kernels;
    Dims cut;
  };
  const auto shape = all.at("shape").get<std::vector<double>>();
  const double voxels = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
  for (const Setting& s : {Setting{DType::kF64, KernelSet::kReference, {1, 1, 1, 1, 1}},
                           Setting{DType::kF32, KernelSet::kFast, {1, 1, 1, 1, 1}},
                           Setting{DType::kF32, KernelSet::kFast, {2, 2, 1, 2, 1}}}) {
    const Computed mine = loss_and_gradient(all, asked, s.dtype, {.kernels = s.kernels}, s.cut);
    const double value = expected.at("value");
    // A loss is made of sums of probabilities over the voxels, addends of one sign: the condition of a mean is its
    // size. That of 1 minus a share is 1.
    EXPECT_NEAR(mine.value, value, allowance({voxels, std::max(1.0, value)}, s.dtype)) << to_string(s.cut);
    ASSERT_EQ(mine.gradient.count(), std::ssize(expected.at("gradient")));
    for (std::int64_t i = 0; i < mine.gradient.count(); ++i)
      EXPECT_NEAR(load(mine.gradient.view(), i), expected.at("gradient").at(i).get<double>(),
                  allowance({voxels, largest}, s.dtype))
          << to_string(s.cut) << " at " << i;
  }
}

class LossAgainstPyTorch : public testing::TestWithParam<int> {};
TEST_P(LossAgainstPyTorch, ValueAndGradientAgreeCutAndUncut) { expect_agreement("loss_reference.json", GetParam()); }
INSTANTIATE_TEST_SUITE_P(AllKinds, LossAgainstPyTorch, testing::Range(0, 26));

class MarginalLossAgainstPyTorch : public testing::TestWithParam<int> {};
TEST_P(MarginalLossAgainstPyTorch, ValueAndGradientAgreeCutAndUncut) {
  expect_agreement("marginal_reference.json", GetParam());
}
INSTANTIATE_TEST_SUITE_P(AllKinds, MarginalLossAgainstPyTorch, testing::Range(0, 32));

TEST(LossReference, HasACaseOfEveryLoss) {
  for (const auto& [file, cases] : {std::pair("loss_reference.json", 26u), std::pair("marginal_reference.json", 32u)}) {
    std::set<std::string> found;
    const auto all = stored_reference(file);
    for (const auto& one : all.at("cases")) found.insert(one.at("loss"));
    EXPECT_EQ(found, std::set<std::string>(std::begin(kLossNames), std::end(kLossNames))) << file;
    EXPECT_EQ(all.at("cases").size(), cases) << "each of them is a test";
  }
}

}  // namespace
}  // namespace voxshard
