// Checkpoints come back to the byte, and files that are damaged or of other tools are refused.
#include "pipelines/runs/checkpoint.h"

#include "io/files/safetensors.h"
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
  Scene::truncate(scene.path("cut.safetensors"));
  expect_error(ErrorKind::kCheckpoint, "cut.safetensors", [&] { load_checkpoint(scene.path("cut.safetensors")); });
  for (const std::string about : {"{", "[]", R"({"model": {}})",
                                  R"({"model": {}, "prepare": {}, "training": {}, "step": "x", "best_score": 0})"}) {
    save_safetensors(scene.path("bad.safetensors"), std::vector<NamedTensor>{}, {{"voxshard", about}});
    expect_error(ErrorKind::kCheckpoint, "description is broken",
                 [&] { load_checkpoint(scene.path("bad.safetensors")); });
  }
}

TEST(Checkpoint, AnUnwritablePlaceIsAnOutputError) {
  expect_error(ErrorKind::kOutput, "/proc/voxshard", [&] { save("/proc/voxshard.safetensors", example()); });
}

}  // namespace
}  // namespace voxshard
