// Checkpoints come back to the byte, and files that are damaged or of other tools are refused.
#include "pipelines/model_runs/checkpoint.h"

#include <cstring>
#include <limits>

#include "io/files/safetensors.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

Tensor numbers(Shape shape, float first) {
  Tensor t(DType::kF32, shape);
  for (std::int64_t i = 0; i < t.count(); ++i) t.as<float>()[i] = first / static_cast<float>(3 + i);
  return t;
}

Checkpoint example() {
  Checkpoint c;
  c.state = {.model = {{"base_filters", 4}},
             .prepare = {{"mean_hu", 0.1}},
             .training = {{"seed", 7}},
             .step = 12,
             .best_score = 0.625};
  c.parameters.emplace("conv/kernel", numbers({3, 3, 1, 2}, -1.5F));
  c.parameters.emplace("conv/bias", numbers({2}, 0.0F));
  c.optimizer.emplace("m/conv/kernel", numbers({3, 3, 1, 2}, 1e-30F));
  return c;
}

void save(const std::filesystem::path& path, const Checkpoint& c) {
  save_checkpoint(path, c.state, c.parameters, c.optimizer);
}

TEST(Checkpoint, ComesBackToTheByte) {
  Scene scene("checkpoint_round");
  save(scene.path("a.safetensors"), example());
  const Checkpoint back = load_checkpoint(scene.path("a.safetensors"));
  EXPECT_EQ(back.state.step, 12);
  EXPECT_EQ(back.state.best_score, 0.625);
  EXPECT_EQ(back.state.training, example().state.training);
  EXPECT_EQ(back.parameters.size(), 2u);
  EXPECT_EQ(back.optimizer.count("m/conv/kernel"), 1u);
  save(scene.path("b.safetensors"), back);
  EXPECT_TRUE(Scene::bytes_of(scene.path("a.safetensors")) == Scene::bytes_of(scene.path("b.safetensors")));
  EXPECT_TRUE(Scene::bytes_of(scene.path("a.json")) == Scene::bytes_of(scene.path("b.json")));
}

TEST(Checkpoint, AStepWithoutItsValidationIsFourNumbersOrRefused) {
  Scene scene("checkpoint_unvalidated");
  Checkpoint c = example();
  c.state.unvalidated = {0.5, 1.25, 1e-3, 2.0};
  save(scene.path("a.safetensors"), c);
  EXPECT_EQ(load_checkpoint(scene.path("a.safetensors")).state.unvalidated, c.state.unvalidated);
  for (const nlohmann::json& wrong : {nlohmann::json({1, 2, 3}), nlohmann::json({1, 2, 3, "4"}), nlohmann::json(7)}) {
    c.state.unvalidated = wrong;
    save(scene.path("a.safetensors"), c);
    expect_error(ErrorKind::kCheckpoint, "four numbers", [&] { load_checkpoint(scene.path("a.safetensors")); });
  }
}

/// Rewrites the file without its two hashes and with "__metadata__" changed by `alter`.
template <class Alter>
void alter_metadata(const std::filesystem::path& path, Alter alter) {
  const std::string bytes = Scene::bytes_of(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  auto header = nlohmann::ordered_json::parse(bytes.substr(8, length));
  for (const char* key : {"xxh3_128", "xxh3_128_header"}) ASSERT_EQ(header["__metadata__"].erase(key), 1u);
  alter(header["__metadata__"]);
  const std::string text = header.dump();
  const std::uint64_t shorter = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&shorter), sizeof shorter);
  out << text << bytes.substr(8 + length);
}

TEST(Checkpoint, WithoutItsHashesItIsRefused) {
  Scene scene("checkpoint_hashes");
  const auto path = scene.path("a.safetensors");
  save(path, example());
  EXPECT_TRUE(load_first_valid({path}).notes.empty());
  alter_metadata(path, [](auto&) {});
  expect_error(ErrorKind::kCheckpoint, "a.safetensors has no hashes", [&] { load_checkpoint(path); });
}

TEST(Checkpoint, OfAnotherVersionIsRefusedByNameWithHashesOrWithout) {
  Scene scene("checkpoint_version");
  const auto path = scene.path("a.safetensors"), none = scene.path("none.safetensors"),
             old = scene.path("old.safetensors");
  save(path, example());
  const SafetensorsFile file = load_safetensors(path);
  auto about = nlohmann::ordered_json::parse(file.metadata.at("voxshard"));
  EXPECT_EQ(about.at("format"), "voxshard 2");
  about["format"] = "voxshard 1";
  save_safetensors(old, file.tensors, {{"voxshard", about.dump()}});
  const std::string refusal =
      "old.safetensors has the format \"voxshard 1\"; this program reads \"voxshard 2\" alone; train again";
  expect_error(ErrorKind::kCheckpoint, refusal, [&] { load_checkpoint(old); });
  alter_metadata(old, [](auto&) {});
  expect_error(ErrorKind::kCheckpoint, refusal, [&] { load_checkpoint(old); });
  about.erase("format");
  save_safetensors(none, file.tensors, {{"voxshard", about.dump()}});
  expect_error(ErrorKind::kCheckpoint, "none.safetensors names no format", [&] { load_checkpoint(none); });
  const ValidCheckpoint used = load_first_valid({old, path});
  EXPECT_EQ(used.file, path);
  EXPECT_THAT(used.notes, testing::Contains(testing::HasSubstr("old.safetensors has the format")));
}

TEST(Checkpoint, WhatIsNotFiniteIsNeitherSavedNorUsed) {
  Scene scene("checkpoint_finite");
  const auto path = scene.path("a.safetensors");
  save(path, example());
  const std::string before = Scene::bytes_of(path);
  SafetensorsFile file = load_safetensors(path);
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    for (const bool of_optimizer : {false, true}) {
      Checkpoint bad = example();
      (of_optimizer ? bad.optimizer.at("m/conv/kernel") : bad.parameters.at("conv/bias")).as<float>()[1] = odd;
      expect_error(ErrorKind::kDiverged, of_optimizer ? "m/conv/kernel is not finite" : "conv/bias is not finite",
                   [&] { save(path, bad); });
      EXPECT_TRUE(Scene::bytes_of(path) == before) << "the file before stays";
    }
  for (NamedTensor& tensor : file.tensors)
    if (tensor.name == "model/conv/bias") tensor.tensor.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto odd = scene.path("odd.safetensors");
  save_safetensors(odd, file.tensors, file.metadata);  // as another program would save it
  expect_error(ErrorKind::kDiverged, "odd.safetensors: conv/bias is not finite", [&] { load_checkpoint(odd); });
  const ValidCheckpoint used = load_first_valid({odd, path});
  EXPECT_EQ(used.file, path);
  EXPECT_THAT(used.notes, testing::Contains(testing::HasSubstr("odd.safetensors: conv/bias is not finite")));
}

TEST(Checkpoint, TheBestIsTriedFirstThenTheNewest) {
  Scene scene("checkpoint_order");
  const auto folder = scene.path("checkpoints");
  std::filesystem::create_directories(folder);
  const auto names = [&](const std::string& which) {
    std::vector<std::string> found;
    for (const auto& file : checkpoint_files(folder, which)) found.push_back(file.stem().string());
    return found;
  };
  EXPECT_THAT(names("auto"), testing::ElementsAre("last")) << "for the error that names it";
  for (const char* name : {"best", "last", "step-000900", "step-001000", "step-1000000", "step-x", "mine"})
    save(folder / (std::string(name) + ".safetensors"), example());
  EXPECT_THAT(names("auto"), testing::ElementsAre("best", "last", "step-1000000", "step-001000", "step-000900"));
  EXPECT_THAT(names("last"), testing::ElementsAre("last", "step-1000000", "step-001000", "step-000900"));
  EXPECT_THAT(names("best"), testing::ElementsAre("best")) << "another is not the best";
  Scene::truncate(folder / "best.safetensors");
  const ValidCheckpoint found = load_first_valid(checkpoint_files(folder, "auto"));
  EXPECT_EQ(found.file, folder / "last.safetensors");
  EXPECT_THAT(found.notes,
              testing::ElementsAre(testing::HasSubstr("best.safetensors"), testing::HasSubstr("of step 12")));
}

TEST(Checkpoint, ItsDescriptionIsFoundWhileANewerOneIsWritten) {
  Scene scene("checkpoint_description");
  const std::filesystem::path folder = scene.path("checkpoints");
  std::filesystem::create_directories(folder);
  EXPECT_EQ(newest_description(folder), std::nullopt);
  CheckpointFolder checkpoints(folder, {});
  Checkpoint c = example();
  const auto save_step = [&](std::int64_t step) {
    c.state.step = step;
    checkpoints.save_last(c.state, c.parameters, c.optimizer, {});
  };
  save_step(4);
  save_step(8);
  EXPECT_EQ(newest_description(folder), folder / "last.json");
  EXPECT_TRUE(std::filesystem::exists(folder / "step-000004.json"));
  std::filesystem::remove(folder / "last.json");  // renamed, where there are no links, until the next is written
  EXPECT_EQ(newest_description(folder), folder / "step-000004.json");
}

TEST(Checkpoint, AMissingFileIsAnInputError) {
  Scene scene("checkpoint_missing");
  expect_error(ErrorKind::kInput, "none.safetensors", [&] { load_checkpoint(scene.path("none.safetensors")); });
}

TEST(Checkpoint, FilesOfOtherToolsAreRefused) {
  Scene scene("checkpoint_other");
  save_safetensors(scene.path("torch.safetensors"), std::vector<NamedTensor>{{"conv.weight", numbers({2}, 1)}},
                   {{"format", "pt"}});
  expect_error(ErrorKind::kCheckpoint, "not written by voxshard",
               [&] { load_checkpoint(scene.path("torch.safetensors")); });
}

TEST(Checkpoint, DamagedFilesAreRefused) {
  Scene scene("checkpoint_damaged");
  save(scene.path("cut.safetensors"), example());
  const auto about = nlohmann::json::parse(load_safetensors(scene.path("cut.safetensors")).metadata.at("voxshard"));
  Scene::truncate(scene.path("cut.safetensors"));
  expect_error(ErrorKind::kCheckpoint, "cut.safetensors", [&] { load_checkpoint(scene.path("cut.safetensors")); });
  const auto refused = [&](const std::string& description, const char* piece) {
    save_safetensors(scene.path("bad.safetensors"), std::vector<NamedTensor>{}, {{"voxshard", description}});
    expect_error(ErrorKind::kCheckpoint, piece, [&] { load_checkpoint(scene.path("bad.safetensors")); });
  };
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = about;
    changed[key] = value;
    return changed.dump();
  };
  refused("{", "is not valid JSON");
  refused("[]", "description is broken");
  refused(with("format", 2), "description is broken");
  refused(with("step", "x"), "description is broken");
  refused(with("step", -1), "step -1");
  refused(with("changes", 5), "changes are no list");
  for (const char* part : {"model", "prepare", "training", "content", "trained_on", "machine"}) {
    nlohmann::json lacking = about;
    lacking.erase(part);
    refused(lacking.dump(), "description is broken");
    refused(with(part, nlohmann::json::array({5})), "a part is no object");
    refused(with(part, nullptr), "a part is no object");
  }
}

TEST(Checkpoint, AnUnwritablePlaceIsAnOutputError) {
  expect_error(ErrorKind::kOutput, "/proc/voxshard", [&] { save("/proc/voxshard.safetensors", example()); });
}

}  // namespace
}  // namespace voxshard
