// The facts about one case from which the rules of `check` follow: a few numbers that outlive the voxels.
//
//   CaseFacts facts = read_case_facts(dataset.training[0], {.classes = 8, .deep = true});
//   facts.classes.at(5).volume_ml;       // 66.3, of the mandible
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/segmentation/checks/border_fit.h"

namespace voxshard {

/// The grid of a file, from its header.
struct GridFacts {
  std::string file;  // its name without the folder
  Geometry geometry;
};

struct ClassFacts {
  std::int64_t voxels = 0;
  double volume_ml = 0;
  std::array<double, 3> centre_mm{};  // mean position of its voxels in the world, LPS
  double spread_mm = 0;               // root mean square distance of its voxels from the centre
  std::optional<double> mean_hu;      // of values clipped to the window of border_fit.h; only after a deep check
};

struct HuRange {
  float low = 0, high = 0;
};

struct CaseFacts {
  std::string id;
  std::string part;                   // "training" or "test"
  int patient = 0;                    // as Case::patient
  std::vector<CaseFailure> problems;  // files that cannot be used, and odd ones, by the code of their reader
  std::vector<GridFacts> images;      // by channel
  std::optional<GridFacts> label;
  bool label_is_read = false;             // false: the facts about classes are missing
  std::int64_t wrong_voxels = 0;          // with a label outside of the classes
  std::int32_t first_wrong = 0;           // the first such label
  std::map<int, ClassFacts> classes;      // the classes that occur, without the background
  std::optional<HuRange> hu;              // of the first channel
  std::optional<BorderFit> fit;           // of the labels to the first channel
  std::vector<std::string> image_hashes;  // by channel: of the file, after a deep check of the voxels
  std::string label_hash;                 // of the voxels
};

struct FactOptions {
  int classes = 1;                  // with the background
  std::optional<int> ignored = {};  // the label of voxels whose class is unknown
  bool deep = false;                // true: images are read, else only their headers
  bool resamples_channels = false;  // grids of the channels behind the first are no facts
  bool headers_alone = false;       // true: no voxel is read and no file hashed; facts about classes are missing
  VolumeFormats formats = volume_formats();
};

/// Returns the memory for reading the facts of a case. Errors: kInput E_SIZE, E_BUDGET, as evaluating_case_plan().
ProcessPlan case_facts_plan(const Case& item, const FactOptions& options);

/// Reads the files of a case. What is wrong with a file is a problem in the facts and no error.
CaseFacts read_case_facts(const Case& item, const FactOptions& options);

/// Adds the facts that follow from a label map alone.
void add_label_facts(const Volume& label, const FactOptions& options, CaseFacts& facts);
/// Adds the facts that follow from the voxels of the first channel and, when `label` has its size, from both.
///   label  null: there is none
void add_image_facts(const Volume& image, const Volume* label, CaseFacts& facts);

}  // namespace voxshard
