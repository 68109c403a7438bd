// What predict writes beside label maps: on a DICOM series the objects hold the label map voxel for voxel; without one
// the label map stays and what is missing is said; a second call keeps what is there.
#include "io/structures/structure_labels.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/outputs/case_outputs.h"
#include "pipelines/tasks/segmentation/volume_reading.h"
#include "tests/io/dicom_files.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct OutputsScene : TrainingScene {
  explicit OutputsScene(const std::string& name, std::int64_t steps = 2) : TrainingScene(name) {
    TrainOptions o = options("run");
    o.steps = steps, o.optimizer.learning_rate = 1e-2;
    run_train(o, progress);
  }
  fs::path image() const { return data() / "imagesTr" / "phantom_000_0000.nii.gz"; }

  /// Writes an image as a DICOM series, whose slices are planes of its first two axes.
  void write_series(const std::string& folder, const std::string& frame = "1.2.3.9") const {
    const Volume ct = read_image(image());
    const Geometry& g = ct.geometry;
    fs::create_directories(path(folder));
    for (std::int64_t z = 0; z < g.size[2]; ++z) {
      DicomSpec slice{.instance = "1.2.3.1." + std::to_string(z + 1)};
      slice.rows = static_cast<std::uint16_t>(g.size[1]), slice.columns = static_cast<std::uint16_t>(g.size[0]);
      slice.pixel_spacing = decimals(std::array{g.spacing[1], g.spacing[0]});
      slice.position = g.world({0, 0, static_cast<double>(z)});
      slice.orientation = std::array<double, 6>{};
      for (std::size_t a = 0; a < 6; ++a) (*slice.orientation)[a] = g.direction[3 * (a % 3) + a / 3];
      slice.frame_of_reference = frame, slice.patient_id = "P-1";
      std::vector<std::int16_t> stored;
      const float* from = ct.voxels.as<float>() + z * g.size[0] * g.size[1];
      for (std::int64_t i = 0; i < g.size[0] * g.size[1]; ++i)
        stored.push_back(static_cast<std::int16_t>(std::lround(from[i]) + 1024));
      std::ofstream(path(folder) / (std::to_string(z) + ".dcm"), std::ios::binary) << dicom_bytes(slice, stored);
    }
  }
  PredictOptions predict(const fs::path& input, const std::string& output, const std::string& write) const {
    PredictOptions o{.run = path("run"), .input = input, .output = path(output)};
    o.task.of<VolumeReading>().write = write;
    return o;
  }
};

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
  scene.write_series("ct", "");
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
