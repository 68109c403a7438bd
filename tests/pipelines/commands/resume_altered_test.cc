// Checkpoints whose content was replaced by other content of the same form are refused, never read as valid.
#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Trains for two steps, alters the last checkpoint, and returns the options that resume it for a third one.
template <class Alter>
TrainOptions altered(TrainingScene& scene, Alter alter) {
  TrainOptions options = scene.options("run");
  options.steps = 2;
  run_train(options, scene.progress);
  Checkpoint checkpoint = load_checkpoint(scene.last("run"));
  alter(checkpoint);
  save_checkpoint(scene.last("run"), checkpoint.state, checkpoint.parameters, checkpoint.optimizer);
  options.steps = 3;
  options.resume = true;
  return options;
}

template <class Alter>
void resume_altered(const std::string& name, const std::string& piece, Alter alter) {
  TrainingScene scene(name);
  TrainOptions options = altered(scene, alter);
  expect_error(ErrorKind::kCheckpoint, piece, [&] { run_train(options, scene.progress); });
}

TEST(ResumeAltered, AnOptimizerOfAnotherTypeIsRefused) {
  resume_altered("resume_type", "or of another shape or type", [](Checkpoint& checkpoint) {
    for (auto& [name, tensor] : checkpoint.optimizer) tensor = Tensor(DType::kU8, tensor.shape());
  });
}

TEST(ResumeAltered, ACheckpointThatDoesNotSayHowItWasTrainedIsRefused) {
  resume_altered("resume_untold", "a part is no object",
                 [](Checkpoint& checkpoint) { checkpoint.state.training = nullptr; });
}

TEST(ResumeAltered, OtherAnnotatedClassesAreOtherDataUnlessAnEarlierProgramDidNotNoteThem) {
  resume_altered("resume_annotated", "/training/annotated differs", [](Checkpoint& checkpoint) {
    EXPECT_TRUE(checkpoint.state.training.at("annotated").empty()) << "every case is complete";
    checkpoint.state.training["annotated"]["phantom_000"] = {1};
  });
  TrainingScene scene("resume_not_noted");
  TrainOptions options = altered(scene, [](Checkpoint& checkpoint) { checkpoint.state.training.erase("annotated"); });
  EXPECT_EQ(run_train(options, scene.progress).steps, 3);
}

}  // namespace
}  // namespace voxshard
