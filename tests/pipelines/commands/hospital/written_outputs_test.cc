// What predict writes beside label maps: on a DICOM series the objects hold the label map voxel for voxel; without one
// the label map stays and what is missing is said; a second call keeps what is there.
#include "io/datasets/class_names.h"
#include "io/dicom_out/segmentation_object.h"
#include "io/files/content_hash.h"
#include "io/structures/structure_labels.h"
#include "pipelines/tasks/segmentation/outputs/case_outputs.h"
#include "tests/pipelines/outputs_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::int32_t> values(const Volume& labels) {
  const auto* v = labels.voxels.as<std::int32_t>();
  return {v, v + labels.voxels.count()};
}

/// Returns the UID that the segmentation of a label map has, made of the input with the terms that are built in.
///   series  the UID of the input
std::string uid_of_segmentation(const PredictOptions& o, const std::string& series, const Volume& labels) {
  const std::string run =
      prediction_hash(o, load_trained_run({.run = o.run}), naming_of(o, o.task.of<VolumeReading>()));
  const std::string object = object_keys(run, hashes_of(known_files_of_volume(o.input))).object;
  const std::string with_terms = content_hash(object + " " + SegmentTerms::builtin().hash());
  return segmentation_uids(uid_key(with_terms, series, labels.voxels)).instance;
}

TEST(RunPredictOutputs, ObjectsOnADicomSeriesHoldItsLabelMap) {
  OutputsScene scene("outputs", 40);
  scene.write_series("ct");
  const PredictOptions o = scene.predict(scene.path("ct"), "out", "measures,sr,rt-struct");
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_FALSE(report.found.contains(kNotWritten)) << report.found.dump();
  EXPECT_FALSE(report.damaged);
  ASSERT_EQ(report.cases.size(), 1u);
  const std::string id = report.cases[0].id;
  const Volume labels = read_label(report.cases[0].file);
  ASSERT_GT(std::ranges::count_if(values(labels), [](std::int32_t one) { return one > 0; }), 0) << "a trained run";
  std::map<int, int> same;
  for (int c = 1; c < 10; ++c) same[c] = c;
  const Geometry grid = read_volume_info(scene.path("ct")).geometry;
  for (const char* ending : {".seg.dcm", ".rtstruct.dcm"}) {
    const StructureLabels made = read_structures_on(scene.path("out") / (id + ending), grid, same);
    EXPECT_TRUE(values(made.volume) == values(labels)) << ending;
  }
  EXPECT_EQ(read_dicom_header(scene.path("out") / (id + ".seg.dcm")).sop_instance,
            uid_of_segmentation(o, SeriesNames().series, labels));
  EXPECT_TRUE(fs::exists(scene.path("out") / (id + ".sr.dcm")));
  const nlohmann::json measures = read_json(scene.path("out/measures.json"));
  ASSERT_EQ(measures.at("cases").size(), 1u);
  const double voxel_ml = grid.spacing[0] * grid.spacing[1] * grid.spacing[2] / 1000;
  for (const nlohmann::json& one : measures["cases"][0]["classes"]) {
    const std::vector<std::int32_t> all = values(labels);
    const auto voxels = std::ranges::count(all, one.at("label").get<std::int32_t>());
    EXPECT_EQ(one.at("voxels"), voxels);
    EXPECT_NEAR(one.at("ml").get<double>(), static_cast<double>(voxels) * voxel_ml, 1e-9);
  }
  EXPECT_EQ(measures["cases"][0]["unit"], "HU");
  EXPECT_TRUE(measures["cases"][0].at("flags").empty()) << "of two training cases nothing is usual";
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("W_TERM")))) << "all classes have a row";
  for (const std::string& line : scene.progress.lines) EXPECT_THAT(line, Not(HasSubstr("Planted")));

  const std::string seg = Scene::bytes_of(scene.path("out") / (id + ".seg.dcm"));
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_EQ(again.kept, 1);
  EXPECT_TRUE(Scene::bytes_of(scene.path("out") / (id + ".seg.dcm")) == seg);
  EXPECT_EQ(read_json(scene.path("out/measures.json")), measures) << "those of kept cases are joined too";
  run_predict(scene.predict(scene.path("ct"), "out2", "dicom-seg"), scene.progress);
  EXPECT_TRUE(Scene::bytes_of(scene.path("out2") / (id + ".seg.dcm")) == seg)
      << "the same object whatever else is written, into whatever folder";
  EXPECT_FALSE(fs::exists(scene.path("out2/measures.json")));
}

TEST(RunPredictOutputs, WithoutASeriesTheLabelMapStaysAndWhatIsMissingIsSaid) {
  OutputsScene scene("outputs_nifti");
  const PredictOptions o = scene.predict(scene.data() / "imagesTr", "out", "dicom-seg,measures");
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_TRUE(report.damaged) << "exit 8";
  ASSERT_EQ(report.found.at(kNotWritten).size(), 2u);
  EXPECT_EQ(report.found[kNotWritten][0]["output"], "dicom-seg");
  EXPECT_EQ(report.found[kNotWritten][0]["code"], "W_OUTPUT");
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("W_OUTPUT dicom-seg is not written: the image is no DICOM")));
  for (const PredictedCase& one : report.cases) {
    EXPECT_TRUE(fs::exists(one.file));
    EXPECT_FALSE(fs::exists(scene.path("out") / (one.id + ".seg.dcm")));
    EXPECT_TRUE(fs::exists(scene.path("out") / (one.id + ".measures.json")));
  }
  EXPECT_EQ(read_json(scene.path("out/measures.json")).at("cases").size(), 2u);
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_EQ(again.kept, 2);
  EXPECT_EQ(again.found.at(kNotWritten).size(), 2u) << "said of kept cases too";
}

TEST(RunPredictOutputs, ASeriesWithoutAFrameOfReferenceCostsItsObjectsAlone) {
  OutputsScene scene("outputs_frameless");
  scene.write_series("ct", {.frame = ""});
  const PredictReport report = run_predict(scene.predict(scene.path("ct"), "out", "sr,rt-struct"), scene.progress);
  EXPECT_EQ(report.cases.size(), 1u);
  ASSERT_EQ(report.found.at(kNotWritten).size(), 3u) << "the segmentation, the report and the structure set";
  EXPECT_THAT(report.found[kNotWritten][0]["reason"].get<std::string>(), HasSubstr("frame of reference"));
  EXPECT_FALSE(fs::exists(scene.path("out/measures.json")));
}

/// Does something when the label map of an image is there and no DICOM object can be made of it.
struct MeddlingProgress : RecordingProgress {
  std::function<void()> meddle;
  void log(std::string_view line) override {
    RecordingProgress::log(line);
    if (line.find("W_OUTPUT dicom-seg") != std::string_view::npos) meddle();
  }
};

TEST(RunPredictOutputs, AnImageThatChangesMeanwhileCostsItsMeasuresAndLeavesNoEarlierOnes) {
  OutputsScene scene("outputs_changed");
  const PredictOptions o = scene.predict(scene.image(), "out", "dicom-seg,measures");
  const PredictReport first = run_predict(o, scene.progress);
  ASSERT_EQ(first.cases.size(), 1u);
  const fs::path measures = scene.path("out") / (first.cases[0].id + ".measures.json");
  ASSERT_TRUE(fs::exists(measures));
  Volume other = read_image(scene.image());
  other.voxels.as<float>()[0] += 1;
  write_volume(scene.image(), other, DiskType::kI16);  // so that it is predicted again
  MeddlingProgress progress;
  progress.meddle = [&] { write_volume(scene.image(), Scene::make_image(3), DiskType::kI16); };
  const PredictReport second = run_predict(o, progress);
  ASSERT_EQ(second.cases.size(), 1u);
  EXPECT_EQ(second.kept, 0);
  ASSERT_EQ(second.found.at(kNotWritten).size(), 2u) << second.found.dump();
  EXPECT_EQ(second.found[kNotWritten][1]["output"], "measures");
  EXPECT_THAT(second.found[kNotWritten][1]["reason"].get<std::string>(), HasSubstr("changed while it was predicted"));
  EXPECT_FALSE(fs::exists(measures)) << "those of the earlier image";
  EXPECT_EQ(read_json(scene.path("out/measures.json")).at("cases").size(), 0u);
}

TEST(RunPredictOutputs, AnImageThatIsGoneMeanwhileCostsItsMeasuresAlone) {
  OutputsScene scene("outputs_gone");
  MeddlingProgress progress;
  progress.meddle = [&] { fs::remove(scene.image()); };
  const PredictReport report = run_predict(scene.predict(scene.image(), "out", "dicom-seg,measures"), progress);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_TRUE(fs::exists(report.cases[0].file));
  ASSERT_EQ(report.found.at(kNotWritten).size(), 2u) << report.found.dump();
  EXPECT_EQ(report.found[kNotWritten][1]["output"], "measures");
}

TEST(RunPredictOutputs, ASegmentationOfTooManyFramesIsSplitOnRequest) {
  OutputsScene scene("outputs_parts", 40);
  scene.write_series("ct", {.times = 900 / read_volume_info(scene.image()).geometry.size[2]});
  PredictOptions o = scene.predict(scene.path("ct"), "out", "dicom-seg,sr");
  const PredictReport whole = run_predict(o, scene.progress);
  ASSERT_EQ(whole.cases.size(), 1u);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("some viewers leave out files of more than 400: "
                                                       "{segments-per-file} splits it")));
  const fs::path base = scene.path("out") / whole.cases[0].id;
  const auto file = [&](const std::string& ending) { return fs::path(base.string() + ending); };
  ASSERT_TRUE(fs::exists(file(".seg.dcm")));
  o.task.of<VolumeReading>().segments_per_file = 1;
  const PredictReport split = run_predict(o, scene.progress);
  EXPECT_EQ(split.kept, 0) << "another option";
  EXPECT_FALSE(split.found.contains(kNotWritten)) << split.found.dump();
  EXPECT_FALSE(fs::exists(file(".seg.dcm"))) << "that of the earlier call";
  const Volume labels = read_label(split.cases.at(0).file);
  const Geometry grid = read_volume_info(scene.path("ct")).geometry;
  std::vector<std::int32_t> all(values(labels).size());
  int parts = 0;
  for (; fs::exists(file(".seg." + std::to_string(parts + 1) + ".dcm")); ++parts) {
    const fs::path seg = file(".seg." + std::to_string(parts + 1) + ".dcm");
    const std::string name = read_dicom_header(seg).segments.at(0).label;
    const std::vector<std::string> names = read_class_names(scene.path("out/classes.json"));
    const auto label = static_cast<std::int32_t>(std::ranges::find(names, name) - names.begin());
    const std::vector<std::int32_t> found = values(read_structures_on(seg, grid, {{1, label}}).volume);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += found[i];
  }
  EXPECT_GT(parts, 1);
  EXPECT_TRUE(all == values(labels)) << "the parts are the label map";
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_EQ(again.kept, 1);
  EXPECT_FALSE(again.found.contains(kNotWritten)) << again.found.dump();
  fs::remove(file(".seg.2.dcm"));
  EXPECT_EQ(run_predict(o, scene.progress).kept, 0) << "a part that is missing is made again with its case";
  EXPECT_TRUE(fs::exists(file(".seg.2.dcm")));
}

TEST(RunPredictOutputs, ADryRunForetellsWhatCannotBeWritten) {
  OutputsScene scene("outputs_dry");
  PredictOptions o = scene.predict(scene.data() / "imagesTr", "out", "dicom-seg,measures");
  o.dry_run = true;
  const PredictReport images = run_predict(o, scene.progress);
  ASSERT_EQ(images.planned.size(), 2u);
  ASSERT_EQ(images.planned[0].not_written.size(), 1u) << "measures need no series";
  EXPECT_EQ(images.planned[0].not_written[0].output, "dicom-seg");
  EXPECT_EQ(images.planned[0].not_written[0].code, "W_OUTPUT");
  EXPECT_EQ(images.planned[0].not_written[0].reason, "the image is no DICOM series");
  EXPECT_TRUE(images.damaged) << "exit 8, as the call itself";
  EXPECT_THAT(images.text, HasSubstr("2 outputs beside them not written"));
  EXPECT_EQ(to_json(images).at("planned").at(1).at("not_written").at(0).at("output"), "dicom-seg");
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("W_OUTPUT dicom-seg would not be written: the image is no")));
  EXPECT_FALSE(fs::exists(scene.path("out")));
  scene.write_series("frameless", {.frame = ""}), scene.write_series("good");
  o.input = scene.path("frameless");
  const PredictReport frameless = run_predict(o, scene.progress);
  ASSERT_EQ(frameless.planned.at(0).not_written.size(), 1u);
  EXPECT_THAT(frameless.planned[0].not_written[0].reason, HasSubstr("frame of reference"));
  o.input = scene.path("good");
  const PredictReport good = run_predict(o, scene.progress);
  EXPECT_TRUE(good.planned.at(0).not_written.empty());
  EXPECT_FALSE(good.damaged);
  EXPECT_FALSE(to_json(good).at("planned").at(0).contains("not_written"));
  o.dry_run = false, o.input = scene.data() / "imagesTr";
  run_predict(o, scene.progress);
  o.dry_run = true;
  const PredictReport kept = run_predict(o, scene.progress);
  EXPECT_TRUE(kept.planned.at(0).kept);
  ASSERT_EQ(kept.planned[0].not_written.size(), 1u) << "of kept cases too";
  EXPECT_THAT(kept.planned[0].not_written[0].reason, HasSubstr("an earlier call kept the label map alone"));
}

TEST(RunPredictOutputs, AClassWithoutARowInTheTableOfTermsIsNamed) {
  OutputsScene scene("outputs_terms");
  nlohmann::json set = read_json(scene.data() / "dataset.json");
  set["labels"].erase("spine");
  set["labels"]["curved rod"] = 4;
  std::ofstream(scene.data() / "dataset.json") << set;
  prepare_dataset({.dataset = scene.data(), .work = scene.path("rods"), .spacing = "8,8,8"},
                  {scene.progress, {.threads = 2}});
  TrainOptions train = scene.options("rod_run");
  train.work = scene.path("rods"), train.steps = 1;
  run_train(train, scene.progress);
  PredictOptions o = scene.predict(scene.image(), "out", "dicom-seg");
  o.run = scene.path("rod_run"), o.dry_run = true;
  scene.progress.lines.clear();
  run_predict(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("W_TERM curved rod has no row in the table of coded terms")));
  std::ofstream(scene.path("mine.toml")) << "[[terms]]\nnames = [\"curved rod\"]\ncode = \"1\"\nmeaning = \"Rod\"\n";
  o.task.of<VolumeReading>().terms = scene.path("mine.toml");
  scene.progress.lines.clear();
  run_predict(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("W_TERM"))));
}

TEST(RunPredictOutputs, WordsAndTermsAreReadBeforeAnythingIsWritten) {
  OutputsScene scene("outputs_refused");
  PredictOptions o = scene.predict(scene.data() / "imagesTr", "out", "dicom");
  expect_error(ErrorKind::kUsage, "{write}", [&] { run_predict(o, scene.progress); });
  o = scene.predict(scene.data() / "imagesTr", "out", "dicom-seg");
  o.task.of<VolumeReading>().terms = scene.path("missing.toml");
  expect_error(ErrorKind::kConfig, "missing.toml", [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(fs::exists(scene.path("out/classes.json")));
}

}  // namespace
}  // namespace voxshard
