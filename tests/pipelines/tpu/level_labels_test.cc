// Labels named level by level, as the original's RetinaNet names them, and its rule for the levels that are cut.
#include "pipelines/tpu/level_labels.h"

#include "pipelines/commands/run_verify.h"
#include "pipelines/tpu/tpu_config_model.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using Kind = InputPlacement::Kind;
using nlohmann::json;

/// True when the original's script cuts the targets of a level: image_size // 2^level is a multiple of every entry.
///   example  1536, level 8, [1, 4, 2, 1]: 6 places, which 4 does not divide: false
bool cuts_level(std::int64_t image_size, int level, const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [&](std::int64_t parts) { return (image_size >> level) % parts == 0; });
}

/// Returns the labels that retinanet_main.py writes for an image of this size.
json original_labels(std::int64_t image_size, const std::vector<std::int64_t>& dims) {
  json labels = {{"mean_num_positives", nullptr},
                 {"source_ids", nullptr},
                 {"groundtruth_data", nullptr},
                 {"image_scales", nullptr}};
  Dims entries;
  for (const std::int64_t parts : dims) entries.push_back(parts);
  for (int level = 3; level <= 7; ++level)
    for (const char* kind : {"cls_targets_", "box_targets_"})
      labels[kind + std::to_string(level)] = cuts_level(image_size, level, entries) ? json(dims) : json();
  return labels;
}

ModelSpec applied(const json& labels, const std::vector<std::int64_t>& dims = {1, 4, 2, 1}) {
  ModelSpec spec = retinanet_spec({.backbone = Backbone::kResNet18, .classes = 2, .filters = 4, .pyramid_filters = 8});
  apply(tpu_config_from_json({{"num_cores_per_replica", 8}, {"input_partition_dims", json::array({dims, labels})}}),
        {.cores = 8}, {1, 1, 1, 1}, spec);
  return spec;
}

TEST(LevelLabels, TheOriginalsRuleAsksEveryEntry) {
  EXPECT_FALSE(cuts_level(1536, 8, {1, 4, 2, 1})) << "the example in the original's comment: 6 x 6";
  EXPECT_TRUE(cuts_level(1536, 7, {1, 4, 2, 1}));
  EXPECT_TRUE(cuts_level(640, 5, {1, 4, 2, 1}));
  EXPECT_FALSE(cuts_level(640, 6, {1, 4, 2, 1}));
  EXPECT_FALSE(cuts_level(768, 7, {1, 4, 2, 1}));
}

TEST(LevelLabels, AreCutOrOnEveryCoreAsWritten) {
  const ModelSpec spec = applied(original_labels(640, {1, 4, 2, 1}));
  EXPECT_EQ(spec.cut.inputs.size(), 10u);
  for (const char* kind : {"class_targets/", "box_targets/"})
    for (int level = 3; level <= 7; ++level)
      EXPECT_EQ(spec.cut.placement_of(kind + std::to_string(level))->kind, level <= 5 ? Kind::kCut : Kind::kReplicated)
          << kind << level;
  json first = original_labels(640, {1, 4, 2, 1});
  first["cls_targets_7"] = {1, 1, 1, 1};
  EXPECT_EQ(applied(first).cut.placement_of("class_targets/7")->kind, Kind::kFirstCore);
}

TEST(LevelLabels, NestedNamesAreTheSame) {
  json nested = json::object();
  const json flat = original_labels(640, {1, 4, 2, 1});
  for (const auto& [name, dims] : flat.items())
    if (name.find("_targets_") != std::string::npos) nested[name.substr(0, 11)][name.substr(12)] = dims;
  EXPECT_EQ(applied(nested).cut, applied(original_labels(640, {1, 4, 2, 1})).cut);
}

TEST(LevelLabels, OfTheRuleComputeWhatOneListForAllDoes) {
  const ModelSpec by_level = applied(original_labels(128, {1, 4, 2, 1})), one = applied({1, 4, 2, 1});
  EXPECT_EQ(one.cut.placement_of("class_targets/7")->kind, Kind::kWhereDivisible);
  NoProgress quiet;
  const RunContext context(quiet, {.threads = 2});
  const auto a = run_verify({.spec = by_level, .extents = {1, 128, 128}}, context),
             b = run_verify({.spec = one, .extents = {1, 128, 128}}, context);
  EXPECT_TRUE(a.equal());
  EXPECT_TRUE(b.equal());
}

TEST(LevelLabels, MismatchesNameTheLabel) {
  const auto expect = [](const std::string& piece, const std::function<void(json&)>& change) {
    json labels = original_labels(640, {1, 4, 2, 1});
    change(labels);
    expect_error(ErrorKind::kConfig, piece, [&] { applied(labels); });
  };
  expect("has no entry for \"box_targets_6\"", [](json& l) { l.erase("box_targets_6"); });
  expect("has an entry for \"cls_targets_8\", which is none of the labels",
         [](json& l) { l["cls_targets_8"] = nullptr; });
  expect("did you mean box_targets_3?", [](json& l) { l["box_target_3"] = nullptr; });
  expect("has [1, 2, 4, 1] for \"cls_targets_3\", but the image is cut 1x4x2x1", [](json& l) {
    l["cls_targets_3"] = {1, 2, 4, 1};
  });
  expect("a level's targets are cut as the image", [](json& l) { l["cls_targets_3"] = {1, 4, 2}; });
  expect("every entry must be at least 1", [](json& l) { l["cls_targets_3"] = {1, 4, 0, 1}; });
  expect("has dims for \"source_ids\"", [](json& l) { l["source_ids"] = {1, 4, 2, 1}; });
  expect("two entries for \"cls_targets_3\"", [](json& l) { l["cls_targets"]["3"] = nullptr; });
}

}  // namespace
}  // namespace voxshard
