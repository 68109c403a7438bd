// Scores on training items are never reported without a notice: predict recognises training items by their content,
// whatever their names, and marks them or leaves them out, evaluate repeats the notice first, and train suggests to
// predict only what it held out.
#include "tests/cli/data/data_files.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Returns the words after the last "next: voxshard ", empty without such a line.
std::string next_of(const CommandResult& r) {
  const std::string begin = "next: voxshard ";
  const auto at = r.out.rfind(begin);
  return at == std::string::npos ? "" : r.out.substr(at + begin.size(), r.out.find('\n', at) - at - begin.size());
}

TEST(HeldOut, ClassesAreMarkedOrLeftOutByTheirContent) {
  const Folder folder("held_out_classes");
  make_classes(folder, 5);
  const std::string data = folder / "classes", run = folder / "run", found = folder / "found.json";
  const CommandResult trained = run_voxshard("train " + data + " -o " + run +
                                             " --model resnet18 --base-filters 2 --batch 2 --steps 1 --precision f32");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(next_of(trained), "predict " + run + " " + data + " -o found.json --held-out");
  for (const fs::path& file : files_below(data, ".png"))  // recognised under another name
    fs::rename(file, file.parent_path() / ("renamed_" + file.filename().string()));

  const CommandResult all = run_voxshard("predict " + run + " " + data + " -o " + found + " --json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.json().at("cases").size(), 10u);
  EXPECT_EQ(all.json().at("trained_on"), 8);
  EXPECT_THAT(all.err, HasSubstr("W_TRAINED 8 of 10 inputs are what the run was trained on"));
  EXPECT_EQ(nlohmann::json::parse(file_text(found)).at("trained_on"), 8);
  const CommandResult scored = run_voxshard("evaluate " + found + " " + data + " -o " + (folder / "s.json"));
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_THAT(scored.out, StartsWith("W_TRAINED 8 of 10 that are scored are what the run was trained on"));
  EXPECT_EQ(nlohmann::json::parse(file_text(folder / "s.json")).at("trained_on"), 8);

  const CommandResult rest = run_voxshard("predict " + run + " " + data + " -o " + found + " --held-out --json");
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(rest.json().at("cases").size(), 2u);
  EXPECT_EQ(rest.json().at("trained_on"), 0);
  EXPECT_EQ(rest.json().at("left_out_as_trained_on"), 8);
  EXPECT_THAT(rest.err, Not(HasSubstr("W_TRAINED")));
  const CommandResult of_rest = run_voxshard("evaluate " + found + " " + data + " --json");
  ASSERT_EQ(of_rest.exit_code, 0) << of_rest.err << "what was not asked for is not missing";
  EXPECT_EQ(of_rest.json().at("items"), 2);
  EXPECT_THAT(run_voxshard("evaluate " + found + " " + data).out, StartsWith("8 that the run was trained on were not"));

  const CommandResult whole =
      run_voxshard("train " + data + " -o " + (folder / "all") + " --fold all --model resnet18 " +
                   "--base-filters 2 --batch 2 --steps 1 --precision f32");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(next_of(whole), "") << "nothing is held out";
  expect_refusal("predict " + (folder / "all") + " " + data + " -o " + (folder / "none.json") + " --held-out", 4,
                 "no_case", "trained on all of the 10 inputs");
}

TEST(HeldOut, ImagesOfIdxFilesAreKnownByTheirPixels) {
  const Folder folder("held_out_idx");
  const std::string data = folder / "digits", found = folder / "found.json";
  ASSERT_EQ(run_voxshard("demo " + data + " --task classification --cases 30 --test 10 -q").exit_code, 0);
  const CommandResult trained =
      run_voxshard("train " + data + " -o " + (folder / "run") + " --model digits --steps 1 --batch 8 --precision f32");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(next_of(trained), "predict " + (folder / "run") + " " + data + " -o found.json") << "its part for tests";
  fs::create_directories(folder / "other");
  for (const char* kind : {"images-idx3-ubyte", "labels-idx1-ubyte"})
    fs::copy_file(data + "/train-" + kind, (folder / "other/t10k-") + kind);
  const CommandResult r =
      run_voxshard("predict " + (folder / "run") + " " + (folder / "other") + " -o " + found + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("trained_on"), 30);
}

TEST(HeldOut, ImagesAreMarkedOrLeftOutByTheirContent) {
  const Folder folder("held_out_pictures");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --task detection --cases 10 --test 1 -q").exit_code, 0);
  const std::string data = folder / "data/annotations/instances_train.json", found = folder / "found.json";
  const std::string train =
      " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --precision f32 "
      "--crop 64x64 --steps 1 --val-fraction 0.2 ";
  const CommandResult trained = run_voxshard("train " + data + " -o " + (folder / "run") + train);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(next_of(trained), "predict " + (folder / "run") + " " + data + " -o found.json --held-out");
  const CommandResult all =
      run_voxshard("predict " + (folder / "run") + " " + (folder / "data/train") + " -o " + found + " --json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.json().at("trained_on"), 8) << "the folder's pictures, whatever their ids";

  const CommandResult marked = run_voxshard("predict " + (folder / "run") + " " + data + " -o " + found + " --json");
  ASSERT_EQ(marked.exit_code, 0) << marked.err;
  EXPECT_EQ(marked.json().at("trained_on"), 8);
  EXPECT_THAT(run_voxshard("evaluate " + found + " " + data).out, StartsWith("W_TRAINED 8 of 10 that are scored"));
  const CommandResult rest =
      run_voxshard("predict " + (folder / "run") + " " + data + " -o " + found + " --held-out --json");
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(rest.json().at("cases").size(), 2u);
  const CommandResult scored = run_voxshard("evaluate " + found + " " + data + " --json");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(scored.json().at("images"), 2) << "pictures that were not predicted cost no recall";

  ASSERT_EQ(run_voxshard("predict " + (folder / "run") + " " + (folder / "data/annotations/instances_val.json") +
                         " -o " + found + " -q")
                .exit_code,
            0);
  EXPECT_FALSE(fs::exists(folder / "found.trained_on.json")) << "an old mark does not survive";
  EXPECT_EQ(next_of(run_voxshard("train " + data + " -o " + (folder / "all") + train + "--fold all")), "");
}

class HeldOutVolumes : public TrainedCli {};

TEST_F(HeldOutVolumes, SourceImagesAreKnownByTheirContent) {
  const Folder folder("held_out_volumes");
  fs::create_directories(folder / "images");
  for (const fs::path& image : files_below(data() + "/imagesTr", ".nii.gz"))
    fs::copy_file(image, folder / ("images/another_" + image.filename().string()));
  fs::copy_file(files_below(data() + "/imagesTs", ".nii.gz").at(0), folder / "images/new_0000.nii.gz");
  const CommandResult r =
      run_voxshard("predict " + run() + " " + (folder / "images") + " -o " + (folder / "pred") + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("trained_on"), 2);
  EXPECT_EQ(r.json().at("cases").size(), 3u);
  const CommandResult rest =
      run_voxshard("predict " + run() + " " + (folder / "images") + " -o " + (folder / "rest") + " --held-out --json");
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(rest.json().at("cases").size(), 1u);

  ASSERT_EQ(run_voxshard("predict " + run() + " " + data() + "/imagesTr -o " + (folder / "again") + " -q").exit_code,
            0);
  const CommandResult scored = run_voxshard("evaluate " + (folder / "again") + " " + data() + "/labelsTr --json");
  EXPECT_EQ(scored.json().at("trained_on"), 2) << scored.err;
  EXPECT_THAT(run_voxshard("evaluate " + (folder / "again") + " " + data() + "/labelsTr").out,
              StartsWith("W_TRAINED 2 of 2 that are scored"));
  const CommandResult of_run = run_voxshard("evaluate " + run() + " " + work() + " --json");
  EXPECT_EQ(of_run.json().at("trained_on"), 2) << of_run.err;
  EXPECT_THAT(run_voxshard("evaluate " + run() + " " + work()).out, StartsWith("W_TRAINED 2 of 2 that are scored"));
}

TEST_F(HeldOutVolumes, TheNextCommandIsOfWhatAFoldHeldOutOrOfTheTestImages) {
  const Folder folder("held_out_next");
  const CommandResult tests = run_voxshard("train " + work() + " -o " + (folder / "tests") + kModel + kTraining);
  EXPECT_EQ(next_of(tests), "predict " + (folder / "tests") + " " + data() + "/imagesTs -o predictions");
  fs::copy(data(), folder / "data", fs::copy_options::recursive);
  fs::remove_all(folder / "data/imagesTs");
  ASSERT_EQ(run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing 8,8,8 -q").exit_code,
            0);
  const std::string train = "train " + (folder / "work") + kModel + "--crop 16x16x16 --steps 1 ";
  const CommandResult fold = run_voxshard(train + "--fold 0 -o " + (folder / "fold"));
  EXPECT_EQ(next_of(fold), "evaluate " + (folder / "fold/held_out") + " " + (folder / "data/labelsTr") + " --dataset " +
                               (folder / "data") + " -o " + (folder / "summary.json"))
      << fold.err;
  EXPECT_EQ(run_voxshard(next_of(fold)).exit_code, 0);
  const CommandResult by_hand = run_voxshard(train + "--fold 0 --predict-held-out off -o " + (folder / "by_hand"));
  EXPECT_EQ(next_of(by_hand),
            "predict " + (folder / "by_hand") + " " + (folder / "data/imagesTr") + " -o predictions --held-out")
      << by_hand.err;
  EXPECT_EQ(next_of(run_voxshard(train + "--fold all -o " + (folder / "all"))), "") << "nothing is held out";
}

}  // namespace
}  // namespace voxshard
