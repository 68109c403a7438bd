#include "pipelines/tasks/segmentation/scores/evaluated_set.h"

#include <set>

#include "io/datasets/case_ids.h"
#include "io/files/file_error.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/scores/prepared_cases.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Reads a tree of studies under the ids of the predictions.
EvaluatedSet read_studies_of(const EvaluateLabelsOptions& options, const VolumeFormats& formats,
                             const RunContext& context) {
  if (!options.dataset.empty() || options.threshold_baseline)
    throw Error(ErrorKind::kUsage,
                "[evaluate] {classes} is for references in a tree of DICOM studies, which has its own classes and no "
                "training cases: leave out {dataset} and {baseline}");
  read_case_names(options.predictions);  // refuses those of an older version
  if (std::error_code error; !fs::exists(options.predictions / kCaseNamesFile, error))
    throw input_error(options.predictions,
                      std::string("has no ") + kCaseNamesFile + ", which says of which series each label map is",
                      "put the one back that predict wrote beside them", "E_MISSING");
  SourceDataset studies = read_studies({.folder = options.references, .classes = options.classes}, options.predictions,
                                       formats, context.progress());
  EvaluatedSet set{.dataset = std::move(studies.dataset), .pairs = {}};
  set.pairs = study_pairs({options.predictions, {}, formats, options.further}, *set.dataset, context.progress());
  return set;
}

/// True for a folder of DICOM files with segmentations or structure sets, and without a volume file of its own.
bool is_tree_of_labels(const fs::path& folder, const VolumeFormats& formats) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (volume_id(it->path(), formats)) return false;
  return !error && holds_structures(folder);
}

/// Leaves out what was not predicted because the run was trained on it.
EvaluatedSet predicted_of(EvaluatedSet set, const EvaluateLabelsOptions& options) {
  const std::set<std::string> unasked(options.seen.left_out.begin(), options.seen.left_out.end());
  std::erase_if(set.pairs, [&](const LabelPair& pair) { return unasked.contains(pair.id); });
  if (set.pairs.empty())
    throw Error(ErrorKind::kNoCase,
                "[evaluate] none of the references was predicted: the run was trained on all of them");
  return set;
}

}  // namespace

EvaluatedSet read_evaluated(const EvaluateLabelsOptions& options, const RunContext& context) {
  const VolumeFormats& formats = options.formats;
  if (!options.classes.empty() || is_tree_of_labels(options.references, formats))
    return predicted_of(read_studies_of(options, formats, context), options);
  EvaluatedSet set;
  const bool prepared = !options.dataset.empty() && is_prepared(options.dataset);
  if (prepared && (options.threshold_baseline || !options.png.empty())) refuse_images_of_prepared(options.dataset);
  if (!options.dataset.empty())
    set.dataset = prepared ? classes_of_prepared(options.dataset) : read_any_dataset(options.dataset);
  set.pairs = label_pairs({options.predictions, options.references, formats, options.further},
                          set.dataset ? &*set.dataset : nullptr, context.progress());
  return predicted_of(std::move(set), options);
}

}  // namespace voxshard
