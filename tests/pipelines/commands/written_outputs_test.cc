// What predict writes beside label maps: on a DICOM series the objects hold the label map voxel for voxel; without one
// the label map stays and what is missing is said; a second call keeps what is there.
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
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("W_TERM")));  // spine has no row
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
