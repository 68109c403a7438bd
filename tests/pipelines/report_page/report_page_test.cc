// The page of a run: every number on it is that of the run's files, nothing on it comes from elsewhere, and no training
// ends because of it.
#include "pipelines/report_page/report_page.h"

#include <cmath>
#include <map>
#include <regex>
#include <sstream>

#include "pipelines/report_page/methods.h"
#include "pipelines/report_page/page_facts.h"
#include "tests/pipelines/report_page/written_run.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The data of a page, parsed as its script does.
json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"report-data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

/// The rows of the table with this id: the text of each heading, and the values of its cells.
std::map<std::string, std::vector<double>> table_of(const std::string& page, const std::string& id) {
  const std::size_t from = page.find("<table id=\"" + id + "\"");
  const std::string table = page.substr(from, page.find("</table>", from) - from);
  static const std::regex kRow("<tr><th scope=\"row\">([^<]*)</th>(.*)</tr>"), kValue("data-value=\"([^\"]*)\"");
  std::map<std::string, std::vector<double>> rows;
  for (std::sregex_iterator row(table.begin(), table.end(), kRow), end; row != end; ++row) {
    const std::string cells = (*row)[2];
    for (std::sregex_iterator value(cells.begin(), cells.end(), kValue); value != end; ++value)
      rows[(*row)[1]].push_back(std::stod((*value)[1]));
  }
  return rows;
}

/// The fields of the rows of a CSV file of numbers and plain names, without its heading.
std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file) {
  std::istringstream in(Scene::bytes_of(file));
  std::vector<std::vector<std::string>> rows;
  for (std::string line, field; std::getline(in, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    while (std::getline(fields, field, ',')) rows.back().push_back(field);
  }
  rows.erase(rows.begin());
  return rows;
}

TEST(ReportPage, EveryNumberIsThatOfTheFilesOfATraining) {
  TrainingScene scene("report_numbers", 5);
  TrainOptions o = scene.options("run");
  o.validate_every = 2, volumes(o).fold = "0", o.spec.cut.mesh.partition = {1, 2, 1, 1, 1};
  run_train(o, scene.progress);
  const std::string page = Scene::bytes_of(o.run / kReportPage);
  const json run = data_of(page).at("runs").at(0);

  const auto steps = rows_of(o.run / "results.csv");
  ASSERT_EQ(run.at("steps").at("step").size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const auto& [column, name] : std::map<std::size_t, const char*>{
             {0, "step"}, {1, "loss"}, {2, "gradient_norm"}, {3, "learning_rate"}, {4, "seconds"}})
      EXPECT_EQ(run.at("steps").at(name).at(i).get<double>(), std::stod(steps[i][column])) << name << " of row " << i;

  const auto rows = rows_of(o.run / "validations.csv");
  const std::vector<std::string> classes = run.at("classes");
  EXPECT_THAT(classes, ElementsAre("lungs", "liver", "lesion", "spine"));
  std::size_t at = 0;
  for (const json& validation : run.at("validations")) {
    ASSERT_LT(at, rows.size());
    EXPECT_EQ(validation.at("step").get<std::int64_t>(), std::stoll(rows[at][0]));
    EXPECT_EQ(validation.at("score").get<double>(), std::stod(rows[at++][4]));
    for (std::size_t c = 0; c < classes.size(); ++c) {
      EXPECT_EQ(rows[at][3], classes[c]);
      EXPECT_EQ(validation.at("by_class").at(c).get<double>(), std::stod(rows[at++][4]));
    }
    const bool keeps_cases = validation.contains("cases");
    EXPECT_TRUE(keeps_cases || validation.at("step") == 2 || validation.at("step") == 4);
    EXPECT_EQ(rows[at][2].empty(), false);
    for (std::size_t c = 0; c < classes.size(); ++c, ++at) {
      if (!keeps_cases) continue;
      EXPECT_EQ(rows[at][2], validation.at("cases").at(0).at("case").get<std::string>());
      EXPECT_EQ(json(rows[at][4] == "nan" ? json() : json(std::stod(rows[at][4]))),
                validation.at("cases").at(0).at("by_class").at(c));
    }
  }
  EXPECT_EQ(at, rows.size()) << "no row of validations.csv is missing on the page";

  const json record = read_json(o.run / "run.json"), report = record.at("report");
  const json& last = run.at("validations").back();
  EXPECT_EQ(last.at("score"), report.at("mean_dice"));
  EXPECT_EQ(last.at("by_class"), report.at("validation_dice"));
  EXPECT_EQ(run.at("validations").at(run.at("best").get<std::size_t>()).at("score"), report.at("best_dice"));

  const auto table = table_of(page, "classes");
  for (std::size_t c = 0; c < classes.size(); ++c) {
    ASSERT_GE(table.at(classes[c]).size(), 2u);
    EXPECT_EQ(table.at(classes[c])[0], last.at("by_class").at(c).get<double>());
  }
  EXPECT_EQ(table.at("mean")[0], report.at("mean_dice").get<double>());
  EXPECT_EQ(table.at("mean")[1], report.at("best_dice").get<double>());
  const json fingerprint = read_json(scene.work() / "fingerprint.json");
  std::map<std::string, double> voxels, having;
  double all = 0;
  for (const json& item : fingerprint.at("per_case"))
    for (const auto& [name, count] : item.at("voxels").items()) {
      voxels[name] += count.get<double>(), all += count.get<double>();
      having[name] += count.get<double>() > 0;
    }
  const auto shares = table_of(page, "fingerprint-classes");
  EXPECT_EQ(shares.size(), 5u) << "the background too";
  for (const auto& [name, cells] : shares)
    EXPECT_THAT(cells, ElementsAre(having.at(name), voxels.at(name) / all)) << name;
  const auto fingerprinted = table_of(page, "fingerprint");
  EXPECT_THAT(fingerprinted.at("prepared cases"), ElementsAre(5));
  for (const char* key : {"mean", "std", "min", "max", "median", "percentile_00_5", "percentile_99_5"})
    EXPECT_THAT(fingerprinted.at(std::string("foreground HU, ") + key),
                ElementsAre(fingerprint.at("foreground_hu").at(key).get<double>()));
  for (const json& item : fingerprint.at("per_case"))
    EXPECT_EQ(page.find(item.at("orientation").get<std::string>() + "</th>") == std::string::npos, false);

  const auto cores = table_of(page, "core-memory");
  ASSERT_EQ(cores.size(), 2u);
  EXPECT_EQ(cores.at("core 1").at(0), record.at("memory").at("bytes_per_core").at(1).get<double>());
  for (const auto& [part, bytes] : report.at("memory").at("planned").items())
    EXPECT_EQ(table_of(page, "process-memory").at(part).at(0), bytes.get<double>()) << part;
  double seconds = 0;
  for (const auto& [name, value] : table_of(page, "time")) seconds += value.at(0);
  EXPECT_NEAR(seconds, report.at("seconds").get<double>(), 1e-9 * seconds) << "the parts are the whole";
}

TEST(ReportPage, IsOneFileThatNamesNothingOutsideAndNoPath) {
  TrainingScene scene("report_whole");
  TrainOptions o = scene.options("run");
  o.steps = 2, volumes(o).fold = "0", o.given = {{"", {scene.work().string()}}, {"trace", {"x/y"}}};
  run_train(o, scene.progress);
  const std::string page = Scene::bytes_of(o.run / kReportPage);
  for (const char* piece : {"http:", "https:", "src=", "@import", "url(", "<link", "fetch(", "XMLHttp", "import("})
    EXPECT_THAT(page, Not(HasSubstr(piece)));
  EXPECT_THAT(page, Not(HasSubstr(scene.path("").string())));
  const std::string trained = read_json(o.run / "splits_final.json").at(0).at("train").at(0);
  EXPECT_THAT(page, Not(HasSubstr(trained))) << "a page lists no cases that train";
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_LT(page.size(), std::size_t{1} << 20);
}

TEST(ReportPage, HostileNamesAreShownAndNeverMarkup) {
  const std::string hostile = "</script><img onerror=alert(1)>";
  WrittenRun written("report_hostile");
  written.steps(2);
  written.validation(2, {{hostile, {{hostile + "case", 0.5}}}});
  written.record["options"][hostile] = {hostile};
  written.record["model"][hostile] = hostile;
  written.record["machine"] = {{"processor", hostile}};
  written.write();
  write_report_page({written.path()}, written.path() / kReportPage);
  const std::string page = read_bytes(written.path() / kReportPage);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;img onerror=alert(1)&gt;"));
  EXPECT_EQ(data_of(page).at("runs").at(0).at("classes").at(0), hostile);
}

TEST(ReportPage, ARecordOfOtherTypesIsShownAsFarAsItGoes) {
  WrittenRun written("report_types");
  for (const char* key : {"options", "layers", "recipe", "model", "training", "metric", "memory", "report", "machine"})
    written.record[key] = {"a", 1, nullptr};
  written.write();
  EXPECT_NO_THROW(write_report_page({written.path()}, written.path() / kReportPage));
  for (const char* key : {"options", "layers", "recipe", "model", "training", "metric", "memory", "report", "machine"})
    written.record[key] = 17;
  written.write();
  EXPECT_NO_THROW(write_report_page({written.path()}, written.path() / kReportPage));
}

TEST(ReportPage, MissedClassesAreSaidInWords) {
  WrittenRun written("report_missed");
  written.validation(3, {{"Cord", {{"a", 0}, {"b", 0}, {"c", 0}}}, {"Brain", {{"a", 0.5}, {"b", 0.75}, {"c", 0.625}}}});
  written.write();
  write_report_page({written.path()}, written.path() / kReportPage);
  const std::string page = read_bytes(written.path() / kReportPage);
  EXPECT_THAT(page, HasSubstr("<li>Cord: dice 0.000 in 3 of 3 cases</li>"));
  EXPECT_THAT(page, HasSubstr("Worst cases at step 3: a (0.250), c (0.312), b (0.375)."));
  EXPECT_THAT(table_of(page, "cases-0").at("a"), ElementsAre(0.25, 0.5, 0));
  EXPECT_THAT(page, Not(HasSubstr("chosen on it, and")));
  written.record["report"]["chosen_on_test"] = true;
  written.write();
  write_report_page({written.path()}, written.path() / kReportPage);
  EXPECT_THAT(read_bytes(written.path() / kReportPage), HasSubstr("chosen on it, and its score is not that on unseen"));
}

TEST(ReportPage, SeveralRunsStandBesideOneAnother) {
  WrittenRun one("report_one"), two("report_two");
  one.validation(3, {{"liver", {{"a", 0.5}, {"b", 1}}}});
  two.validation(3, {{"liver", {{"a", 0.25}, {"c", 1}}}, {"spine", {{"a", 0.25}, {"c", 1}}}});
  two.record["model"]["norm"] = "batch";
  one.write(), two.write();
  const std::filesystem::path file = one.path() / "both.html";
  write_report_page({one.path(), two.path()}, file);
  const std::string page = read_bytes(file);
  const json runs = data_of(page).at("runs");
  EXPECT_EQ(runs.at(0).at("name"), "run");
  EXPECT_EQ(runs.at(1).at("name"), "run (2)") << "folders of one name are told apart";
  EXPECT_THAT(table_of(page, "classes").at("liver"), ElementsAre(0.75, 0.75, 0.625, 0.625));
  EXPECT_THAT(table_of(page, "classes").at("spine"), ElementsAre(0.625, 0.625));
  const auto spread = table_of(page, "spread").at("liver");  // mean, deviation, least, largest and each
  ASSERT_EQ(spread.size(), 6u);
  EXPECT_NEAR(spread[0], 0.6875, 1e-12);
  EXPECT_NEAR(spread[1], 0.125 / std::sqrt(2.0), 1e-9);
  EXPECT_EQ(std::vector<double>(spread.begin() + 2, spread.end()), (std::vector<double>{0.625, 0.75, 0.75, 0.625}));
  EXPECT_EQ(table_of(page, "spread").at("spine"), (std::vector<double>{0.625, 0.625, 0.625, 0.625}))
      << "a run without it does not count, and one score has no deviation";
  EXPECT_THAT(table_of(page, "common-cases").at("a"), ElementsAre(0.5, 0.25));
  EXPECT_FALSE(table_of(page, "common-cases").contains("b"));
  EXPECT_THAT(page, HasSubstr("norm</th><td>instance</td><td>batch</td>"));
  EXPECT_THAT(page, Not(HasSubstr("partition</th><td>1x2x2x1x1</td><td>1x2x2x1x1</td>"))) << "which does not differ";
}

TEST(ReportPage, APageThatCannotBeWrittenEndsNoTraining) {
  TrainingScene scene("report_blocked");
  TrainOptions o = scene.options("run");
  o.steps = 2, volumes(o).fold = "0";
  run_train(o, scene.progress);
  for (const char* name : {kReportPage, "slices.json"}) {
    std::filesystem::remove(o.run / name);
    std::filesystem::create_directories(o.run / name / "in the way");
  }
  o.restart = true;
  EXPECT_EQ(run_train(o, scene.progress).steps, 2);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("report.html is not up to date")));
}

TEST(ReportPage, AResumedRunHasTheValidationsOfAnUndisturbedOne) {
  TrainingScene scene("report_resumed");
  TrainOptions o = scene.options("whole");
  o.steps = 6, o.validate_every = 1, o.checkpoint_every = 2, volumes(o).fold = "0";
  run_train(o, scene.progress);
  o.run = scene.path("killed");
  StoppingProgress dies(5, true);
  EXPECT_THROW(run_train(o, dies), std::runtime_error);
  const std::string page = Scene::bytes_of(o.run / kReportPage);
  EXPECT_EQ(data_of(page).at("runs").at(0).at("validations").size(), 5u) << "the page was written at each validation";
  EXPECT_THAT(page, HasSubstr("still going on, or ended without a report"));
  o.resume = true;
  run_train(o, scene.progress);
  EXPECT_EQ(Scene::bytes_of(o.run / "validations.csv"), Scene::bytes_of(scene.path("whole") / "validations.csv"));
}

TEST(ReportPage, MethodsCiteWhatTheRunUsed) {
  WrittenRun written("report_methods");
  written.record["model"].update({{"depth", 4}, {"base_filters", 32}, {"loss", "dice_ce"}, {"precision", "bf16"}});
  written.record["training"].update(
      {{"optimizer", "adam"}, {"learning_rate", 0.01}, {"schedule", "polynomial"}, {"seed", 7}});
  written.write();
  const Methods methods = methods_of(read_run_data(written.path()));
  EXPECT_THAT(methods.text, HasSubstr("A 3D U-Net [1] of depth 4 with 32 filters at the first level, instance "
                                      "normalisation [2] was trained on 2 cases with voxshard 0.1.0."));
  EXPECT_THAT(methods.text, HasSubstr("minimised by adam [4] with a learning rate of 0.01"));
  EXPECT_THAT(methods.text, HasSubstr("by the grid 1x2x2x1x1"));
  EXPECT_THAT(methods.text, Not(HasSubstr("nnU-Net"))) << "the run does not say how images were normalised";
  ASSERT_EQ(methods.references.size(), 6u);
  EXPECT_THAT(methods.references[3], HasSubstr("Adam: A Method"));
  for (const auto& [held, said] :
       {std::pair(1, "and validated on 1 other with"), {3, "and validated on 3 others with"}}) {
    written.record["report"]["validation_cases"] = held;
    written.write();
    EXPECT_THAT(methods_of(read_run_data(written.path())).text, HasSubstr(said));
  }
  written.record["model"]["loss"] = "log_dice_ce";
  written.write();
  const Methods of_the_recipe = methods_of(read_run_data(written.path()));
  EXPECT_THAT(of_the_recipe.text, HasSubstr("The sum of the negative logarithm of Dice [3] and cross-entropy"));
  EXPECT_THAT(of_the_recipe.references[2], HasSubstr("Exponential Logarithmic Loss"));
  written.record["model"]["members"] = 3;
  written.write();
  const Methods of_members = methods_of(read_run_data(written.path()));
  EXPECT_THAT(of_members.text,
              HasSubstr("minimised for each of 3 networks, of which the mean of the logits [4] predicts, "
                        "by adam [5]"));
  EXPECT_THAT(of_members.references[3], HasSubstr("Deep Ensembles"));
  written.record["training"].update({{"crop", "64x64x64"}, {"steps", 1200}, {"batch", 1}, {"whole_steps", 120}});
  written.write();
  write_json(written.path() / "plans.json", {{"prepare",
                                              {{"orientation", "LPS"},
                                               {"spacing_mm", {2, 2, 3}},
                                               {"kept_spacings_mm", {{1.5, 1.5, 2}, {3, 3, 4}}},
                                               {"normalise", "soft_tissue"},
                                               {"clip_hu", {-946, 1672}}}}});
  const std::string samples = methods_of(read_run_data(written.path())).text;
  EXPECT_THAT(samples, HasSubstr("(crops of 64x64x64, the last 120 steps on whole images)"));
  EXPECT_THAT(samples, HasSubstr("clipped to -946 to 1672 HU, moved to a tenth of their distance from -200 to 300 HU "
                                 "where they were beyond, and normalised by mean and standard deviation"));
  EXPECT_THAT(samples, HasSubstr("oriented to LPS, and those whose spacing was not near the median, 2.00 x 2.00 x 3.00 "
                                 "mm, resampled to it. "));
}

}  // namespace
}  // namespace voxshard
