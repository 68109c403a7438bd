#include "pipelines/tasks/segmentation/validation.h"

#include "io/volume/mapped_volume.h"
#include "libcore/metrics/dice.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/tasks/segmentation/predict_volume.h"
#include "pipelines/tasks/segmentation/sample_source.h"

namespace voxshard {
namespace {

/// Each core reads and counts its own box: no rank holds a volume. The note of a run is the case's index.
class Validating {
 public:
  explicit Validating(const PreparedDataset& dataset) : dataset_(dataset) {}

  RankWork work() const {
    return work_of_cores<ClassCounts>(
        [this](const nlohmann::json& note, const CoreSet& cores, std::size_t core) { return counts(case_of(note), cores, core); },
        [this](const nlohmann::json& note, const TensorView& box) { fill(case_of(note), box); });
  }

  /// On the rank that leads: the counts of all cores.
  std::vector<ClassCounts> count(Session& session, std::size_t index, std::int64_t multiple) const {
    std::vector<std::vector<ClassCounts>> by_core(
        static_cast<std::size_t>(session.plan(extents(index, multiple), Phase::kPredict).program.mesh().cores()));
    run_led(session, work(),
            {.extents = extents(index, multiple),
             .note = index,
             .take = take_values<ClassCounts>([&](std::size_t core, std::span<const ClassCounts> counts) {
               ensure(counts.empty() || std::ssize(counts) == dataset_.plan.classes(), "a core counts every class, or has nothing of the volume");
               by_core[core].assign(counts.begin(), counts.end());
             })});
    std::vector<ClassCounts> all(static_cast<std::size_t>(dataset_.plan.classes()));
    for (const auto& counts : by_core)
      for (std::size_t c = 0; c < counts.size(); ++c) all.at(c) += counts[c];
    return all;
  }

 private:
  const PreparedCase& case_of(const nlohmann::json& note) const { return dataset_.cases.at(note.get<std::size_t>()); }
  Shape extents(std::size_t index, std::int64_t multiple) const {
    return prediction_extents(dataset_.cases[index].shape, multiple);
  }

  void fill(const PreparedCase& item, const TensorView& box) const {
    const MappedVolume image = MappedVolume::open(item.image);
    fill_image(box,
               {.shape = image.shape(), .read = [&](const TensorView& inside) { image.read_box(inside.box, inside); }},
               air_value(dataset_.plan));
  }

  std::vector<ClassCounts> counts(const PreparedCase& item, const CoreSet& cores, std::size_t core) const {
    const MappedVolume reference = MappedVolume::open(item.label);
    LabelledBox found = labels_of_core(cores, core, reference.shape());
    if (found.box.empty()) return {};
    const Tensor expected(DType::kI32, found.box.extent);
    reference.read_box(found.box, expected.view());
    return count_classes(found.view(), expected.view(), dataset_.plan.classes(), dataset_.plan.ignore_label.value_or(-1));
  }

  const PreparedDataset& dataset_;
};

}  // namespace

std::vector<double> validation_dice(Session& session, const PreparedDataset& dataset,
                                    const std::vector<std::size_t>& cases, std::int64_t multiple, Progress& progress) {
  session.release();  // of the training
  const Validating validating(dataset);
  const int classes = dataset.plan.classes();
  return lead_numbers(session, validating.work(), [&] {
    std::vector<std::vector<double>> by_class(static_cast<std::size_t>(classes));
    std::int64_t done = 0;
    const auto all = static_cast<std::int64_t>(cases.size());
    for (std::size_t index : cases) {
      throw_if_stopped(progress);
      const PreparedCase& item = dataset.cases[index];
      if (done == 0) progress.update("validate", 0, all, item.id);
      const std::vector<ClassCounts> counts = validating.count(session, index, multiple);
      for (int c = 1; c < classes; ++c)
        by_class[static_cast<std::size_t>(c)].push_back(dice(counts[static_cast<std::size_t>(c)]));
      progress.update("validate", ++done, all, item.id);
    }
    session.release();
    std::vector<double> mean;
    for (int c = 1; c < classes; ++c) mean.push_back(nan_mean(by_class[static_cast<std::size_t>(c)]));
    return mean;
  });
}

}  // namespace voxshard
