// A trained run and DICOM series of one of its images, for the tests of what predict writes beside label maps.
//
//   OutputsScene scene("outputs", 40);                       // steps; after 40 label maps have classes
//   scene.write_series("ct", {.frame = ""});
//   run_predict(scene.predict(scene.path("ct"), "out", "dicom-seg"), scene.progress);
#pragma once

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/io/dicom_files.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

/// What the headers of a series say.
struct SeriesNames {
  std::string study = "1.2.3", series = "1.2.3.4", frame = "1.2.3.9", patient = "P-1";
  std::string last_patient = "";  // of the last slice; empty: as the others
  bool sop_class = true;          // false: SOP class and UID of the files are empty
  std::int64_t times = 1;         // each plane is that many slices
};

struct OutputsScene : TrainingScene {
  explicit OutputsScene(const std::string& name, std::int64_t steps = 2) : TrainingScene(name) {
    TrainOptions o = options("run");
    o.steps = steps, o.optimizer.learning_rate = 1e-2;
    run_train(o, progress);
  }
  std::filesystem::path image() const { return data() / "imagesTr" / "phantom_000_0000.nii.gz"; }

  /// Writes an image as a DICOM series, whose slices are planes of its first two axes.
  void write_series(const std::string& folder, const SeriesNames& names = {}) const {
    const Volume ct = read_image(image());
    const Geometry& g = ct.geometry;
    std::filesystem::create_directories(path(folder));
    for (std::int64_t z = 0; z < g.size[2] * names.times; ++z) {
      DicomSpec slice{.instance = "", .study = names.study, .series = names.series};
      if (names.sop_class)
        slice.instance = names.series + ".1." + std::to_string(z + 1);
      else
        slice.sop_class.clear();
      slice.rows = static_cast<std::uint16_t>(g.size[1]), slice.columns = static_cast<std::uint16_t>(g.size[0]);
      slice.pixel_spacing = decimals(std::array{g.spacing[1], g.spacing[0]});
      slice.position = g.world({0, 0, static_cast<double>(z) / static_cast<double>(names.times)});
      slice.orientation = std::array<double, 6>{};
      for (std::size_t a = 0; a < 6; ++a) (*slice.orientation)[a] = g.direction[3 * (a % 3) + a / 3];
      slice.frame_of_reference = names.frame;
      slice.patient_id =
          z + 1 == g.size[2] * names.times && !names.last_patient.empty() ? names.last_patient : names.patient;
      std::vector<std::int16_t> stored;
      const float* from = ct.voxels.as<float>() + z / names.times * g.size[0] * g.size[1];
      for (std::int64_t i = 0; i < g.size[0] * g.size[1]; ++i)
        stored.push_back(static_cast<std::int16_t>(std::lround(from[i]) + 1024));
      std::ofstream(path(folder) / (std::to_string(z) + ".dcm"), std::ios::binary) << dicom_bytes(slice, stored);
    }
  }
  PredictOptions predict(const std::filesystem::path& input, const std::string& output,
                         const std::string& write) const {
    PredictOptions o{.run = path("run"), .input = input, .output = path(output)};
    o.task.of<VolumeReading>().write = write;
    return o;
  }
};

}  // namespace voxshard
