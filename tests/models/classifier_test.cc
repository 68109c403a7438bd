// Classifiers have the published numbers of parameters and compute the same cut and uncut: odd sizes, more cores than
// planes behind the strides, replicas, dropped elements.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/digits.h"
#include "libcore/models/resnet3d.h"
#include "libcore/models/resnet_classifier.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/check/expect_equal.h"

namespace voxshard {
namespace {

TEST(Digits, HasTheParametersOfThePublishedNetwork) {
  const std::int64_t kernels = 3 * 3 * 12 + 6 * 6 * 12 * 24 + 6 * 6 * 24 * 64, dense = 7 * 7 * 64 * 200 + 200 * 10 + 10;
  EXPECT_EQ(count_parameters(build_digits({}, {.size = {28, 28}}, op_table())), kernels + dense + 12 + 24 + 64 + 200);
}

TEST(Digits, WantsImagesOfItsMultiplier) {
  DigitsConfig config;
  config.size_multiplier = 2;
  EXPECT_NO_THROW(build_digits(config, {.size = {56, 56}}, op_table()));
  EXPECT_THROW(build_digits(config, {.size = {28, 28}}, op_table()), Error);
}

TEST(Digits, DropsNothingInPrediction) {
  const Graph graph = build_digits({}, {.size = {28, 28}, .training = false}, op_table());
  EXPECT_EQ(graph.find("dropout"), kNoValue);
  EXPECT_EQ(graph.find("draw"), kNoValue);
}

TEST(ResNetClassifier, HasThePublishedParameters) {
  EXPECT_EQ(count_parameters(build_resnet_classifier({}, {.size = {64, 64}}, op_table())), 25557032);
}

TEST(ResNet3d, HasThePublishedParameters) {
  EXPECT_EQ(count_parameters(build_resnet3d({}, {.size = {8, 32, 32}}, op_table())), 33371472);
  ResNet3dConfig config;
  config.factorised = true;
  EXPECT_EQ(count_parameters(build_resnet3d(config, {.size = {8, 32, 32}}, op_table())), 31505325);
}

TEST(Classifier, ItsLossTakesSmoothedLabelsAndOneWeightPerClass) {
  DigitsConfig config;
  config.classes = 3;
  config.label_smoothing = 0.1;
  config.class_weights = "0.5,2,1.25";
  const Graph graph = build_digits(config, {.size = {28, 28}}, op_table());
  const auto& attrs = attrs_of<SegmentationAttrs>(graph.node(graph.outputs.at("loss")).attrs);
  EXPECT_EQ(attrs.smoothing, 0.1);
  EXPECT_EQ(attrs.weights, (std::vector<double>{0.5, 2, 1.25}));
  for (const char* wrong : {"1,2", "1,2,x", "1,,2", "1,2,-3", "1,2,3,", "1,2,nan", ",", "1;2;3", "0,0,0"}) {
    config.class_weights = wrong;
    EXPECT_THROW(build_digits(config, {.size = {28, 28}}, op_table()), Error) << wrong;
  }
}

struct Case {
  std::string model;
  Shape extents;
  std::string partition;
  DType dtype = DType::kF32;
  std::int64_t replicas = 1;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.model << " " << to_string(c.extents) << " over " << c.partition << " in " << dtype_name(c.dtype)
       << ", replicas " << c.replicas;
}

Graph narrow(const Case& c, DType dtype) {
  GraphOptions options{.batch = c.extents[0], .dtype = dtype, .norm_replicas = c.replicas};
  for (int a = 1; a < c.extents.axes(); ++a) options.size.push_back(c.extents[a]);
  const Model& model = *model_named(model_table(), c.model);
  std::any config = model.config;
  for (const ConfigField& row : model.fields) {
    if (row.name == "base_filters") row.set(config, std::int64_t{4});
    if (row.name == "classes") row.set(config, std::int64_t{5});
  }
  return model.build(config, options, op_table());
}

class ClassifierOnEveryGrid : public testing::TestWithParam<Case> {};

TEST_P(ClassifierOnEveryGrid, EqualsTheUncutModel) {
  const Case& c = GetParam();
  EquivalenceOptions options;
  options.factory = [&](DType type) { return narrow(c, type); };
  options.dtype = c.dtype;
  options.cut.mesh = {.replicas = c.replicas, .partition = parse_partition(c.partition, c.extents.axes() + 1)};
  options.seed = 5;
  test::expect_equal(options, {.layers = 20, .tensors = 15});
}

INSTANTIATE_TEST_SUITE_P(
    Grids, ClassifierOnEveryGrid,
    testing::Values(Case{"digits", {2, 28, 28}, "1x4x1x1"}, Case{"digits", {4, 28, 28}, "1x2x2x1", DType::kBF16},
                    Case{"digits", {4, 28, 28}, "1x8x1x1", DType::kF32, 2}, Case{"resnet18", {2, 65, 47}, "1x4x1x1"},
                    Case{"resnet18", {2, 65, 47}, "1x2x2x1", DType::kBF16}, Case{"resnet50", {2, 33, 61}, "1x2x4x1"},
                    Case{"resnet50", {2, 47, 33}, "1x3x1x1", DType::kBF16}, Case{"resnet34", {1, 64, 64}, "1x1x8x1"},
                    Case{"resnet3d18", {2, 9, 33, 31}, "1x2x2x2x1"},
                    Case{"resnet3d18", {1, 8, 32, 32}, "1x4x1x1x1", DType::kBF16},
                    Case{"r2plus1d18", {1, 9, 33, 31}, "1x4x1x1x1"},
                    Case{"r2plus1d18", {2, 7, 24, 40}, "1x2x2x1x1", DType::kBF16}));

}  // namespace
}  // namespace voxshard
