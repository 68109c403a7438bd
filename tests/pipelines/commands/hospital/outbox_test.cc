// predict --outbox: the objects of a case appear in it whole, once, and only when they are of the patient and the study
// of their images; --fill-uids makes objects of series without UIDs.
#include <set>

#include "io/files/atomic_file.h"
#include "io/output/part_log.h"
#include "pipelines/tasks/segmentation/outputs/case_outputs.h"
#include "tests/pipelines/outputs_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

struct OutboxScene : OutputsScene {
  explicit OutboxScene(const std::string& name) : OutputsScene(name, 40) {}
  PredictOptions to_outbox(const std::string& input, const std::string& write = "dicom-seg") const {
    PredictOptions o = predict(path(input), "out", write);
    o.task.of<VolumeReading>().outbox = path("outbox");
    return o;
  }
  /// The names of folders that are no hidden ones, sorted.
  std::vector<std::string> folders(const std::string& in) const {
    std::vector<std::string> names;
    if (!fs::exists(path(in))) return names;
    for (const auto& entry : fs::directory_iterator(path(in)))
      if (entry.is_directory() && !entry.path().filename().string().starts_with("."))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  nlohmann::json held(const std::string& item) const { return read_json(path("outbox/held") / item / "held.json"); }
};

TEST(RunPredictOutbox, ACaseIsPlacedWholeAndOnce) {
  OutboxScene scene("outbox");
  scene.write_series("ct");
  const PredictOptions o = scene.to_outbox("ct", "measures,sr");
  const PredictReport report = run_predict(o, scene.progress);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_FALSE(report.damaged) << report.found.dump();
  const std::string id = report.cases[0].id;
  ASSERT_EQ(scene.folders("outbox").size(), 1u);
  const std::string item = scene.folders("outbox")[0];
  EXPECT_THAT(item, MatchesRegex(id + "-[0-9a-f]{16}"));
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(scene.path("outbox") / item)) {
    ++files;
    EXPECT_TRUE(Scene::bytes_of(entry.path()) == Scene::bytes_of(scene.path("out") / entry.path().filename()));
  }
  EXPECT_EQ(files, 2u) << "the segmentation and the report, no measures";

  fs::remove_all(scene.path("outbox") / item);  // as if killed before it was placed
  fs::create_directory(scene.path("outbox/.placing.half"));
  EXPECT_EQ(run_predict(o, scene.progress).kept, 1);
  EXPECT_EQ(scene.folders("outbox"), std::vector{item}) << "a case that is kept is placed where it lacks";
  EXPECT_FALSE(fs::exists(scene.path("outbox/.placing.half")));

  fs::create_directories(scene.path("outbox/sent"));
  fs::rename(scene.path("outbox") / item, scene.path("outbox/sent") / item);
  EXPECT_EQ(run_predict(o, scene.progress).kept, 1);
  EXPECT_EQ(scene.folders("outbox"), std::vector<std::string>{"sent"}) << "what was sent is not placed again";
}

TEST(RunPredictOutbox, AnotherLabelMapOfTheSameStudyIsAnItemOfItsOwn) {
  OutboxScene scene("outbox_labels");
  scene.write_series("ct");
  const PredictOptions o = scene.to_outbox("ct");
  const PredictedCase made = run_predict(o, scene.progress).cases.at(0);
  ASSERT_EQ(scene.folders("outbox").size(), 1u);

  // As a network that is cut otherwise rounds: one voxel differs, and the folder knows the case as complete.
  PartLog log(scene.path("out"), kManifestName, *read_manifest(scene.path("out")));
  const ManifestPart part = log.manifest().parts.at(made.id);
  std::set<std::string> files;
  for (const auto& [name, about] : part.files) files.insert(name);
  log.begin(made.id, files);
  Volume labels = read_label(made.file);
  auto& voxel = labels.voxels.as<std::int32_t>()[0];
  voxel = voxel == 0 ? 1 : 0;
  write_volume(made.file, labels, DiskType::kU8);
  log.commit(made.id, part.data);
  EXPECT_EQ(run_predict(o, scene.progress).kept, 1);
  EXPECT_EQ(scene.folders("outbox").size(), 2u) << "it was taken for the one that is there";
  EXPECT_EQ(run_predict(o, scene.progress).kept, 1);
  EXPECT_EQ(scene.folders("outbox").size(), 2u) << "and is placed once";
}

TEST(RunPredictOutbox, SlicesOfTwoPatientsAreHeld) {
  OutboxScene scene("outbox_mixed");
  scene.write_series("ct", {.last_patient = "Planted-2"});
  const PredictReport report = run_predict(scene.to_outbox("ct"), scene.progress);
  EXPECT_TRUE(report.damaged) << "exit 8";
  ASSERT_EQ(report.found.at(kHeldCases).size(), 1u);
  EXPECT_EQ(report.found[kHeldCases][0]["code"], "E_IDENTITY");
  EXPECT_EQ(scene.folders("outbox"), std::vector<std::string>{"held"});
  ASSERT_EQ(scene.folders("outbox/held").size(), 1u);
  const nlohmann::json why = scene.held(scene.folders("outbox/held")[0]);
  EXPECT_EQ(why.at("code"), "E_IDENTITY");
  EXPECT_THAT(why.dump(), Not(HasSubstr("Planted")));
  for (const std::string& line : scene.progress.lines) EXPECT_THAT(line, Not(HasSubstr("Planted")));
}

TEST(RunPredictOutbox, ObjectsOfAnotherPatientOrStudyAreHeld) {
  OutboxScene scene("outbox_foreign");
  scene.write_series("ct"), scene.write_series("patient", {.patient = "P-2"});
  scene.write_series("study", {.study = "1.2.4"}), scene.write_series("frame", {.frame = "1.2.4.9"});
  const Case item{.id = "case", .images = {scene.path("ct")}};
  int key = 0;
  for (const char* other : {"ct", "patient", "study", "frame"}) {
    const PredictReport report =
        run_predict(scene.predict(scene.path(other), std::string("out_") + other, "dicom-seg"), scene.progress);
    const fs::path made = scene.path(std::string("out_") + other) / (report.cases.at(0).id + ".seg.dcm");
    const CaseSending sending(scene.path("outbox"), false);
    const CaseObjects objects{
        .item = item, .input = "files", .key = std::string(15, 'a') + std::to_string(key++), .files = {made}};
    const auto held = sending.send(objects, {});
    EXPECT_EQ(held.has_value(), std::string(other) != "ct") << other;
    EXPECT_EQ(held ? held->code : "", std::string(other) != "ct" ? "E_IDENTITY" : "") << other;
  }
  EXPECT_EQ(scene.folders("outbox").size(), 2u) << "held, and the item of its own series";
  EXPECT_EQ(scene.folders("outbox/held").size(), 3u);
}

TEST(RunPredictOutbox, EmptyUidsAreHeldUntilTheyAreFilled) {
  OutboxScene scene("outbox_uids");
  scene.write_series("studies/a", {.study = "1.2.4", .series = "1.2.4.4", .frame = "1.2.4.9"});
  scene.write_series("studies/b", {.study = "", .series = "", .frame = "", .sop_class = false});
  PredictOptions o = scene.to_outbox("studies");
  o.task.of<VolumeReading>().best_series = false;
  const PredictReport first = run_predict(o, scene.progress);
  ASSERT_EQ(first.cases.size(), 2u) << first.text;
  ASSERT_EQ(first.found.at(kHeldCases).size(), 1u);
  EXPECT_EQ(first.found[kHeldCases][0]["code"], "E_UIDS");
  ASSERT_EQ(scene.folders("outbox/held").size(), 1u);
  const std::string item = scene.folders("outbox/held")[0];
  EXPECT_EQ(scene.held(item).at("code"), "E_UIDS");
  EXPECT_EQ(scene.folders("outbox").size(), 2u) << "held, and the item of the other series";
  EXPECT_EQ(run_predict(o, scene.progress).found.at(kHeldCases).size(), 1u) << "said of kept cases too";

  o.task.of<VolumeReading>().fill_uids = true;
  const PredictReport filled = run_predict(o, scene.progress);
  EXPECT_EQ(filled.kept, 1) << "the series with UIDs";
  EXPECT_FALSE(filled.damaged) << filled.found.dump();
  EXPECT_TRUE(scene.folders("outbox/held").empty());
  EXPECT_TRUE(fs::exists(scene.path("outbox") / item)) << "it replaces what was held";
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_EQ(again.kept, 2);
  EXPECT_FALSE(again.damaged);
}

TEST(RunPredictOutbox, SettingsThatDoNotGoTogetherAreRefused) {
  OutputsScene scene("outbox_refused");
  PredictOptions o = scene.predict(scene.data() / "imagesTr", "out", "measures");
  o.task.of<VolumeReading>().outbox = scene.path("outbox");
  expect_error(ErrorKind::kUsage, "{outbox}", [&] { run_predict(o, scene.progress); });
  o.task.of<VolumeReading>() = {};
  o.task.of<VolumeReading>().fill_uids = true;
  expect_error(ErrorKind::kUsage, "{fill-uids}", [&] { run_predict(o, scene.progress); });
  o.task.of<VolumeReading>() = {};
  o.task.of<VolumeReading>().write = "dicom-seg";
  for (const char* inside : {"out/outbox", "out", "."}) {
    o.task.of<VolumeReading>().outbox = scene.path(inside);
    expect_error(ErrorKind::kUsage, "lie one in the other", [&] { run_predict(o, scene.progress); });
  }
  o.task.of<VolumeReading>().outbox = scene.path("outbox");
  o.dry_run = true;
  run_predict(o, scene.progress);
  EXPECT_FALSE(fs::exists(scene.path("outbox"))) << "a dry run writes nothing";
  write_text_atomically(scene.path("outbox"), "a file");
  o.dry_run = false;
  expect_error(ErrorKind::kOutput, "outbox", [&] { run_predict(o, scene.progress); });
  EXPECT_TRUE(fs::exists(scene.path("outbox")));
}

}  // namespace
}  // namespace voxshard
