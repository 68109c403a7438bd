// The trainings that tests of MPI start by name.
#pragma once

#include <map>

#include "libcore/models/resnet_classifier.h"
#include "libcore/models/retinanet.h"
#include "tests/runtime/rank_scene.h"

namespace voxshard::test {

inline RankScene retinanet_scene(DType dtype) {
  const RetinaNetConfig config{.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8};
  return {.build =
              [=] {
                return build_retinanet(config, {.batch = 2, .size = {64, 48}, .dtype = dtype, .norm_replicas = 2},
                                       op_table());
              },
          .extents = {2, 64, 48},
          .cut = {.mesh = {.replicas = 2, .partition = {1, 4, 1, 1}}},
          .dtype = dtype};
}

inline RankScene classifier_scene(DType dtype, const Dims& partition) {
  ResNetClassifierConfig config{.backbone = Backbone::kResNet18, .filters = 8};
  config.classes = 5;
  return {.build =
              [=] {
                return build_resnet_classifier(config, {.batch = 2, .size = {48, 32}, .dtype = dtype}, op_table());
              },
          .extents = {2, 48, 32},
          .cut = {.mesh = {.partition = partition}},
          .dtype = dtype};
}

inline const std::map<std::string, RankScene>& rank_scenes() {
  static const std::map<std::string, RankScene> scenes = {
      {"unet", unet_scene({.extents = {1, 16, 8, 8}, .partition = "1x8x1x1x1", .workers = 2})},
      {"unet_bf16", unet_scene({.partition = "1x2x2x2x1", .dtype = DType::kBF16})},
      {"unet_uneven", unet_scene({.extents = {1, 9, 7, 10},
                                  .partition = "1x3x1x2x1",
                                  .config = {.base_filters = 4, .depth = 3, .norm = NormKind::kInstance}})},
      {"unet_replicas", unet_scene({.extents = {2, 8, 8, 8}, .partition = "1x2x2x1x1", .replicas = 2})},
      // Margins of 64 KiB and more, which MPI does not send before the receiver asks for them.
      {"unet_large", unet_scene({.extents = {1, 16, 64, 64}, .partition = "1x4x1x1x1", .workers = 2})},
      {"classifier", classifier_scene(DType::kF32, {1, 4, 1, 1})},
      {"classifier_bf16", classifier_scene(DType::kBF16, {1, 4, 2, 1})},
      {"retinanet", retinanet_scene(DType::kF32)},
      {"retinanet_bf16", retinanet_scene(DType::kBF16)},
  };
  return scenes;
}

inline std::vector<std::string> rank_scene_names() {
  std::vector<std::string> names;
  for (const auto& [name, scene] : rank_scenes()) names.push_back(name);
  return names;
}

/// The number of steps of rank_program if none is given: the second one uses what the first one left in the optimizer.
inline constexpr int kProgramSteps = 2;

}  // namespace voxshard::test
