// Ids without names: ordinals that hold over calls, hashes with a secret, and the one file that leads back.
#include "io/datasets/case_ids.h"

#include <sys/stat.h>

#include "io/datasets/hidden_paths.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using testing::Not;

Dataset dataset_of(const std::vector<std::string>& names) {
  Dataset d;
  for (const std::string& name : names) d.training.push_back({name, {fs::path("/data") / name / "ct"}, {}});
  return d;
}

std::map<std::string, std::string> ids_by_name(const CaseNames& names) {
  std::map<std::string, std::string> ids;
  for (const auto& [id, one] : names) ids[one.name] = id;
  return ids;
}

TEST(CaseIds, OrdinalsHoldWhenCasesComeAndGo) {
  const ScratchFolder dir("ids");
  Dataset first = dataset_of({"MEIER", "ABEL", "ZORN"});
  CaseNames names = read_case_names(dir.path());
  give_ids(first, std::nullopt, names);
  write_case_names(dir.path(), names);
  const auto before = ids_by_name(names);
  EXPECT_THAT(case_ids(first.training), testing::ElementsAre("case_0001", "case_0002", "case_0003"));
  for (const Case& item : first.training) EXPECT_TRUE(item.anonymous);

  Dataset second = dataset_of({"BAUER", "MEIER", "ZORN"});
  CaseNames later = read_case_names(dir.path());
  give_ids(second, std::nullopt, later);
  const auto after = ids_by_name(later);
  EXPECT_EQ(after.at("MEIER"), before.at("MEIER"));
  EXPECT_EQ(after.at("ZORN"), before.at("ZORN"));
  EXPECT_EQ(after.at("BAUER"), "case_0004");
  EXPECT_EQ(after.at("ABEL"), before.at("ABEL")) << "an id is never given to another case";
}

TEST(CaseIds, TheOrderOfOrdinalsIsNotThatOfNames) {
  std::vector<std::string> names;
  for (char c = 'A'; c <= 'Z'; ++c) names.push_back(std::string(1, c) + "-patient");
  Dataset d = dataset_of(names);
  CaseNames by_id;
  give_ids(d, std::nullopt, by_id);
  std::vector<std::string> in_order;
  for (const auto& [id, one] : by_id) in_order.push_back(one.name);
  EXPECT_FALSE(std::is_sorted(in_order.begin(), in_order.end()));
}

TEST(CaseIds, WithASecretTheyDependOnItAndOnTheNameAlone) {
  const Secret one{std::string(16, 'a')}, other{std::string(16, 'b')};
  Dataset a = dataset_of({"MEIER"}), b = dataset_of({"ABEL", "MEIER"});
  CaseNames of_a, of_b;
  give_ids(a, one, of_a), give_ids(b, one, of_b);
  EXPECT_EQ(a.training[0].id, salted_id(one, "MEIER"));
  EXPECT_TRUE(of_b.contains(a.training[0].id));
  EXPECT_NE(salted_id(one, "MEIER"), salted_id(other, "MEIER"));
  EXPECT_EQ(a.training[0].id.size(), std::string("case_").size() + 16);
}

TEST(CaseIds, ProblemsAndNotesGetThemToo) {
  Dataset d = dataset_of({"MEIER"});
  d.problems.push_back({"ABEL", "E_MISSING", "no label map", {"/data/ABEL/ct"}});
  d.notes.push_back({"MEIER", "W_SERIES", "two fit", {}});
  CaseNames names;
  give_ids(d, std::nullopt, names);
  EXPECT_EQ(d.notes[0].id, d.training[0].id);
  EXPECT_THAT(d.problems[0].id, Not(HasSubstr("ABEL")));
  EXPECT_EQ(names.at(d.problems[0].id).files.at(0), "/data/ABEL/ct");
}

TEST(CaseIds, TheFileThatLeadsBackIsForItsOwnerAlone) {
  const ScratchFolder dir("ids");
  dir.write(kCaseNamesFile, "{}");
  fs::permissions(dir / kCaseNamesFile, fs::perms(0644));
  write_case_names(dir.path(), {{"case_0001", {"MEIER", {"/data/MEIER/ct"}}}});
  struct stat status {};
  ASSERT_EQ(::stat((dir / kCaseNamesFile).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(read_bytes(dir / kCaseNamesFile), HasSubstr("/data/MEIER/ct"));
  EXPECT_EQ(read_case_names(dir.path()).at("case_0001").name, "MEIER");
  for (const char* line : {R"({"cases": 3})", R"({"case": 3})", R"({"case":"../case_0001","name":"MEIER","files":[]})",
                           R"({"case":"case_0001"{"case":"case_0002","name":"ABEL","files":[]})"}) {
    dir.write(kCaseNamesFile, std::string(line) + "\n");
    expect_error(ErrorKind::kInput, "not as prepare wrote it", [&] { read_case_names(dir.path()); });
  }
}

TEST(CaseIds, NamesOfAnOlderVersionAreNotPassedOver) {
  const ScratchFolder dir("ids");
  dir.write("case_paths.json", R"({"cases": {"case_0001": {"name": "MEIER", "files": []}}})");
  expect_error(ErrorKind::kInput, "in the form of an older version", [&] { read_case_names(dir.path()); });
  expect_error(ErrorKind::kInput, "in the form of an older version", [&] { read_case_files(dir.path()); });
  write_case_names(dir.path(), {{"case_0001", {"MEIER", {}}}});
  EXPECT_EQ(read_case_names(dir.path()).size(), 1u);
}

TEST(CaseNamesLog, WhatArrivesIsALineThatIsAdded) {
  const ScratchFolder dir("ids");
  const auto text = [&] { return read_bytes(dir / kCaseNamesFile); };
  write_case_names(dir.path(), {{"case_0001", {"MEIER", {"/data/MEIER/ct"}}}}, {"/data/notes.txt"});
  dir.write(kCaseNamesFile, text() + R"({"case":"case_0002","na)");  // a kill cut it short
  CaseNamesLog log(dir.path());
  log.write();
  EXPECT_THAT(text(), testing::EndsWith("na")) << "nothing was named";
  EXPECT_EQ(log.names().size(), 1u);
  log.add({{"case_0002", {"ABEL", {"/in/ABEL"}}}});
  log.write({"/data/notes.txt"});
  EXPECT_EQ(text(), R"({"case":"case_0001","name":"MEIER","files":[]}
{"case":"case_0002","name":"ABEL","files":["/in/ABEL"]}
{"foreign":"/data/notes.txt"}
)");

  const std::string before = text();
  dir.write(kCaseNamesFile, "{}\n" + before);  // seen by whoever reads or replaces the file
  log.add({{"case_0001", {"MEIER", {}}}, {"case_0002", {"ABEL", {"/in/ABEL"}}}});
  log.write({"/data/notes.txt"});
  log.add({{"case_0002", {"ABEL", {"/in/2/ABEL"}}}, {"case_0003", {"ZORN", {"/in/ZORN"}}}});
  log.write({"/data/notes.txt"});
  EXPECT_EQ(text(), "{}\n" + before + R"({"case":"case_0002","name":"ABEL","files":["/in/2/ABEL"]}
{"case":"case_0003","name":"ZORN","files":["/in/ZORN"]}
)");
  dir.write(kCaseNamesFile, text().substr(3));
  EXPECT_EQ(read_case_files(dir.path()).at("case_0002"), std::vector<fs::path>{"/in/2/ABEL"}) << "the last line holds";
  EXPECT_EQ(read_case_names(dir.path()).size(), 3u);
  struct stat status {};
  ASSERT_EQ(::stat((dir / kCaseNamesFile).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  fs::remove(dir / kCaseNamesFile);
  log.add({{"case_0004", {"HUBER", {}}}});
  log.write();
  EXPECT_EQ(read_case_names(dir.path()).size(), 4u) << "a file that was taken away is written again";
}

TEST(HiddenPaths, NoPathOfACaseIsLeftInAText) {
  const Case item{.id = "case_0001",
                  .images = {"/data/MEIER ANNA/ct/#series=ct_77"},
                  .label = "/data/labels/MEIER_ANNA.nii.gz",
                  .structures = {{"/data/MEIER ANNA/rs.dcm"}},
                  .anonymous = true};
  for (const char* text : {"[input] /data/MEIER ANNA/ct/#series=ct_77: is cut; copy it",
                           "[input] /data/MEIER ANNA/ct/IM0001: is cut; copy it", "[input] /data/MEIER ANNA/ct: is cut",
                           "[MEIER_ANNA.nii.gz] 3 voxels", "x /data/labels/MEIER_ANNA.nii.gz, y",
                           "[input] /data/MEIER ANNA/rs.dcm: is cut; copy it"}) {
    const std::string hidden = without_paths(text, item);
    EXPECT_THAT(hidden, Not(HasSubstr("MEIER"))) << text;
    EXPECT_THAT(hidden, Not(HasSubstr("ct_77"))) << text;
  }
  const Case folders{.id = "case_0002",
                     .images = {"/scans/MEIER"},
                     .label = "/marks/LI",
                     .structures = {{"/marks/rs.dcm"}},
                     .anonymous = true};
  for (const char* text :
       {"[MEIER] becomes 8x8x8 voxels, more than 100", "MEIER on 8x8x8 voxels takes 5 GiB", "[LI] 3 voxels",
        "[input] /scans/MEIER/MEIER, ANNA (2): is cut; copy it", "give /marks/ANNA, LI/b.dcm",
        "cannot get file size: No such file or directory [/scans/MEIER/MEIER, ANNA.dcm]"}) {
    const std::string hidden = without_paths(text, folders);
    for (const char* name : {"MEIER", "LI", "ANNA"}) EXPECT_THAT(hidden, Not(HasSubstr(name))) << text;
  }
  EXPECT_EQ(without_paths("[input] /scans/MEIER/MEIER, ANNA (2): is cut; copy it", folders),
            "[input] the image: is cut; copy it");
  EXPECT_EQ(without_paths("5 MEIERS of a MEIER, 1 LI", folders), "5 MEIERS of a the image, 1 LI");
  EXPECT_EQ(without_paths("[input] /data/MEIER ANNA/ct/#series=ct_77: is cut; copy it", item),
            "[input] the image: is cut; copy it");
  EXPECT_EQ(shown_file(item, *item.label, "label map"), "label map of case_0001");
}

}  // namespace
}  // namespace voxshard
