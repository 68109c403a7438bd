#include "pipelines/tasks/segmentation/scores/volume_validation.h"

#include <cmath>

#include "io/datasets/annotated.h"
#include "io/volume/mapped_volume.h"
#include "libcore/metrics/dice.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"

namespace voxshard {
namespace {

/// The note of a run is the index of its case.
class VolumeValidation : public ValidationPass {
 public:
  VolumeValidation(const PreparedDataset& dataset, std::vector<std::size_t> cases, const OverlapMetric& metric,
                   std::int64_t multiple)
      : dataset_(dataset),
        cases_(std::move(cases)),
        metric_(metric),
        multiple_(multiple),
        scores_by_class_(static_cast<std::size_t>(dataset.plan.classes())) {}

  CoreWork work() const override {
    return {.fill = [this](const nlohmann::json& note, const InputInfo&,
                           const TensorView& box) { fill(case_of(note), box); },
            .serialise =
                values_of_cores<ClassCounts>([this](const nlohmann::json& note, const CoreSet& cores,
                                                    std::size_t core) { return counts(case_of(note), cores, core); })};
  }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (const std::size_t index : cases_)
      turns.push_back({prediction_extents(dataset_.cases[index].shape, multiple_), {index}});
    return turns;
  }
  std::string name(std::size_t input) const override { return dataset_.cases[input].id; }

  std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) override {
    const Program& program = session.plan(turn.extents, Phase::kPredict).program;
    std::vector<std::vector<ClassCounts>> by_core(static_cast<std::size_t>(program.mesh().cores()));
    run_cores(session, work(),
              {.extents = turn.extents,
               .note = turn.inputs.front(),
               .take = take_values<ClassCounts>([&](std::size_t core, std::span<const ClassCounts> counts) {
                 ensure(counts.empty() || std::ssize(counts) == dataset_.plan.classes(),
                        "a core counts every class, or has nothing of the volume");
                 by_core[core].assign(counts.begin(), counts.end());
               })});
    std::vector<ClassCounts> all(scores_by_class_.size());
    for (const auto& counts : by_core)
      for (std::size_t c = 0; c < counts.size(); ++c) all.at(c) += counts[c];
    const auto& annotated = dataset_.cases.at(turn.inputs.front()).annotated;
    for (std::size_t c = 1; c < all.size(); ++c)
      if (is_annotated(annotated, static_cast<int>(c))) scores_by_class_[c].push_back(metric_.of(all[c]));
    return {};
  }

  Validation result() const override {
    Validation validation;
    double sum = 0;
    int counted = 0;
    for (std::size_t c = 1; c < scores_by_class_.size(); ++c) {
      const double mean = nan_mean(scores_by_class_[c]);
      validation.by_class.push_back(mean);
      if (std::isfinite(mean)) sum += mean, ++counted;
    }
    if (counted > 0) validation.score = sum / counted;
    return validation;
  }
  std::string nothing_read() const override { return "volumes that validate can be read: the score of 0 says nothing"; }

 private:
  const PreparedCase& case_of(const nlohmann::json& note) const { return dataset_.cases.at(note.get<std::size_t>()); }

  void fill(const PreparedCase& item, const TensorView& box) const {
    const Shape shape = MappedVolume::open(item.images.front()).shape();
    fill_image(
        box,
        {.shape = shape, .air = air_values(dataset_.plan), .read = [&](std::size_t channel, const TensorView& inside) {
           MappedVolume::open(item.images.at(channel)).read_box(inside.box, inside);
         }});
  }

  std::vector<ClassCounts> counts(const PreparedCase& item, const CoreSet& cores, std::size_t core) const {
    const MappedVolume reference = MappedVolume::open(item.label);
    LabelledBox found = labels_of_core(cores, core, reference.shape());
    if (found.box.empty()) return {};
    const Tensor expected(DType::kI32, found.box.extent);
    reference.read_box(found.box, expected.view());
    return count_classes(found.view(), expected.view(), dataset_.plan.classes(),
                         dataset_.plan.ignore_label.value_or(-1));
  }

  const PreparedDataset& dataset_;
  std::vector<std::size_t> cases_;
  OverlapMetric metric_;
  std::int64_t multiple_;
  std::vector<std::vector<double>> scores_by_class_;  // of each case
};

}  // namespace

std::unique_ptr<ValidationPass> validate_volumes(const PreparedDataset& dataset, std::vector<std::size_t> cases,
                                                 const OverlapMetric& metric, std::int64_t multiple) {
  return std::make_unique<VolumeValidation>(dataset, std::move(cases), metric, multiple);
}

}  // namespace voxshard
