// A tree of studies through all commands: prepared, trained, predicted, evaluated and converted, under ids that hold
// over the commands and name nobody.
#include <sstream>

#include "tests/cli/data/study_tree_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StudyChainCli : public StudyTreeScene {
 protected:
  /// Prepares the tree and trains two steps.
  void train(const std::string& options = "") const {
    const CommandResult prepared = run_voxshard(prepare(options));
    ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
    const CommandResult trained = run_voxshard("train " + work_ + " -o " + run_ +
                                               " --steps 2 --base-filters 4 --depth 2 --crop 4x8x8 --fold all -q");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  std::string predict(const std::string& options = "") const {
    return "predict " + run_ + " " + tree_ + " -o " + pred_ + " " + options;
  }
  std::string evaluate(const std::string& options = "") const {
    return "evaluate " + pred_ + " " + tree_ + " --classes " + (scratch_ / "map.toml") + " --json " + options;
  }
  static std::set<std::string> names_in(const fs::path& folder, const std::string& ending) {
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(folder))
      if (const std::string name = file.path().filename(); name.ends_with(ending))
        names.insert(name.substr(0, name.size() - ending.size()));
    return names;
  }
  std::set<std::string> predicted() const { return names_in(pred_, ".nii.gz"); }
  /// Expects no patient in what a command printed and in a folder but for the file of its owner.
  static void expect_nobody_there(const CommandResult& r, const fs::path& folder) {
    std::string all = r.out + r.err;
    for (const auto& file : fs::recursive_directory_iterator(folder))
      if (file.is_regular_file() && file.path().filename() != "case_paths.jsonl")
        all += file.path().filename().string() + file_text(file.path());
    for (const char* planted : {"PLANTED", "1.2.840.4711", "ct_"}) EXPECT_THAT(all, Not(HasSubstr(planted)));
  }
  std::string run_ = scratch_ / "run", pred_ = scratch_ / "pred", salt_ = "--id-salt " + (scratch_ / "salt");
};

TEST_F(StudyChainCli, ATrainedRunPredictsUnderTheIdsOfItsCases) {
  const std::string salt = " --id-salt " + (scratch_ / "salt"), run = scratch_ / "run", pred = scratch_ / "pred";
  ASSERT_EQ(run_voxshard(prepare(salt)).exit_code, 0);
  const CommandResult trained =
      run_voxshard("train " + work_ + " -o " + run + " --steps 2 --base-filters 4 --depth 2 --crop 4x8x8 --fold all");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const CommandResult r = run_voxshard("predict " + run + " " + tree_ + " -o " + pred + salt);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  std::set<std::string> cases, predicted;
  for (const auto& file : fs::directory_iterator(work_ + "/images")) cases.insert(file.path().stem());
  std::string all = r.out + r.err;
  for (const auto& file : fs::directory_iterator(pred)) {
    const std::string name = file.path().filename();
    if (name.ends_with(".nii.gz")) predicted.insert(name.substr(0, name.size() - 7));
    if (name != "case_paths.jsonl") all += name + file_text(file.path());
  }
  EXPECT_EQ(predicted, cases);
  for (const char* planted : {"PLANTED", "1.2.840.4711"}) EXPECT_THAT(all, Not(HasSubstr(planted)));
  EXPECT_THAT(file_text(pred + "/case_paths.jsonl"), HasSubstr("PLANTED_P1"));
}

TEST_F(StudyChainCli, WithoutASecretLabelMapsAreNumberedAndKeepTheirNumbers) {
  train();
  const fs::path apart = scratch_ / "apart";
  fs::rename(patient_folder(3), apart);
  const CommandResult first = run_voxshard(predict("--json"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(predicted(), ElementsAre("case_0001", "case_0002", "case_0003"));
  expect_nobody_there(first, pred_);
  const std::string before = file_text(pred_ + "/case_0002.nii.gz");
  fs::rename(apart, patient_folder(3));
  const CommandResult second = run_voxshard(predict("--json"));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.json().at("kept"), 3) << "the same series have the same names";
  EXPECT_THAT(predicted(), ElementsAre("case_0001", "case_0002", "case_0003", "case_0004"));
  EXPECT_EQ(file_text(pred_ + "/case_0002.nii.gz"), before);
  EXPECT_THAT(file_text(pred_ + "/case_paths.jsonl"), HasSubstr("PLANTED_P3"));
  EXPECT_EQ(run_voxshard(predict(salt_)).exit_code, 6) << "another naming is not mixed with this one";
}

TEST_F(StudyChainCli, NamesOfFoldersNameLabelMapsWhenThatIsAskedForAndSaid) {
  train();
  const CommandResult r = run_voxshard(predict("--keep-names"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("--keep-names says so"));
  EXPECT_THAT(predicted(), ElementsAre("PLANTED_P0_PLANTED_CT", "PLANTED_P1_PLANTED_CT", "PLANTED_P2_PLANTED_CT",
                                       "PLANTED_P3_PLANTED_CT"));
  const CommandResult scores = run_voxshard(evaluate());
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  EXPECT_EQ(scores.json().at("cases").at(3).at("case"), "PLANTED_P3_PLANTED_CT");
  EXPECT_EQ(run_voxshard(predict("--keep-names " + salt_)).exit_code, 2) << "names, or a secret";
}

TEST_F(StudyChainCli, TheReferencesOfAnEvaluationMayBeTheTree) {
  train(salt_);
  ASSERT_EQ(run_voxshard(predict(salt_ + " -q")).exit_code, 0);
  const CommandResult r =
      run_voxshard(evaluate("-o " + (scratch_ / "scores/summary.json") + " --png " + (scratch_ / "scores/slices.png")));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody_there(r, scratch_ / "scores");
  EXPECT_EQ(r.json().at("cases").size(), 4u);
  EXPECT_EQ(r.json().at("classes").at(0).at("name"), "liver");
  EXPECT_EQ(r.json().at("classes").at(0).at("annotated"), 4);
  EXPECT_EQ(r.json().at("classes").at(1).at("annotated"), 3) << "nobody contoured the spleen of the last patient";
  // The same set in nnU-Net's folders has the same scores.
  const std::string set = scratch_ / "set";
  const CommandResult converted = run_voxshard("convert " + tree_ + " -o " + set + " --to nnunet --classes " +
                                               (scratch_ / "map.toml") + " " + salt_);
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_THAT(converted.err, HasSubstr("spleen: in 3 of 4 cases"));
  expect_nobody_there(converted, set);
  EXPECT_EQ(names_in(set + "/labelsTr", ".nii.gz"), predicted());
  EXPECT_EQ(names_in(set + "/imagesTr", "_0000.nii.gz"), predicted());
  const CommandResult same = run_voxshard("evaluate " + pred_ + " " + set + "/labelsTr --dataset " + set + " --json");
  ASSERT_EQ(same.exit_code, 0) << same.err;
  for (const char* key : {"classes", "cases", "mean_dice"}) EXPECT_EQ(same.json().at(key), r.json().at(key)) << key;
}

TEST_F(StudyChainCli, AnEvaluationByTheTreeSaysWhatItLacks) {
  train();
  ASSERT_EQ(run_voxshard(predict("-q")).exit_code, 0);
  const CommandResult unnamed = run_voxshard("evaluate " + pred_ + " " + tree_);
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("needs --classes map.toml"));
  EXPECT_THAT(unnamed.err, HasSubstr("Leber (4 cases)"));
  EXPECT_EQ(run_voxshard(evaluate("--baseline threshold")).exit_code, 2) << "a tree has no training cases";
  fs::remove(pred_ + "/case_0001.nii.gz");
  const CommandResult missing = run_voxshard(evaluate());
  EXPECT_EQ(missing.exit_code, 8);
  EXPECT_THAT(missing.err, HasSubstr("case_0001"));
  expect_nobody_there(missing, pred_);
  fs::remove(pred_ + "/case_paths.jsonl");
  const CommandResult lost = run_voxshard(evaluate());
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_THAT(lost.err, HasSubstr("case_paths.jsonl"));
}

TEST_F(StudyChainCli, ATreeBecomesATrainingSetOfNnUNetUnderNumbers) {
  const std::string set = scratch_ / "set", convert = "convert " + tree_ + " -o " + set + " --to nnunet --classes " +
                                                      (scratch_ / "map.toml") + " --provenance";
  const CommandResult r = run_voxshard(convert);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody_there(r, set);
  EXPECT_THAT(names_in(set + "/labelsTr", ".nii.gz"), ElementsAre("case_0001", "case_0002", "case_0003", "case_0004"));
  EXPECT_THAT(file_text(set + "/case_paths.jsonl"), HasSubstr("PLANTED_P2"));
  const nlohmann::json json = nlohmann::json::parse(file_text(set + "/dataset.json"));
  EXPECT_EQ(json.at("labels"), nlohmann::json({{"background", 0}, {"liver", 1}, {"spleen", 2}}));
  EXPECT_EQ(json.at("annotated").size(), 4u) << "of each case, so that nobody judges an empty class again";
  EXPECT_EQ(std::ranges::count(json.at("annotated"), nlohmann::json({"liver"})), 1);
  // What is prepared from the tree and from the set is the same.
  ASSERT_EQ(run_voxshard(prepare("-q")).exit_code, 0);
  const std::string again = scratch_ / "again";
  ASSERT_EQ(run_voxshard("prepare " + set + " -o " + again + " -q").exit_code, 0);
  for (const std::string& id : names_in(work_ + "/labels", ".nii"))
    for (const std::string part : {"/images/", "/labels/"})
      EXPECT_EQ(file_text(again + part + id + ".nii"), file_text(work_ + part + id + ".nii")) << part << id;
}

TEST_F(StudyChainCli, TheChainNeedsNoNetworkAndNamesNobodyInAnyOutputLogOrError) {
  const std::string program = VOXSHARD_BINARY, map = " --classes " + (scratch_ / "map.toml"), out = scratch_ / "out",
                    log = scratch_ / "log", zips = packed_tree();
  fs::create_directories(out);
  std::string script = "grep : /proc/self/net/dev | cut -d: -f1 >" + (scratch_ / "interfaces") + "\n";
  const auto add = [&](const std::string& words, int exit_code) {
    for (const char* form : {"", " --json"})
      script += program + " " + words + form + "; test $? = " + std::to_string(exit_code) + " || echo FAILED " +
                words.substr(0, 7) + form + "\n";
  };
  add("check " + tree_ + map + " -o " + out + "/checked --deep", 8);  // phantoms without air are odd
  add("prepare " + tree_ + map + " -o " + out + "/work --resume", 0);
  add("prepare " + zips + map + " -o " + out + "/packed --resume", 0);
  script += program + " train " + out + "/work -o " + out +
            "/run --steps 2 --base-filters 4 --depth 2 --crop 4x8x8 --fold all || echo FAILED train\n";
  for (const char* form : {"", " --json"})  // a fold each, so that something is held out
    script += program + " train " + out + "/work -o " + out + "/held" + (*form != 0 ? "_json" : "") +
              " --steps 2 --base-filters 4 --depth 2 --crop 4x8x8 --fold 0 --predict-held-out on" + form +
              " || echo FAILED train held" + form + "\n";
  for (const std::string& run : {std::string("/run"), std::string("/held")}) {
    add("status " + out + run, 0), add("info " + out + run, 0);
    add("report " + out + run + " -o " + out + run + "_page.html", 0);
    add("evaluate " + out + run + " " + out + "/work --fold all", 0);
  }
  add("explain --sample " + patient_folder(0) + "/PLANTED_CT --base-filters 2 --depth 2 --draw " + out + "/tiles.png",
      0);
  add("predict " + out + "/held " + tree_ + " --held-out -o " + out + "/unseen", 0);
  add("predict " + out + "/run " + tree_ + " -o " + out + "/pred", 0);
  add("evaluate " + out + "/pred " + tree_ + map + " -o " + out + "/summary.json", 0);
  add("convert " + tree_ + map + " -o " + out + "/set --to nnunet --provenance", 0);
  // What is damaged is told without its name too.
  const std::string broken = scratch_ / "broken";
  fs::copy(tree_, broken, fs::copy_options::recursive);
  fs::resize_file(broken + "/PLANTED_P0/PLANTED_CT/PLANTED_IM1", 400);
  fs::remove(broken + "/PLANTED_P1/PLANTED_CT/PLANTED_IM2");
  fs::resize_file(broken + "/PLANTED_P2/PLANTED_RS.dcm", 300);
  add("check " + broken + map + " -o " + out + "/seen", 8);
  add("prepare " + broken + map + " -o " + out + "/less --resume", 8);
  add("predict " + out + "/run " + broken + " -o " + out + "/few", 8);
  scratch_.write("chain.sh", script);
  static_cast<void>(std::system(("unshare -n sh " + (scratch_ / "chain.sh") + " >" + log + " 2>&1").c_str()));
  if (!fs::exists(scratch_ / "interfaces")) GTEST_SKIP() << "no right to make a network namespace";
  EXPECT_THAT(file_text(scratch_ / "interfaces"), testing::MatchesRegex("[ ]*lo\n")) << "the namespace has a network";
  const std::string text = file_text(log);
  EXPECT_THAT(text, Not(HasSubstr("FAILED"))) << text;
  EXPECT_THAT(text, HasSubstr("4 prepared"));
  expect_nobody_there({.exit_code = 0, .out = text, .err = {}}, out);
}

TEST_F(StudyChainCli, AListOfATreeNamesSeriesByIdsAndInJsonTheirFoldersAlone) {
  for (const char* form : {"", " --json", " --quick"}) {
    const CommandResult r = run_voxshard("info " + tree_ + form);
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const bool json = form == std::string(" --json");  // its addresses are for other commands
    EXPECT_EQ(r.out.find("PLANTED_P1/PLANTED_CT/#series=ct_") != std::string::npos, json) << r.out;
    for (const char* planted : {"PLANTED^", "PLANTED_ID", "Sanatorium", "1.2.840.4711"})
      EXPECT_THAT(r.out + r.err, Not(HasSubstr(planted)));
    EXPECT_EQ((r.out + r.err).find("PLANTED") != std::string::npos, json);
  }
}

TEST_F(StudyChainCli, CasesOfOnePatientStandInOneFoldAndNobodyLearnsWhoItIs) {
  write_study(2, "PLANTED_ID0");
  const CommandResult prepared = run_voxshard(prepare());
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, HasSubstr("1 patient has several cases"));
  expect_nobody(prepared);
  std::istringstream names(file_text(work_ + "/case_paths.jsonl"));
  std::vector<std::string> ids;
  for (std::string line; std::getline(names, line);) {
    const nlohmann::json one = nlohmann::json::parse(line);
    for (const char* study : {"PLANTED_P0/", "PLANTED_P2/"})
      if (one.at("files").dump().find(study) != std::string::npos) ids.push_back(one.at("case"));
  }
  ASSERT_EQ(ids.size(), 2u);
  const CommandResult trained = run_voxshard("train " + work_ + " -o " + run_ +
                                             " --steps 1 --base-filters 4 --depth 2 --crop 4x8x8 --fold 0 --json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("each fold keeps those of a patient together"));
  expect_nobody_there(trained, run_);
  const nlohmann::json folds = nlohmann::json::parse(file_text(run_ + "/splits_final.json"));
  EXPECT_EQ(folds.size(), 3u) << "as many as there are patients";
  for (const nlohmann::json& fold : folds) {
    const auto held = fold.at("val").get<std::set<std::string>>();
    EXPECT_EQ(held.contains(ids[0]), held.contains(ids[1])) << fold.dump();
  }
  // Folds of other programs are checked.
  scratch_.write("studies/splits_final.json", nlohmann::json({{{"train", {ids[0]}}, {"val", {ids[1]}}}}).dump());
  const CommandResult r =
      run_voxshard("check " + tree_ + " --classes " + (scratch_ / "map.toml") + " --json -o " + (scratch_ / "seen"));
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.out, HasSubstr("W_PATIENT"));
  EXPECT_THAT(r.out, HasSubstr("by the patient ids of the headers"));
  expect_nobody_there(r, scratch_ / "seen");
}

TEST_F(StudyChainCli, ErrorsOfADataSetsOwnFileShowNoCaseWhereIdsAreMadeWithASecret) {
  const std::string set = scratch_ / "named";
  fs::create_directories(set + "/imagesTr");
  for (const char* more : {R"(, "annotated": {"PLANTED_P1": ["a"]}})",                 // of a case that is not there
                           R"(, "annotated": {"PLANTED_P1": [], "PLANTED_P1": []}})",  // twice
                           R"(, "dataset": {"PLANTED_P1": {"images": ["PLANTED.nii"], "label": "x.nii"}}})"}) {
    scratch_.write("named/dataset.json", R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "a": 1},
                                            "numTraining": 1, "file_ending": ".nii")" +
                                             std::string(more));
    for (const std::string& words : {"prepare " + set + " -o " + work_, "check " + set + " -o " + (scratch_ / "seen"),
                                     "convert " + set + " -o " + (scratch_ / "copy") + " --to nnunet"}) {
      const CommandResult plain = run_voxshard(words), hidden = run_voxshard(words + " " + salt_);
      EXPECT_NE(plain.exit_code, 0) << words;
      EXPECT_EQ(hidden.exit_code, plain.exit_code) << words << hidden.err;
      EXPECT_THAT(plain.out + plain.err, HasSubstr("PLANTED")) << "the error is one that names a case";
      EXPECT_THAT(hidden.out + hidden.err, Not(HasSubstr("PLANTED"))) << words;
    }
  }
}

}  // namespace
}  // namespace voxshard
