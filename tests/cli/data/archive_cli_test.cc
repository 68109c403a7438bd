// Zip and tar files of studies on the command line: read like their folders, refused within bounds, and nothing of them
// stays behind.
#include "tests/cli/data/planted_scan.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ArchiveCli : public TrainedCli {
 protected:
  ArchiveCli() { fs::create_directories(scratch_ / "tmp"); }
  std::string packed(const std::string& kind, const std::vector<PackedEntry>& files,
                     const std::string& password = "") const {
    const std::string path = scratch_ / ("study." + kind);
    std::ofstream(path, std::ios::binary) << archive_bytes(kind, files, password);
    return path;
  }
  /// Runs a command whose temporary folder is empty before it, and expects it to be empty afterwards.
  CommandResult run_there(const std::string& words) const {
    CommandResult r = run_voxshard(words, "", "TMPDIR=" + (scratch_ / "tmp"));
    EXPECT_TRUE(fs::is_empty(scratch_ / "tmp")) << words;
    expect_nobody(r);
    return r;
  }
  Folder scratch_{"archive"};
};

TEST_F(ArchiveCli, AFolderOfArchivesIsReadLikeATreeOfStudies) {
  const std::vector<PlantedScan> scans = {{.series = "1.2.840.99.77.3"}, {.series = "1.2.840.99.77.4"}};
  fs::create_directories(scratch_ / "zips/more");
  const char* names[] = {"zips/a.zip", "zips/more/b.zip"};
  for (std::size_t i = 0; i < 2; ++i) {
    write_planted_scan(scratch_ / ("folders/" + std::to_string(i)), scans[i]);
    scratch_.write(names[i], archive_bytes("zip", planted_scan(scans[i], true)));
  }
  const std::string zips = scratch_ / "zips";
  const CommandResult listed = run_there("info " + zips + " --json");
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(listed.json().at("folders").at(0).at("images"), 2);
  ASSERT_EQ(run_voxshard("predict " + run() + " " + (scratch_ / "folders") + " -o " + (scratch_ / "a")).exit_code, 0);
  const CommandResult r = run_there("predict " + run() + " " + zips + " -o " + (scratch_ / "b"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* name : {"/case_0001.nii.gz", "/case_0002.nii.gz"})
    EXPECT_EQ(file_text((scratch_ / "b") + name), file_text((scratch_ / "a") + name)) << name;
  expect_nobody_in(scratch_ / "b");

  // An archive beside what was unpacked from it counts once.
  write_planted_scan(zips + "/a", scans[0]);
  const CommandResult beside = run_there("info " + zips + " --json");
  ASSERT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_EQ(beside.json().at("folders").at(0).at("images"), 2);
  EXPECT_THAT(beside.out, HasSubstr("1 volume of an archive that is there twice"));
  fs::remove_all(zips + "/a");

  // One that cannot be read costs itself.
  scratch_.write("zips/c.tar.xz", "no archive");
  scratch_.write("zips/empty.zip", archive_bytes("zip", {{"notes.txt", "x"}}));
  const CommandResult broken = run_there("info " + zips);
  EXPECT_EQ(broken.exit_code, 8) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("E_ARCHIVE"));
  EXPECT_THAT(broken.out, HasSubstr("left out: 1 archive without a volume"));
  const CommandResult rest = run_there("predict " + run() + " " + zips + " -o " + (scratch_ / "c"));
  EXPECT_EQ(rest.exit_code, 8) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("2 predicted"));
  EXPECT_THAT(file_text(scratch_ / "c/quarantine.csv"), HasSubstr(",E_ARCHIVE,"));
}

TEST_F(ArchiveCli, AStudyIsListedConvertedAndPredictedAsFromItsFolder) {
  write_planted_scan(scratch_ / "folder");
  const std::string folder = scratch_ / "folder", zip = packed("zip", planted_scan({}, true));
  const CommandResult listed = run_there("info " + zip + " --json");
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  const nlohmann::json of_zip = listed.json().at("folders").at(0).at("files").at(0);
  const nlohmann::json of_folder = run_voxshard("info " + folder + " --json").json().at("folders").at(0).at("files")[0];
  for (const char* key : {"size", "spacing_mm", "origin_mm", "direction", "scalar_type"})
    EXPECT_EQ(of_zip.at(key), of_folder.at(key)) << key;
  EXPECT_EQ(of_zip.at("files").size(), 32u);
  EXPECT_THAT(of_zip.at("files").at(0).get<std::string>(), HasSubstr("study.zip/1/"));
  const std::string address = of_zip.at("path");
  EXPECT_THAT(address, HasSubstr("study.zip/#series=ct_"));
  ASSERT_EQ(run_voxshard("convert " + folder + " -o " + (scratch_ / "folder.nii")).exit_code, 0);
  ASSERT_EQ(run_there("convert " + zip + " -o " + (scratch_ / "zip.nii")).exit_code, 0);
  ASSERT_EQ(run_there("convert '" + address + "' -o " + (scratch_ / "address.nii")).exit_code, 0);
  for (const char* name : {"zip.nii", "address.nii"})
    EXPECT_EQ(file_text(scratch_ / name), file_text(scratch_ / "folder.nii")) << name;
  ASSERT_EQ(run_voxshard("predict " + run() + " " + folder + " -o " + (scratch_ / "a")).exit_code, 0);
  const CommandResult r = run_there("predict " + run() + " " + zip + " -o " + (scratch_ / "b"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(file_text(scratch_ / "b/case_0001.nii.gz"), file_text(scratch_ / "a/case_0001.nii.gz"));
  expect_nobody_in(scratch_ / "b");
}

TEST_F(ArchiveCli, WhatIsLeftOutIsCounted) {
  std::vector<PackedEntry> files = planted_scan();
  files.push_back({"../Planted", "x"}), files.push_back({.name = "Planted", .link_to = "/etc/passwd"});
  files.push_back({"report_Planted.pdf", "%PDF"});
  const std::string tar = packed("tar.gz", files);
  EXPECT_THAT(run_there("info " + tar).out, HasSubstr("left out: 1 file of another kind, 1 link, 1 unsafe name"));
  const CommandResult r = run_there("predict " + run() + " " + tar + " -o " + (scratch_ / "out"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("left out: 1 file of another kind, 1 link, 1 unsafe name"));
}

TEST_F(ArchiveCli, ACutAndAnEncryptedOneAreRefused) {
  const std::string cut = packed("tar.xz", planted_scan());
  fs::resize_file(cut, fs::file_size(cut) / 2);
  const std::string encrypted = packed("zip", planted_scan(), "password");
  for (const auto& [path, why] : {std::pair{cut, "cut or damaged"}, {encrypted, "is encrypted"}})
    for (const std::string& command : {"info " + path, "convert " + path + " -o " + (scratch_ / "a.nii"),
                                       "predict " + run() + " " + path + " -o " + (scratch_ / "out")}) {
      const CommandResult r = run_there(command + " --json");
      EXPECT_EQ(r.exit_code, 3) << command << r.err;
      EXPECT_EQ(r.json().at("error").at("code"), "E_ARCHIVE") << command;
      EXPECT_THAT(r.err, HasSubstr(why));
    }
  EXPECT_FALSE(fs::exists(scratch_ / "a.nii"));
}

TEST_F(ArchiveCli, OfSeveralReconstructionsTheBestOneIsPredicted) {
  write_planted_scan(scratch_ / "study/soft", {.series = "1.2.840.99.77.3", .kernel = "B30f"});
  write_planted_scan(scratch_ / "study/sharp", {.series = "1.2.840.99.77.4", .kernel = "B70f"});
  const std::string study = scratch_ / "study";
  const CommandResult best = run_there("predict " + run() + " " + study + " -o " + (scratch_ / "best") + " --json");
  ASSERT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(best.json().at("cases").size(), 1u);
  EXPECT_EQ(best.json().at("failed"), 0);
  ASSERT_EQ(best.json().at("other_reconstructions").size(), 1u);
  const std::string reason = best.json().at("other_reconstructions").at(0).at("reason");
  EXPECT_THAT(reason, HasSubstr("in place of slices 3.00 mm apart, kernel sharpness 70 of 100)"));
  EXPECT_THAT(best.err, HasSubstr("1 series is left out as another reconstruction of a scan"));
  EXPECT_THAT(best.err, HasSubstr("--series all"));
  const CommandResult all =
      run_there("predict " + run() + " " + study + " -o " + (scratch_ / "best") + " --series all --json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.json().at("cases").size(), 2u) << "what is kept is among them";
  EXPECT_EQ(all.json().at("kept"), 1) << "what a night with the other choice predicted stays good";
  EXPECT_FALSE(all.json().contains("other_reconstructions"));
}

TEST_F(ArchiveCli, ReconstructionsInArchivesOfTheirOwnAreOneScanToo) {
  fs::create_directories(scratch_ / "zips");
  scratch_.write("zips/a.zip", archive_bytes("zip", planted_scan({.series = "1.2.840.99.77.3", .kernel = "B70f"})));
  scratch_.write("zips/b.zip", archive_bytes("zip", planted_scan({.series = "1.2.840.99.77.4", .kernel = "B30f"})));
  write_planted_scan(scratch_ / "zips/c", {.series = "1.2.840.99.77.5", .kernel = "B50f"});
  const CommandResult r =
      run_there("predict " + run() + " " + (scratch_ / "zips") + " -o " + (scratch_ / "out") + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = r.json();
  EXPECT_EQ(json.at("cases").size(), 1u);
  ASSERT_EQ(json.at("other_reconstructions").size(), 2u);
  for (const auto& other : json.at("other_reconstructions"))
    EXPECT_THAT(other.at("reason").get<std::string>(), HasSubstr("kernel sharpness 30 of 100, in place of"));
}

TEST_F(ArchiveCli, AStudyOfOneScanIsItsBestReconstructionWhereverOneVolumeIsWanted) {
  write_planted_scan(scratch_ / "study/soft", {.series = "1.2.840.99.77.3", .kernel = "B30f"});
  write_planted_scan(scratch_ / "study/sharp", {.series = "1.2.840.99.77.4", .kernel = "B70f"});
  std::vector<PackedEntry> both;
  for (const PlantedScan& scan : {PlantedScan{.series = "1.2.840.99.77.3", .kernel = "B30f"},
                                  PlantedScan{.series = "1.2.840.99.77.4", .kernel = "B70f"}})
    for (PackedEntry& file : planted_scan(scan)) {
      file.name = scan.kernel + file.name;
      both.push_back(std::move(file));
    }
  const std::string study = scratch_ / "study", packed_study = packed("zip", both), output = scratch_ / "one.nii";
  for (const std::string& input : {study, packed_study}) {
    const CommandResult info = run_there("info " + input + " --json");
    ASSERT_EQ(info.exit_code, 0) << info.err;
    std::string best;
    const nlohmann::json files = info.json().at("folders").at(0).at("files");
    for (const auto& file : files)
      if (!file.contains("better")) best = file.at("path");
    const CommandResult one = run_there("convert " + input + " -o " + output);
    ASSERT_EQ(one.exit_code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("W_SERIES it holds 2 reconstructions of one scan"));
    const std::string bytes = file_text(output);
    ASSERT_EQ(run_there("convert '" + best + "' -o " + output).exit_code, 0);
    EXPECT_EQ(file_text(output), bytes);
    const CommandResult set =
        run_there("convert " + input + " -o " + (scratch_ / ("set" + input.substr(input.size() - 3))) + " --to nnunet");
    ASSERT_EQ(set.exit_code, 0) << set.err;
    EXPECT_THAT(set.err, HasSubstr("1 series is left out as another reconstruction of a scan"));
  }
}

}  // namespace
}  // namespace voxshard
