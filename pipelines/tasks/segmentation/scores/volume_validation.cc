#include "pipelines/tasks/segmentation/scores/volume_validation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "io/datasets/annotated.h"
#include "io/volume/mapped_volume.h"
#include "libcore/metrics/dice.h"
#include "pipelines/engine/worst_and_best.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/case_slices.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/sides/side_split.h"

namespace voxshard {
namespace {

/// The note of a run is the index of its case.
class VolumeValidation : public ValidationPass {
 public:
  VolumeValidation(const PreparedDataset& dataset, std::vector<std::size_t> cases, const OverlapMetric& metric,
                   std::int64_t multiple, const SideRule& sides)
      : dataset_(dataset),
        cases_(std::move(cases)),
        metric_(metric),
        multiple_(multiple),
        sides_(sides),
        scores_by_class_(static_cast<std::size_t>(dataset.plan.classes())) {}

  CoreWork work() const override {
    return {.fill = [this](const nlohmann::json& note, const InputInfo&,
                           const TensorView& box) { fill(case_of(note), box); },
            .serialise =
                [this](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
                  const PreparedCase& item = case_of(note);
                  return sides_.empty() ? serialised(item, cores, core)
                                        : labels_of_core(cores, core, shape_of(item)).labels;
                }};
  }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (const std::size_t index : cases_)
      turns.push_back({prediction_extents(dataset_.cases[index].shape, multiple_), {index}});
    return turns;
  }
  std::string name(std::size_t input) const override { return dataset_.cases[input].id; }

  std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) override {
    const PreparedCase& item = dataset_.cases.at(turn.inputs.front());
    const SlicePlan slices(item.shape);
    std::vector<std::uint8_t> labels(kept_.keeps_any() ? static_cast<std::size_t>(slices.samples()) : 0);
    const std::vector<ClassCounts> all = sides_.empty() ? counts_of_cores(session, turn, slices, labels)
                                                        : counts_of_sides(session, turn, slices, labels);
    ValidatedCase scores{.name = item.id, .by_class = {}};
    for (std::size_t c = 1; c < all.size(); ++c) {
      const bool counts = is_annotated(item.annotated, static_cast<int>(c));
      scores.by_class.push_back(counts ? metric_.of(all[c]) : std::numeric_limits<double>::quiet_NaN());
      if (counts) scores_by_class_[c].push_back(scores.by_class.back());
    }
    if (!labels.empty()) keep(nan_mean(scores.by_class), slices, item, labels);
    scored_.push_back(std::move(scores));
    return {};
  }

  Validation result() const override {
    Validation validation;
    double sum = 0;
    int counted = 0;
    for (std::size_t c = 1; c < scores_by_class_.size(); ++c) {
      const double mean = nan_mean(scores_by_class_[c]);
      validation.by_class.push_back(mean), validation.classes.push_back(dataset_.plan.class_names.at(c));
      if (std::isfinite(mean)) sum += mean, ++counted;
    }
    if (counted > 0) validation.score = sum / counted;
    validation.cases = scored_;
    if (!kept_.keeps_any()) return validation;
    validation.slices = nlohmann::ordered_json::array();
    for (const auto& one : kept_.worst_first()) validation.slices.push_back(one.shown);
    return validation;
  }
  void keep_slices(std::int64_t cases) override {
    constexpr int kMostClasses = 256;  // a sample is a byte
    kept_.keep(dataset_.plan.classes() <= kMostClasses ? cases : 0);
  }
  std::string nothing_read() const override { return "volumes that validate can be read: the score of 0 says nothing"; }

 private:
  std::vector<ClassCounts> counts_of_cores(Session& session, const PredictionTurn& turn, const SlicePlan& slices,
                                           std::vector<std::uint8_t>& labels) const {
    const Program& program = session.plan(turn.extents, Phase::kPredict).program;
    std::vector<std::vector<ClassCounts>> by_core(static_cast<std::size_t>(program.mesh().cores()));
    run_cores(session, work(),
              {.extents = turn.extents,
               .note = turn.inputs.front(),
               .take = [&](std::size_t core, std::span<const std::byte> bytes) {
                 by_core[core] = take_counts(bytes);
                 if (!labels.empty()) take_labels(bytes, slices, labels);
               }});
    std::vector<ClassCounts> all(scores_by_class_.size());
    for (const auto& counts : by_core)
      for (std::size_t c = 0; c < counts.size(); ++c) all.at(c) += counts[c];
    return all;
  }

  /// Splits the joined classes before they are counted.
  std::vector<ClassCounts> counts_of_sides(Session& session, const PredictionTurn& turn, const SlicePlan& slices,
                                           std::vector<std::uint8_t>& sampled) const {
    const PreparedCase& item = dataset_.cases.at(turn.inputs.front());
    const MappedVolume reference = MappedVolume::open(item.label);
    const Program& program = session.plan(turn.extents, Phase::kPredict).program;
    std::vector<LabelledBox> boxes(static_cast<std::size_t>(program.mesh().cores()));
    run_cores(session, work(),
              {.extents = turn.extents,
               .note = turn.inputs.front(),
               .take = [&](std::size_t core, std::span<const std::byte> bytes) {
                 boxes[core] = labels_from(program, core, reference.shape(), bytes);
               }});
    SideSplit split(sides_, reference.geometry());
    for (LabelledBox& found : boxes)
      if (!found.box.empty()) split.see(found.view());
    std::vector<ClassCounts> all(scores_by_class_.size());
    for (LabelledBox& found : boxes) {
      if (found.box.empty()) continue;
      const Tensor labels(DType::kI32, found.box.extent), expected(DType::kI32, found.box.extent);
      split.split(found.view(), labels.view());
      const Dims strides = dense_strides(found.box.extent);
      if (!sampled.empty())
        slices.each_in(found.box, [&](std::size_t sample, std::int64_t d, std::int64_t h, std::int64_t w) {
          const Dims& begin = found.box.begin;
          sampled[sample] = static_cast<std::uint8_t>(
              labels.as<std::int32_t>()[(d - begin[0]) * strides[0] + (h - begin[1]) * strides[1] + w - begin[2]]);
        });
      reference.read_box(found.box, expected.view());
      const std::vector<ClassCounts> counts =
          count_classes(labels.view(), expected.view(), dataset_.plan.classes(), ignored());
      for (std::size_t c = 0; c < counts.size(); ++c) all.at(c) += counts[c];
    }
    return all;
  }

  int ignored() const { return dataset_.plan.ignore_label.value_or(-1); }
  static Shape shape_of(const PreparedCase& item) { return MappedVolume::open(item.label).shape(); }
  const PreparedCase& case_of(const nlohmann::json& note) const { return dataset_.cases.at(note.get<std::size_t>()); }

  void fill(const PreparedCase& item, const TensorView& box) const {
    const Shape shape = MappedVolume::open(item.images.front()).shape();
    fill_image(
        box,
        {.shape = shape, .air = air_values(dataset_.plan), .read = [&](std::size_t channel, const TensorView& inside) {
           MappedVolume::open(item.images.at(channel)).read_box(inside.box, inside);
         }});
  }

  /// Returns the counts of a core's box and, where slices are kept, the box and the labels of its samples.
  std::vector<std::byte> serialised(const PreparedCase& item, const CoreSet& cores, std::size_t core) const {
    const MappedVolume reference = MappedVolume::open(item.label);
    LabelledBox found = labels_of_core(cores, core, reference.shape());
    if (found.box.empty()) return {};
    const Tensor expected(DType::kI32, found.box.extent);
    reference.read_box(found.box, expected.view());
    const std::vector<ClassCounts> counts =
        count_classes(found.view(), expected.view(), dataset_.plan.classes(), ignored());
    const auto counted = std::as_bytes(std::span(counts));
    std::vector<std::byte> bytes(counted.begin(), counted.end());
    if (!kept_.keeps_any()) return bytes;
    PlacedBox place{};
    for (int a = 0; a < 3; ++a) place.begin[a] = found.box.begin[a], place.extent[a] = found.box.extent[a];
    const auto placed = std::as_bytes(std::span(&place, 1));
    bytes.insert(bytes.end(), placed.begin(), placed.end());
    const Dims strides = dense_strides(found.box.extent);
    SlicePlan(reference.shape()).each_in(found.box, [&](std::size_t, std::int64_t d, std::int64_t h, std::int64_t w) {
      bytes.push_back(found.labels[(d - found.box.begin[0]) * strides[0] + (h - found.box.begin[1]) * strides[1] +
                                   (w - found.box.begin[2]) * strides[2]]);
    });
    return bytes;
  }

  /// The place of a core's box in serialised().
  struct PlacedBox {
    std::int64_t begin[3], extent[3];
  };

  std::size_t count_bytes() const { return sizeof(ClassCounts) * static_cast<std::size_t>(dataset_.plan.classes()); }

  std::vector<ClassCounts> take_counts(std::span<const std::byte> bytes) const {
    if (bytes.empty()) return {};
    ensure(bytes.size() >= count_bytes(), "a core counts every class, or has nothing of the volume");
    std::vector<ClassCounts> counts(static_cast<std::size_t>(dataset_.plan.classes()));
    std::copy_n(bytes.data(), count_bytes(), reinterpret_cast<std::byte*>(counts.data()));
    return counts;
  }

  /// Writes the labels of a core's samples to their places. Threads: several cores at once, of different samples.
  void take_labels(std::span<const std::byte> bytes, const SlicePlan& plan, std::vector<std::uint8_t>& labels) const {
    if (bytes.empty()) return;
    PlacedBox place{};
    bytes = bytes.subspan(count_bytes());
    ensure(bytes.size() >= sizeof place, "a core gives the place of its samples");
    std::copy_n(bytes.data(), sizeof place, reinterpret_cast<std::byte*>(&place));
    bytes = bytes.subspan(sizeof place);
    Box box{.begin = {0, 0, 0}, .extent = {0, 0, 0}};
    for (int a = 0; a < 3; ++a) box.set(a, place.begin[a], place.begin[a] + place.extent[a]);
    std::size_t at = 0;
    plan.each_in(box, [&](std::size_t sample, std::int64_t, std::int64_t, std::int64_t) {
      ensure(at < bytes.size(), "a core gives a label for each of its samples");
      labels[sample] = static_cast<std::uint8_t>(bytes[at++]);
    });
  }

  /// Keeps the slices of the worst cases and of the best one.
  void keep(double mean, const SlicePlan& plan, const PreparedCase& item, std::span<const std::uint8_t> labels) {
    if (std::isfinite(mean))
      kept_.add(metric_.higher_is_better ? -mean : mean,
                [&] { return slices_json(plan, item, dataset_.plan, labels); });
  }

  const PreparedDataset& dataset_;
  std::vector<std::size_t> cases_;
  OverlapMetric metric_;
  std::int64_t multiple_;
  SideRule sides_;
  std::vector<std::vector<double>> scores_by_class_;  // of each case
  std::vector<ValidatedCase> scored_;                 // the same by case
  WorstAndBest<nlohmann::ordered_json> kept_;         // slices
};

}  // namespace

std::unique_ptr<ValidationPass> validate_volumes(const PreparedDataset& dataset, std::vector<std::size_t> cases,
                                                 const OverlapMetric& metric, std::int64_t multiple,
                                                 const SideRule& sides) {
  return std::make_unique<VolumeValidation>(dataset, std::move(cases), metric, multiple, sides);
}

}  // namespace voxshard
