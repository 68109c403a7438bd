// A tree of four studies whose folders and headers say who they are, with a structure set each, and a class map.
//
//   struct MyTest : StudyTreeScene {};
//   run_voxshard(prepare("--keep-names"));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"
#include "tests/io/archive_files.h"
#include "tests/io/study_files.h"

namespace voxshard {

class StudyTreeScene : public testing::Test {
 protected:
  /// Writes four studies in folders that are named after patients; the last one lacks the spleen.
  StudyTreeScene() {
    for (int i = 0; i < 4; ++i) write_study(i, "PLANTED_ID" + std::to_string(i));
    scratch_.write("map.toml", "[[class]]\nname = \"liver\"\naliases = [\"Leber\"]\n[[class]]\nname = \"spleen\"\n");
    scratch_.write("salt", "a secret of the operator's");
    std::filesystem::permissions(scratch_ / "salt", std::filesystem::perms(0600));
  }
  void write_study(int i, const std::string& patient_id) const {
    const std::string uid = "1.2.840.4711." + std::to_string(i);
    StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .slices = 4 + i};
    ct.patient = "PLANTED^P" + std::to_string(i), ct.institution = "Sanatorium PLANTED", ct.patient_id = patient_id;
    const std::filesystem::path folder = patient_folder(i);
    write_series(folder / "PLANTED_CT", ct, "PLANTED_IM");
    std::vector<Block> organs = {{1, "Leber", 2, 6, 1, 3}};
    if (i != 3) organs.push_back({2, "Spleen", 0, 2, 0, 1});
    write_structure_set(folder / "PLANTED_RS.dcm", ct, organs);
  }
  std::string prepare(const std::string& options = "") const {
    return "prepare " + tree_ + " -o " + work_ + " --classes " + (scratch_ / "map.toml") + " " + options;
  }
  /// Packs each study, under names of patients, into an archive; returns the folder of the archives.
  std::string packed_tree() const {
    const std::string zips = scratch_ / "zips";
    std::filesystem::create_directories(zips);
    for (int i = 0; i < 4; ++i) {
      std::vector<PackedEntry> entries;
      for (const auto& file : std::filesystem::recursive_directory_iterator(patient_folder(i)))
        if (file.is_regular_file())
          entries.push_back({std::filesystem::relative(file.path(), tree_).string(), file_text(file.path())});
      scratch_.write("zips/PLANTED_P" + std::to_string(i) + ".zip", archive_bytes("zip", entries));
    }
    return zips;
  }
  std::string patient_folder(int i) const { return tree_ + "/PLANTED_P" + std::to_string(i); }
  /// Returns all that a command printed, and all that is in the work folder but the file of its owner.
  std::string all_of(const CommandResult& r) const {
    std::string all = r.out + r.err;
    if (std::filesystem::exists(work_))
      for (const auto& file : std::filesystem::recursive_directory_iterator(work_)) {
        all += std::filesystem::relative(file.path(), work_).string() + "\n";
        if (file.is_regular_file() && file.path().filename() != "case_paths.jsonl") all += file_text(file.path());
      }
    return all;
  }
  void expect_nobody(const CommandResult& r) const {
    const std::string all = all_of(r);
    for (const char* planted : {"PLANTED", "1.2.840.4711", "series=ct_"})
      EXPECT_THAT(all, testing::Not(testing::HasSubstr(planted)));
  }

  Folder scratch_{"trees"};
  std::string tree_ = scratch_ / "studies", work_ = scratch_ / "work";
};

}  // namespace voxshard
