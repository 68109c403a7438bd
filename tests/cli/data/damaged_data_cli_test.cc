// Files that are damaged or missing, before a training and after it began: each alone is left out, with its code in
// quarantine.csv and exit code 8; a run whose data have shrunk is refused, and goes on once the change is accepted,
// which is reported and recorded.
#include "tests/cli/data/data_files.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDetector =
    " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --precision f32 --crop 64x64 ";
constexpr const char* kClassifier = " --model resnet18 --base-filters 2 --batch 2 --precision f32 ";

TEST(DamagedData, AImageThatDoesNotDecodeCostsItselfInTrainingAndInValidation) {
  const Folder folder("damaged_pictures");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --task detection --cases 5 --test 2 -q").exit_code, 0);
  const fs::path train = files_below(folder / "data/train", ".png").at(1),
                 val = files_below(folder / "data/val", ".png").at(0);
  damage(train), damage(val);
  const CommandResult r =
      run_voxshard("train " + (folder / "data") + " -o " + (folder / "run") + kDetector + "--steps 2 --json");
  ASSERT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("left_out"), 2);
  EXPECT_EQ(r.json().at("train_cases"), 4);
  const std::string list = file_text(folder / "run/quarantine.csv");
  EXPECT_THAT(
      list, AllOf(HasSubstr(train.filename().string() + ",E_READ,"), HasSubstr(val.filename().string() + ",E_READ,")));
  EXPECT_THAT(r.err, HasSubstr("[left out of validation]"));
  const CommandResult again = run_voxshard("train --resume " + (folder / "run") + " --steps 3 --json");
  EXPECT_EQ(again.exit_code, 8) << again.err;
  EXPECT_EQ(again.json().at("steps"), 3);
}

TEST(DamagedData, ARunOfImagesGoesOnWithoutWhatWasDamagedOrTakenAwayOnceThatIsAccepted) {
  const Folder folder("shrunk_pictures");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --task detection --cases 8 --test 1 -q").exit_code, 0);
  const std::string data = folder / "data/annotations/instances_train.json", run = folder / "run";  // a share validates
  const CommandResult begun =
      run_voxshard("train " + data + " -o " + run + kDetector + "--steps 2 --val-fraction 0.3 --json");
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  const auto splits = nlohmann::json::parse(file_text(run + "/splits_final.json"));
  const std::string first = splits[0]["train"][0], second = splits[0]["train"][1], validates = splits[0]["val"][0];
  damage(folder / ("data/train/" + first));
  expect_refusal("train --steps 3 --resume " + run, 10, "checkpoint", "--resume --accept-changes");
  expect_refusal("train " + data + " --accept-changes -o " + (folder / "other") + kDetector, 2, "usage", "--resume");
  const CommandResult on = run_voxshard("train --steps 3 --accept-changes --json --resume " + run);
  ASSERT_EQ(on.exit_code, 8) << on.err;
  EXPECT_THAT(on.err, HasSubstr("1 is gone (train/" + first + ")"));
  EXPECT_EQ(on.json().at("train_cases"), begun.json().at("train_cases").get<int>() - 1);
  EXPECT_EQ(on.json().at("validation_cases"), begun.json().at("validation_cases"));
  const auto kept = nlohmann::json::parse(file_text(run + "/run.json")).at("data_changes");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].at("step"), 2);
  EXPECT_EQ(kept[0].at("gone"), nlohmann::json({"train/" + first}));
  EXPECT_FALSE(nlohmann::json::parse(file_text(run + "/run.json")).at("options").contains("accept-changes"));
  EXPECT_EQ(run_voxshard("train --steps 4 --resume " + run).exit_code, 8)
      << "what was accepted need not be accepted again";

  fs::remove(folder / ("data/train/" + second));  // no item moves to the other split, though the share changes
  fs::remove(folder / ("data/train/" + validates));
  expect_refusal("train --steps 5 --resume " + run, 10, "checkpoint", "--resume --accept-changes");
  const CommandResult shrunk = run_voxshard("train --steps 5 --accept-changes --json --resume " + run);
  ASSERT_EQ(shrunk.exit_code, 8) << shrunk.err;
  EXPECT_THAT(file_text(run + "/quarantine.csv"), HasSubstr(second + ",E_MISSING,"));
  const auto now = nlohmann::json::parse(file_text(run + "/splits_final.json"));
  for (const char* part : {"train", "val"})
    for (const auto& name : now[0][part])
      EXPECT_THAT(splits[0][part].get<std::vector<std::string>>(), testing::Contains(name.get<std::string>())) << part;
}

TEST(DamagedData, ARunOfClassesGoesOnWithoutWhatWasDamagedOnceThatIsAccepted) {
  const Folder folder("shrunk_classes");
  make_classes(folder, 6);
  const std::string run = folder / "run";
  ASSERT_EQ(run_voxshard("train " + (folder / "classes") + " -o " + run + kClassifier + "--epochs 2 --json").exit_code,
            0);
  const auto before = nlohmann::json::parse(file_text(run + "/run.json")).at("training").at("steps").get<int>();
  const auto splits = nlohmann::json::parse(file_text(run + "/splits_final.json"));
  const std::string damaged = splits[0]["train"][0], gone = splits[0]["train"][1];
  damage(folder / ("classes/" + damaged));
  fs::remove(folder / ("classes/" + gone));
  expect_refusal("train --epochs 3 --resume " + run, 10, "checkpoint", "--resume --accept-changes");
  const CommandResult on = run_voxshard("train --epochs 3 --accept-changes --json --resume " + run);
  ASSERT_EQ(on.exit_code, 8) << on.err;
  EXPECT_EQ(on.json().at("steps"), before / 2 * 3) << "epochs are those of the run as it began";
  EXPECT_THAT(file_text(run + "/quarantine.csv"),
              AllOf(HasSubstr(damaged + ",E_READ,"), HasSubstr(gone + ",E_MISSING,")));
  EXPECT_EQ(run_voxshard("train --epochs 4 --resume " + run).exit_code, 8);
}

class DamagedVolumes : public TrainedCli {};

TEST_F(DamagedVolumes, ARunOfVolumesGoesOnWithoutADamagedCaseOnceThatIsAccepted) {
  const Folder folder("shrunk_volumes");
  fs::copy(work(), folder / "work", fs::copy_options::recursive);
  const std::string train = "train " + (folder / "work") + " -o " + (folder / "run") + kModel + kTraining;
  ASSERT_EQ(run_voxshard(train + "-q").exit_code, 0);
  const fs::path image = files_below(folder / "work/images", ".nii").at(0);
  damage(image);  // same length, other voxels
  fs::last_write_time(image, fs::last_write_time(image) - std::chrono::hours(1));
  const std::string resume = "train --steps 3 --json --resume " + (folder / "run");
  const CommandResult refused = run_voxshard(resume);
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("prepare"), HasSubstr("--accept-changes")));
  const CommandResult on = run_voxshard(resume + " --accept-changes");
  ASSERT_EQ(on.exit_code, 8) << on.err;
  EXPECT_EQ(on.json().at("train_cases"), 1);
  EXPECT_THAT(file_text(folder / "run/quarantine.csv"), HasSubstr(",E_READ,"));
  EXPECT_EQ(nlohmann::json::parse(file_text(folder / "run/run.json")).at("data_changes").size(), 1u);
}

TEST_F(DamagedVolumes, ANewRunSaysThatItLooksAtSizeAndTimeOnly) {
  const Folder folder("size_and_time");
  const CommandResult r = run_voxshard("train " + work() + " -o " + (folder / "run") + kModel + kTraining);
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.err, HasSubstr("by size and time of their files"));
}

}  // namespace
}  // namespace voxshard
