#include "pipelines/tasks/segmentation/evaluate_run.h"

#include <algorithm>

#include "io/output/folder_lock.h"
#include "libcore/kernels/loss_terms.h"
#include "libcore/metrics/voxel_scores.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/sides/side_rule.h"
#include "pipelines/tasks/segmentation/volume_task.h"

namespace voxshard {
namespace {

/// Returns the config of the reference U-Net, with its loss and classes; other models are refused.
const UNetConfig& volume_config(const ModelSpec& spec) {
  const auto* config = std::any_cast<UNetConfig>(&spec.config);
  if (config == nullptr || spec.spatial_axes() != 3)
    throw Error(ErrorKind::kConfig, "[evaluate] only a unet3d is evaluated on volumes, got " + spec.model_name());
  return *config;
}

/// Returns the classes of the run's model; those of the data alone where they are not those of the run.
JoinedClasses joined_classes(const TrainedRun& run, int classes) {
  const SideRule sides = side_rule_of(run.preparation);
  return sides.classes == classes ? sides.joined() : JoinedClasses(classes, {});
}

class VolumeEvaluation : public RunEvaluation {
 public:
  VolumeEvaluation(const EvaluateRunOptions& options, const TrainedRun& run, Progress& progress)
      : crop_(options.crop),
        lock_(FolderLock::reading(options.work)),
        dataset_(read_prepared(options.work)),
        cases_(evaluated_cases(dataset_, options.fold)),
        joined_(joined_classes(run, dataset_.plan.classes())),
        source_(dataset_, cases_, {.crop = options.crop, .intensity_scale = 0, .noise = 0, .joined = joined_}),
        config_(volume_config(run.spec)),
        multiple_(run.spec.multiple()),
        by_core_(static_cast<std::size_t>(run.spec.cut.mesh.cores())) {
    if (config_.classes != joined_.classes())
      throw Error(ErrorKind::kConfig, "[evaluate] the run's model has " + std::to_string(config_.classes) +
                                          " classes, but " + options.work.string() + " has " +
                                          std::to_string(dataset_.plan.classes()) +
                                          (joined_.any() ? ", of which left and right are joined" : ""));
    if (config_.channels != std::ssize(dataset_.plan.channels))
      throw Error(ErrorKind::kConfig, "[evaluate] the run's model reads " + std::to_string(config_.channels) +
                                          " channels, but " + options.work.string() + " has " +
                                          std::to_string(dataset_.plan.channels.size()));
    nlohmann::json prepared = run.preparation;
    if (prepared.is_object()) prepared.erase(kTrainedClasses), prepared.erase(kUsualCases);
    if (nlohmann::json(to_json(dataset_.plan)) != prepared)
      progress.warn(
          "the data were prepared otherwise than those that the run was trained on (plans.json); prepare them "
          "together, or the numbers say little");
  }

  std::string loss_name() const override { return kLossNames[static_cast<std::size_t>(config_.loss)]; }
  std::string rule() const override {
    return std::string("adaptive_dice32 over batches, accuracy and categorical_crossentropy over voxels") +
           (joined_.any() ? "; left and right are one class where the run was trained so" : "");
  }

  std::vector<std::string> cases() const override {
    std::vector<std::string> names;
    for (const std::size_t index : cases_) names.push_back(dataset_.cases[index].id);
    return names;
  }
  SeenInputs seen(const TrainedOn& trained_on) const override { return seen_cases(dataset_, cases_, trained_on); }

  Shape extents(std::span<const std::size_t> cases) const override { return source_.extents(centred(cases)); }
  /// The memory of image and labels of each core's box while they are fed.
  ProcessPlan batch_plan(const Shape& extents) const override {
    return {
        {MemoryPart::kFeeding, 4 * (config_.channels + 1) * element_count(extents) + source_.mapped_bytes(extents)}};
  }
  void load(std::span<const std::size_t> cases, std::int64_t, std::int64_t, WorkerPool&) override {
    batch_ = centred(cases);
  }
  void fill(const InputInfo& input, const TensorView& box) const override { source_.fill(batch_, input, box); }
  void unload() override { source_.done_with(batch_); }

  SerialiseCore find() const override {
    return values_of_cores<VoxelScores>([](const nlohmann::json&, const CoreSet& cores, std::size_t core) {
      const Graph& graph = cores.executable().program.graph;
      const TensorView logits = cores.owned(graph.outputs.at("logits"), core);
      if (logits.box.empty()) return std::vector<VoxelScores>();
      return std::vector{voxel_scores(logits, cores.owned(graph.outputs.at("labels"), core))};
    });
  }
  TakeCore take() override {
    return take_values<VoxelScores>([this](std::size_t core, std::span<const VoxelScores> found) {
      by_core_[core] = found.empty() ? VoxelScores() : found.front();
    });
  }

  double loss_of(const TensorView& sums) const override { return loss(sums, config_.loss); }

  std::vector<NamedScore> score(std::span<const std::size_t>, const TensorView& sums) override {
    VoxelScores voxels;
    for (const VoxelScores& scores : by_core_) voxels += scores;
    all_ += voxels;
    const Tensor whole(DType::kF64, {1, sums.extent()[1]});  // of the batch
    for (std::int64_t k = 0; k < sums.count(); ++k)
      whole.as<double>()[k % sums.extent()[1]] +=
          sums.as<double>()[k / sums.extent()[1] * sums.strides[0] + k % sums.extent()[1]];
    adaptive_dice32_.push_back(loss(whole.view(), LossKind::kAdaptiveDice32));
    return named(voxels, adaptive_dice32_.back());
  }

  std::vector<NamedScore> totals() const override {
    double mean = 0;
    for (const double dice : adaptive_dice32_) mean += dice / static_cast<double>(adaptive_dice32_.size());
    return named(all_, mean);
  }

 private:
  static std::vector<NamedScore> named(const VoxelScores& voxels, double adaptive_dice32) {
    return {{"accuracy", voxels.accuracy()},
            {"adaptive_dice32", adaptive_dice32},
            {"categorical_crossentropy", voxels.mean_cross_entropy()}};
  }

  /// Returns the samples of a batch, around the centres of their volumes, all with the largest extents among them.
  std::vector<Sample> centred(std::span<const std::size_t> cases) const {
    std::vector<Sample> samples;
    Dims widest = Dims::filled(3, 0);
    const auto shape = [&](std::size_t item) { return dataset_.cases[cases_[item]].shape; };
    for (const std::size_t item : cases) {
      Sample s;
      s.item = item;
      const Shape whole = prediction_extents(shape(item), multiple_);
      for (int a = 0; a < 3; ++a) widest[a] = std::max(widest[a], crop_.empty() ? whole[a + 1] : crop_[a]);
      samples.push_back(s);
    }
    for (Sample& s : samples) {
      s.size = widest;
      for (int a = 0; a < 3; ++a) {
        const std::int64_t room = widest[a] - shape(s.item)[a];
        s.begin[a] = room >= 0 ? -(room / 2) : (-room) / 2;
      }
    }
    return samples;
  }

  /// Returns the loss from the sums of one group.
  double loss(const TensorView& sums, LossKind kind) const {
    const Tensor value(DType::kF64, {1});
    segmentation_kernels(KernelSet::kFast)
        .loss(sums, value.view(), {.kind = kind, .classes = config_.classes, .groups = 1, .batch = 1});
    return value.as<double>()[0];
  }

  Dims crop_;
  FolderLock lock_;  // keeps `prepare` from rewriting the folder while its volumes are read
  PreparedDataset dataset_;
  std::vector<std::size_t> cases_;
  JoinedClasses joined_;
  SampleSource source_;
  UNetConfig config_;
  std::int64_t multiple_;
  std::vector<Sample> batch_;  // the batch that was loaded last
  std::vector<VoxelScores> by_core_;
  VoxelScores all_;
  std::vector<double> adaptive_dice32_;  // by batch
};

}  // namespace

std::unique_ptr<RunEvaluation> evaluate_volumes(const EvaluateRunOptions& options, const TrainedRun& run,
                                                Progress& progress) {
  return std::make_unique<VolumeEvaluation>(options, run, progress);
}

}  // namespace voxshard
