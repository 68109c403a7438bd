// The golden case of a model: of every task it is made, predicted and compared; what was changed is named, in the model
// and in the case; an answer of other instructions is compared by voxels.
#include "pipelines/commands/run_attest.h"

#include "io/audit/sha256.h"
#include "pipelines/commands/golden_case.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"
#include "tests/pipelines/training/task_scenes.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

AttestRequest request(const fs::path& model, bool make = false) {
  return {.model = model, .make = make, .models = test::with_toys()};
}

/// Flips a bit of a file.
void damage(const fs::path& file, std::size_t at) {
  std::string bytes = read_bytes(file);
  ASSERT_LT(at, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Adds a little to one value of a parameter, in the weights and in their average.
void change_parameter(const fs::path& file, const std::string& name) {
  Checkpoint c = load_checkpoint(file);
  for (Parameters* weights : {&c.parameters, &c.averages})
    if (const auto found = weights->find(name); found != weights->end()) found->second.as<float>()[0] += 1e-3F;
  save_checkpoint(file, c.state, c.parameters, c.optimizer, c.averages);
}

class AttestOfEachTask : public testing::TestWithParam<TaskScene> {};

TEST_P(AttestOfEachTask, AnUnchangedModelIsEqualAndAChangedParameterIsNamed) {
  TaskRun scene(GetParam(), "attest");
  run_train(scene.options("run"), scene.progress);
  const fs::path run = scene.scene->path("run");
  const AttestReport made = run_attest(request(run, true), scene.progress);
  EXPECT_TRUE(made.made && made.equal());
  EXPECT_EQ(made.sets, std::vector<std::string>{instruction_set_name(instruction_set())});
  ASSERT_TRUE(fs::exists(run / "golden/golden.json"));
  EXPECT_FALSE(fs::exists(run / "golden.unfinished"));

  const AttestReport same = run_attest(request(run), scene.progress);
  EXPECT_TRUE(same.equal() && same.predicted && same.by_hash) << to_json(same);
  EXPECT_EQ(same.task, made.task);
  const GoldenCase golden = read_golden(run / "golden");
  EXPECT_GT(golden.files.size(), 1u) << "an input and an answer";

  const std::string name = golden.parameters.rbegin()->first;
  change_parameter(same.checkpoint, name);
  const AttestReport changed = run_attest(request(run), scene.progress);
  ASSERT_FALSE(changed.equal());
  EXPECT_EQ(changed.findings[0].what, "parameter");
  EXPECT_THAT(changed.findings[0].text, HasSubstr(name));
  EXPECT_TRUE(changed.findings.size() == 1 || changed.findings[1].what == "answer") << to_json(changed);
  EXPECT_TRUE(changed.predicted);
}

INSTANTIATE_TEST_SUITE_P(Tasks, AttestOfEachTask, testing::ValuesIn(task_scenes()),
                         [](const auto& info) { return std::string(info.param.name); });

/// A run of two steps with its golden case.
struct GoldenScene : TrainingScene {
  GoldenScene() : TrainingScene("attest_volumes") {
    TrainOptions o = options("run");
    o.steps = 2;
    run_train(o, progress);
    run_attest({.model = run(), .make = true}, progress);
  }
  fs::path run() const { return path("run"); }
  fs::path golden() const { return run() / "golden"; }
  fs::path answer() const {
    return golden() / "answer" / fs::directory_iterator(golden() / "answer")->path().filename();
  }
  AttestReport attest() { return run_attest({.model = run()}, progress); }
  /// Writes golden.json anew, as a program would that is not this one.
  void edit(const std::function<void(GoldenCase&)>& change) const {
    GoldenCase golden = read_golden(this->golden());
    golden.files = golden_files(this->golden());
    change(golden);
    std::ofstream(this->golden() / kGoldenName) << golden_text(golden);
  }
  /// As if another instruction set had given the answer, and this one had none.
  void forget_own_set() const {
    edit([](GoldenCase& golden) {
      const InstructionSet own = instruction_set();
      golden.reference =
          instruction_set_name(own == InstructionSet::kAvx2 ? InstructionSet::kAmx : InstructionSet::kAvx2);
      golden.answers = {{golden.reference, sha256("another answer")}};
    });
  }
  /// Gives the voxels [begin, end) of the stored answer another label.
  void change_answer(std::int64_t begin, std::int64_t end) const {
    const fs::path file = answer();
    Volume labels = read_label(file);
    for (std::int64_t i = begin; i < end; ++i) labels.voxels.as<std::int32_t>()[i] ^= 1;
    write_volume(file, labels, DiskType::kU8);
    edit([](GoldenCase&) {});
  }
};

TEST(Attest, EveryByteOfTheGoldenCaseCounts) {
  GoldenScene scene;
  const std::string before = read_bytes(scene.golden() / kGoldenName);
  for (std::size_t at = 0; at < before.size(); at += 97) {
    damage(scene.golden() / kGoldenName, at);
    expect_error(ErrorKind::kMismatch, "golden.json", [&] { scene.attest(); });
    std::ofstream(scene.golden() / kGoldenName, std::ios::binary) << before;
  }
  std::ofstream(scene.golden() / kGoldenName, std::ios::app) << "\n";
  expect_error(ErrorKind::kMismatch, "golden.json", [&] { scene.attest(); });
  std::ofstream(scene.golden() / kGoldenName, std::ios::binary) << before;
  for (const auto& [name, hash] : read_golden(scene.golden()).files) {
    const std::string bytes = read_bytes(scene.golden() / name);
    damage(scene.golden() / name, bytes.size() / 2);
    const AttestReport report = scene.attest();
    ASSERT_EQ(report.findings.size(), 1u) << name;
    EXPECT_EQ(report.findings[0].text, "file " + name + " has other bytes");
    EXPECT_FALSE(report.predicted);
    std::ofstream(scene.golden() / name, std::ios::binary) << bytes;
  }
  std::ofstream(scene.golden() / "input/more.nii.gz") << "x";
  EXPECT_EQ(scene.attest().findings.at(0).text, "file input/more.nii.gz was added");
  fs::remove(scene.golden() / "input/more.nii.gz");
  fs::remove(scene.answer());
  EXPECT_THAT(scene.attest().findings.at(0).text, HasSubstr(" is gone"));
}

TEST(Attest, OtherInstructionsAreComparedByVoxels) {
  GoldenScene scene;
  scene.forget_own_set();
  const AttestReport same = scene.attest();
  EXPECT_TRUE(same.equal()) << to_json(same);
  EXPECT_FALSE(same.by_hash);
  ASSERT_TRUE(same.apart.has_value());
  EXPECT_EQ(same.apart->differing, 0);
  EXPECT_EQ(same.apart->unit, "voxels");
  EXPECT_EQ(same.apart->allowed, same.apart->compared / 1000) << "the run is of f32";
  EXPECT_THAT(to_text(same), HasSubstr("0 of " + std::to_string(same.apart->compared) + " voxels differ"));

  scene.change_answer(0, same.apart->allowed);
  const AttestReport within = scene.attest();
  EXPECT_TRUE(within.equal());
  EXPECT_EQ(within.apart->differing, within.apart->allowed);

  scene.change_answer(same.apart->allowed, same.apart->allowed + 1);
  const AttestReport beyond = scene.attest();
  ASSERT_EQ(beyond.findings.size(), 1u);
  EXPECT_EQ(beyond.findings[0].what, "answer");
}

TEST(Attest, AnotherAnswerIsDifferentHereAndWithinWhatIsAllowedOnAnotherProcessor) {
  GoldenScene scene;
  scene.edit([](GoldenCase& golden) { golden.answers[golden.reference] = sha256("another answer"); });
  const AttestReport here = scene.attest();
  ASSERT_EQ(here.findings.size(), 1u);
  EXPECT_THAT(here.findings[0].text, HasSubstr("another hash"));
  scene.edit([](GoldenCase& golden) { golden.processor = "another processor"; });
  const AttestReport elsewhere = scene.attest();
  EXPECT_TRUE(elsewhere.equal()) << to_json(elsewhere);
  EXPECT_THAT(to_text(elsewhere), HasSubstr("on another processor"));
}

TEST(Attest, SettingsPreparationAndTaskAreCompared) {
  GoldenScene scene;
  scene.edit([](GoldenCase& golden) { golden.preparation = sha256("another one"); });
  EXPECT_EQ(scene.attest().findings.at(0).what, "preparation");
  scene.edit([](GoldenCase& golden) { golden.model["base_filters"] = 5, golden.task = "detection"; });
  const AttestReport report = scene.attest();
  EXPECT_EQ(report.findings.at(0).what, "task");
  EXPECT_EQ(report.findings.at(1).what, "settings");
  EXPECT_FALSE(report.predicted);
}

TEST(Attest, ACaseThatIsThereIsReplacedOnlyWhenAsked) {
  GoldenScene scene;
  const std::string before = read_bytes(scene.golden() / kGoldenName);
  expect_error(ErrorKind::kOutput, "{replace}",
               [&] { run_attest({.model = scene.run(), .make = true}, scene.progress); });
  expect_error(ErrorKind::kUsage, "{make}",
               [&] { run_attest({.model = scene.run(), .replace = true}, scene.progress); });
  fs::create_directories(scene.run() / "golden.unfinished/input");  // as a killed call leaves it
  run_attest({.model = scene.run(), .make = true, .replace = true}, scene.progress);
  EXPECT_EQ(read_bytes(scene.golden() / kGoldenName), before) << "the same model gets the same case";
  EXPECT_FALSE(fs::exists(scene.run() / "golden.unfinished") || fs::exists(scene.run() / "golden.replaced"));
  fs::remove(scene.golden() / kGoldenName);
  expect_error(ErrorKind::kInput, "{make}", [&] { scene.attest(); });
  expect_error(ErrorKind::kOutput, "no golden case",
               [&] { run_attest({.model = scene.run(), .make = true, .replace = true}, scene.progress); });
}

TEST(Attest, ACaseThatCannotBeMadeLeavesTheOneThatIsThere) {
  GoldenScene scene;
  const std::string before = read_bytes(scene.golden() / kGoldenName);
  RecordingProgress stopping;
  stopping.stop = true;
  EXPECT_THROW(run_attest({.model = scene.run(), .make = true, .replace = true}, stopping), Stopped);
  EXPECT_FALSE(fs::exists(scene.run() / "golden.unfinished"));
  EXPECT_EQ(read_bytes(scene.golden() / kGoldenName), before);
  EXPECT_TRUE(scene.attest().equal());
}

TEST(Attest, NamesOfItsFilesForgeNoResult) {
  GoldenScene scene;
  const fs::path forged = scene.golden() / "input/a\nEQUAL: parameters";
  std::ofstream(forged) << "x";
  EXPECT_THAT(to_text(scene.attest()), HasSubstr("DIFFERENT: file input/a\\x0aEQUAL: parameters was added\n"));
  fs::remove(forged);
  scene.edit([](GoldenCase& golden) { golden.version = "0.2.0\nEQUAL: all", golden.processor = "x\nEQUAL: all"; });
  EXPECT_THAT(to_text(scene.attest()), testing::Not(HasSubstr("\nEQUAL: all")));
}

TEST(Attest, ACheckpointFileHasItsCaseBesideIt) {
  GoldenScene scene;
  fs::create_directories(scene.path("copied"));
  fs::copy_file(scene.last("run"), scene.path("copied/model.safetensors"));
  run_attest({.model = scene.path("copied/model.safetensors"), .make = true}, scene.progress);
  EXPECT_TRUE(fs::exists(scene.path("copied/golden/golden.json")));
  EXPECT_TRUE(run_attest({.model = scene.path("copied/model.safetensors")}, scene.progress).equal());
}

TEST(Attest, LeavesNothingInTmpdirAlsoWhenItEndsWithAnError) {
  GoldenScene scene;
  const ScratchTmpdir tmpdir;
  EXPECT_TRUE(scene.attest().by_hash);
  EXPECT_EQ(tmpdir.files(), 0u);
  run_attest({.model = scene.run(), .make = true, .replace = true}, scene.progress);
  EXPECT_EQ(tmpdir.files(), 0u) << "of the case that is made";
  for (const auto& [name, hash] : read_golden(scene.golden()).files)
    if (name.starts_with("input/")) std::ofstream(scene.golden() / name) << "no volume";
  scene.edit([](GoldenCase&) {});
  EXPECT_THROW(scene.attest(), Error);
  EXPECT_EQ(tmpdir.files(), 0u) << "of a prediction that failed";
}

TEST(GoldenCase, WhatIsNoGoldenCaseIsRefused) {
  const std::string hash(64, 'a');
  GoldenCase one{.task = "segmentation", .version = "0.2.0", .processor = "p"};
  one.model = {{"model", "unet3d"}}, one.preparation = hash, one.reference = "avx2", one.answers = {{"avx2", hash}};
  one.files = {{"input/a.png", hash}};
  const std::string text = golden_text(one);
  EXPECT_EQ(golden_text(parse_golden(text, "golden.json")), text);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    expect_error(ErrorKind::kMismatch, "golden.json", [&] { parse_golden(changed, "golden.json"); });
  };
  refused("\"task\": \"segmentation\"", "\"task\": 5");
  refused("\"input/a.png\": \"" + hash, "\"input/a.png\": \"../" + hash);
  refused("\"reference\": \"avx2\"", "\"reference\": \"amx\"");
  refused("\"avx2\": \"" + hash + "\"", "\"avx3\": \"" + hash + "\"");
  refused("\"files\": {", "\"files\": [");
  refused("{", std::string(1000, '['));
}

}  // namespace
}  // namespace voxshard
