// What a hospital's first folders meet: masks among the images, names of files as ids, classes that keep their names,
// and a word about a case that is unlike the others.
#include <sstream>

#include "tests/cli/trained_cli.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using FrontDoorCli = TrainedCli;

TEST_F(FrontDoorCli, AMaskAmongTheImagesIsPredictedAndSaid) {
  const Folder folder("masks");
  const std::string images = folder / "images", out = folder / "out";
  fs::create_directories(images);
  fs::copy(data() + "/imagesTr/phantom_000_0000.nii.gz", images + "/scan.nii.gz");
  fs::copy(data() + "/labelsTr/phantom_000.nii.gz", images + "/scan_organs.nii.gz");
  const CommandResult r = run_voxshard("predict " + run() + " " + images + " -o " + out + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 2u);
  EXPECT_THAT(r.err, HasSubstr("case scan_organs: W_MASK"));
  EXPECT_THAT(r.err, Not(HasSubstr("case scan: W_MASK")));
  EXPECT_TRUE(fs::exists(out + "/scan_organs.nii.gz"));
  // A CT that is stored without its negative values is rescaled by its header, and whole numbers from 0 on otherwise
  // than in a file of an integer type are no mask.
  NiftiSpec spec{.dims = {16, 16, 16}, .datatype = 16};
  write_bytes(images + "/numbers.nii", nifti_bytes(spec, std::vector<double>(16 * 16 * 16, 3)));
  spec.datatype = 2, spec.slope = 4, spec.intercept = -4;
  write_bytes(images + "/scaled.nii", nifti_bytes(spec, std::vector<double>(16 * 16 * 16, 3)));
  const CommandResult others = run_voxshard("predict " + run() + " " + images + " -o " + out);
  ASSERT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.err, Not(HasSubstr("W_MASK")));
  EXPECT_THAT(run_voxshard("help codes").out, HasSubstr("W_MASK"));
}

TEST_F(FrontDoorCli, ClassesKeepTheirNamesWithoutADataSetOption) {
  const Folder folder("names");
  const std::string pred = folder / "pred", alone = folder / "alone";
  ASSERT_EQ(run_voxshard("predict " + run() + " " + data() + "/imagesTr -o " + pred + " -q").exit_code, 0);
  const nlohmann::json labels = nlohmann::json::parse(file_text(pred + "/classes.json")).at("labels");
  EXPECT_EQ(labels, nlohmann::json::parse(file_text(data() + "/dataset.json")).at("labels"));
  std::string first;
  for (const auto& [name, label] : labels.items())
    if (label == 1) first = name;
  fs::create_directories(alone);
  for (const auto& file : fs::directory_iterator(data() + "/labelsTr"))
    fs::copy(file.path(), fs::path(alone) / file.path().filename());
  const auto name_of = [&](const std::string& references, const std::string& predictions) {
    const CommandResult r = run_voxshard("evaluate " + predictions + " " + references + " --json");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(run_voxshard("evaluate " + predictions + " " + references).out,
                HasSubstr(r.json().at("classes").at(0).at("name").get<std::string>()));
    return r.json().at("classes").at(0).at("name").get<std::string>();
  };
  EXPECT_EQ(name_of(alone, pred), first) << "predict left them beside its label maps";
  EXPECT_EQ(name_of(alone + "/phantom_000.nii.gz", pred + "/phantom_000.nii.gz"), first);
  fs::remove(pred + "/classes.json");
  EXPECT_EQ(name_of(alone, pred), "1");
  EXPECT_EQ(name_of(data() + "/labelsTr", pred), first) << "dataset.json lies beside the references";
  EXPECT_EQ(name_of(data() + "/labelsTr/", pred), first);
  std::ofstream(pred + "/classes.json") << "{\"labels\": 7}";
  const CommandResult damaged = run_voxshard("evaluate " + pred + " " + alone + " --json");
  EXPECT_EQ(damaged.exit_code, 0) << damaged.err;
  EXPECT_THAT(damaged.err, HasSubstr("names of classes are not taken"));
}

/// Small data sets whose cases have an organ of one voxel more or less, under names of a choice.
struct FrontDoorNamesCli : testing::Test {
  /// Writes a data set with a case for each name; the organ of `large` is far larger.
  std::string write_set(const std::vector<std::string>& names, const std::string& large = "") const {
    const std::string set = folder_ / "set";
    fs::remove_all(set);
    for (const std::string& name : names) {
      const NiftiSpec image{.dims = {12, 12, 12}, .datatype = 4}, map{.dims = {12, 12, 12}, .datatype = 2};
      std::vector<double> hu, label;
      for (int i = 0; i < 12 * 12 * 12; ++i) {
        const int side = name == large ? 11 : 3, x = i % 12, y = i / 12 % 12, z = i / 144;
        const bool inside = x < side && y < side && z < side + static_cast<int>(name.size() % 2);
        hu.push_back(inside ? 60 + i % 7 : -900 + i % 5), label.push_back(inside);
      }
      fs::create_directories(set + "/imagesTr"), fs::create_directories(set + "/labelsTr");
      write_bytes(set + "/imagesTr/" + name + "_0000.nii", nifti_bytes(image, hu));
      write_bytes(set + "/labelsTr/" + name + ".nii", nifti_bytes(map, label));
    }
    std::ofstream(set + "/dataset.json")
        << R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "organ": 1}, "numTraining": )" << names.size()
        << R"(, "file_ending": ".nii"})";
    return set;
  }
  Folder folder_{"front_door"};
};

TEST_F(FrontDoorNamesCli, IdsThatAreNamesOfFilesAreSaidUnlessTheyAreOrdinals) {
  const std::string words = "--id-salt FILE hides them", out = folder_ / "work";
  for (const auto& [names, is_said] : {std::pair(std::vector<std::string>{"liver_001", "liver_002"}, false),
                                       std::pair(std::vector<std::string>{"BRATS_001"}, false),
                                       std::pair(std::vector<std::string>{"s0011", "s0012"}, false),
                                       std::pair(std::vector<std::string>{"Meier_Anna", "Vogt_Karl"}, true),
                                       std::pair(std::vector<std::string>{"Meier_1", "Vogt_1"}, true),
                                       std::pair(std::vector<std::string>{"p48291733", "p48291734"}, true)}) {
    const std::string set = write_set(names);
    for (const std::string& command : {"prepare " + set + " -o " + out + " --resume", "check " + set}) {
      const CommandResult r = run_voxshard(command);
      std::size_t count = 0;
      for (std::size_t at = r.err.find(words); at != std::string::npos; at = r.err.find(words, at + 1)) ++count;
      EXPECT_EQ(count, is_said ? 1u : 0u) << command << " " << names.front() << "\n" << r.err;
    }
  }
  folder_.write("salt", "a secret of the operator's");
  fs::permissions(folder_ / "salt", fs::perms(0600));
  const CommandResult r = run_voxshard("check " + (folder_ / "set") + " --id-salt " + (folder_ / "salt"));
  EXPECT_THAT(r.err, Not(HasSubstr("hides them")));
}

TEST_F(FrontDoorNamesCli, PrepareNamesACaseWithAnUnusualVolumeAndTheCommandThatLooksCloser) {
  std::vector<std::string> names;
  for (int i = 10; i < 22; ++i) names.push_back("case_" + std::string(i % 2, '0') + std::to_string(i));
  const std::string set = write_set(names, "case_14"), prepare = "prepare " + set + " -o " + (folder_ / "work") + " ";
  const CommandResult r = run_voxshard(prepare);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("case case_14: W_VOLUME organ (1) has 1.5 ml; usual in the other cases: 0.0 ml"));
  EXPECT_THAT(r.out, HasSubstr("what is odd in its cases tells: voxshard check " + set + "\n"));
  const nlohmann::json report = nlohmann::json::parse(file_text(folder_ / "work/run.json")).at("report");
  ASSERT_EQ(report.at("warnings").size(), 1u) << report.dump();
  EXPECT_EQ(report.at("warnings").at(0).at("code"), "W_VOLUME");
  const CommandResult again = run_voxshard(prepare + "--resume --json");
  EXPECT_EQ(again.json().at("warnings"), report.at("warnings")) << "also of cases that were finished before";
}

TEST_F(FrontDoorCli, InfoDescribesAFolderThatPrepareWrote) {
  const Folder folder("prepared_info");
  const std::string work = folder / "work";
  ASSERT_EQ(run_voxshard("prepare " + data() + " -o " + work + " --spacing 8,8,8 -q").exit_code, 0);
  const CommandResult r = run_voxshard("info " + work + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  ASSERT_EQ(r.json().at("prepared").size(), 1u);
  const nlohmann::json info = r.json().at("prepared").at(0),
                       listing = nlohmann::json::parse(file_text(work + "/dataset.json")),
                       plans = nlohmann::json::parse(file_text(work + "/plans.json"));
  EXPECT_EQ(info.at("cases"), listing.at("cases").size());
  EXPECT_EQ(info.at("name"), listing.at("name"));
  EXPECT_EQ(info.at("plan"), plans.at("prepare"));
  EXPECT_EQ(info.at("plan").at("spacing_mm"), (nlohmann::json{8, 8, 8}));
  ASSERT_EQ(info.at("classes").size(), listing.at("labels").size());
  for (const auto& [name, label] : listing.at("labels").items()) {
    std::int64_t voxels = 0, cases = 0;
    for (const auto& item : listing.at("cases")) {
      const std::int64_t here = item.at("class_voxels").at(label.get<std::size_t>());
      voxels += here, cases += here > 0;
    }
    const nlohmann::json one = info.at("classes").at(label.get<std::size_t>());
    EXPECT_EQ(one.at("name"), name);
    EXPECT_EQ(one.at("voxels"), voxels);
    EXPECT_EQ(one.at("cases"), cases);
  }
  EXPECT_EQ(info.at("fingerprint_hash").get<std::string>().size(), 32u);
  const CommandResult text = run_voxshard("info " + work);
  EXPECT_THAT(text.out, HasSubstr("spacing 8x8x8 mm"));
  EXPECT_THAT(text.out, HasSubstr("fingerprint " + info.at("fingerprint_hash").get<std::string>()));
  EXPECT_THAT(text.err + text.out, HasSubstr("voxshard train " + work));

  // The same data prepared alike are the same; a case that was changed behind its back is listed.
  const std::string again = folder / "again";
  ASSERT_EQ(run_voxshard("prepare " + data() + " -o " + again + " --spacing 8,8,8 -q").exit_code, 0);
  EXPECT_EQ(run_voxshard("info " + again + " --json").json().at("prepared").at(0).at("fingerprint_hash"),
            info.at("fingerprint_hash"));
  fs::remove(again + "/labels/phantom_000.nii");
  const CommandResult changed = run_voxshard("info " + again + " --json");
  EXPECT_EQ(changed.json().at("failures").size(), 1u);
  EXPECT_EQ(changed.json().at("prepared").at(0).at("cases").get<std::size_t>(), listing.at("cases").size() - 1);
}

TEST_F(FrontDoorCli, AFolderWithoutAListSaysWhereItsVolumesAre) {
  const Folder folder("unlisted");
  fs::copy(data() + "/imagesTr", folder / "imagesTr");
  fs::copy(data() + "/labelsTr", folder / "labelsTr");
  const CommandResult r = run_voxshard("info " + folder.path().string());
  EXPECT_EQ(r.exit_code, 4);
  const auto count = std::to_string(std::distance(fs::directory_iterator(data() + "/imagesTr"), {}));
  EXPECT_THAT(r.err, HasSubstr("(but " + count + " files in imagesTr, " + count +
                               " in labelsTr, without a dataset.json beside them)"));
}

TEST_F(FrontDoorCli, ScansBesideFoldersOfScansAreNoClasses) {
  const Folder folder("reports");
  const std::string scan = data() + "/imagesTr/phantom_000_0000.nii.gz", mask = data() + "/labelsTr/phantom_000.nii.gz";
  for (const char* name : {"aorta_report", "spine_report"}) {
    fs::create_directories(folder / name);
    fs::copy(scan, folder / (std::string(name) + "/ct.nii.gz"));
    fs::copy(mask, folder / (std::string(name) + "/mask.nii.gz"));
  }
  EXPECT_EQ(run_voxshard("info " + folder.path().string() + " --json").json().at("class_sets").size(), 1u);
  fs::copy(scan, folder / "example_ct.nii.gz");
  const CommandResult r = run_voxshard("info " + folder.path().string() + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.json().at("class_sets").empty());
  EXPECT_EQ(r.json().at("folders").at(0).at("images"), 1);
  EXPECT_EQ(r.json().at("folders").at(0).at("left_out"), "2 files in aorta_report, 2 in spine_report");
}

TEST_F(FrontDoorCli, AMissingPredictionIsExplainedOnce) {
  const Folder folder("missing");
  const std::string pred = folder / "pred", gone = pred + "/phantom_000.nii.gz";
  ASSERT_EQ(run_voxshard("predict " + run() + " " + data() + "/imagesTr -o " + pred + " -q").exit_code, 0);
  ASSERT_TRUE(fs::remove(gone));
  const CommandResult r = run_voxshard("evaluate " + pred + " " + data() + "/labelsTr");
  EXPECT_EQ(r.exit_code, 8);
  const std::string all = r.out + r.err, reason = "there is no prediction for phantom_000.nii.gz";
  const std::size_t first = all.find(reason);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(all.find(reason, first + 1), std::string::npos);
  EXPECT_THAT(r.out, HasSubstr(" case scored, 1 not: phantom_000 (E_MISSING)\n"));
}

}  // namespace
}  // namespace voxshard
