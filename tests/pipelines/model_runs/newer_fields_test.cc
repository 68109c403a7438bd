// Descriptions of models by earlier programs, which lack the fields that were added since.
#include "pipelines/model_runs/newer_fields.h"

#include <gtest/gtest.h>

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/training/run_identity.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

/// Returns the JSON of every model that the table has, and the same without its newer fields.
std::vector<std::pair<nlohmann::json, nlohmann::json>> models_now_and_then() {
  std::vector<std::pair<nlohmann::json, nlohmann::json>> models;
  for (const std::shared_ptr<const Model>& model : model_table()) {
    nlohmann::json now = to_json(usual_spec(model)), then = now;
    for (const ConfigField& row : model->fields)
      if (row.newer) then.erase(row.name);
    models.emplace_back(std::move(now), std::move(then));
  }
  return models;
}

TEST(NewerFields, HaveTheirUsualValuesInDescriptionsWithoutThem) {
  int lacked = 0;
  for (const auto& [now, then] : models_now_and_then()) {
    lacked += now != then;
    EXPECT_EQ(with_newer_fields(then), now);
    EXPECT_EQ(with_newer_fields(now), now);
  }
  EXPECT_GE(lacked, 3) << "both U-Nets and the detector";
  for (const nlohmann::json& other :
       {nlohmann::json({{"model", "toy"}}), nlohmann::json({{"model", 1}}), nlohmann::json::object(), nlohmann::json()})
    EXPECT_EQ(with_newer_fields(other), other);
}

TEST(NewerFields, ARunOfAnEarlierProgramGoesOn) {
  for (const auto& [now, then] : models_now_and_then()) {
    CheckpointState theirs, mine;
    theirs.model = then, mine.model = now;
    theirs.training = mine.training = {{"steps", 4}};
    EXPECT_NO_THROW(require_same_run(theirs, mine, "run/checkpoints/last.safetensors", true)) << then;
    theirs.model["convolution"] = "other";
    expect_error(ErrorKind::kConfig, "{convolution} is", [&] { require_same_run(theirs, mine, "last", true); });
  }
}

}  // namespace
}  // namespace voxshard
