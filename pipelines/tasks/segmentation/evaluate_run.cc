#include "pipelines/tasks/segmentation/evaluate_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "io/files/content_hash.h"
#include "io/files/folder_lock.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/kernels/loss_terms.h"
#include "libcore/ranks/alike.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/predict_volume.h"
#include "pipelines/tasks/segmentation/sample_source.h"
#include "pipelines/tasks/segmentation/volume_task.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// The model's loss and classes; only the reference U-Net's are known.
const UNetConfig& config_of(const ModelSpec& spec) {
  const auto* config = std::any_cast<UNetConfig>(&spec.config);
  if (config == nullptr || spec.spatial_axes() != 3)
    throw Error(ErrorKind::kConfig, "[evaluate] only a unet3d is evaluated on volumes, got " + spec.model_name());
  return *config;
}

class Evaluation {
 public:
  Evaluation(const EvaluateRunOptions& options, TrainedRun run, const PredictingProcess& process, Progress& progress)
      : o_(options),
        progress_(progress),
        lock_(FolderLock::reading(options.work)),
        dataset_(read_prepared(options.work)),
        cases_(evaluated_cases(dataset_, options.fold)),
        source_(dataset_, cases_, {.crop = options.crop, .intensity_scale = 0, .noise = 0}),
        spec_(run.spec),
        config_(config_of(spec_)),
        pool_(options.threads) {
    const Mesh& mesh = spec_.cut.mesh;
    if (config_.classes != dataset_.plan.classes())
      throw Error(ErrorKind::kConfig, "[evaluate] the run's model has " + std::to_string(config_.classes) +
                                          " classes, but " + options.work.string() + " has " +
                                          std::to_string(dataset_.plan.classes()));
    if (nlohmann::json(to_json(dataset_.plan)) != run.preparation)
      progress.warn(
          "the data were prepared otherwise than those that the run was trained on (plans.json); prepare them "
          "together, or the numbers say little");
    scores_ = {.checkpoint = run.file,
               .step = run.step,
               .loss_name = kLossNames[static_cast<std::size_t>(config_.loss)],
               .mesh = mesh,
               .batch = options.batch > 0 ? options.batch : mesh.replicas, .seen = seen_cases(dataset_, cases_, run.trained_on)};
    if (scores_.batch % mesh.replicas != 0)
      throw Error(ErrorKind::kConfig, "[evaluate] the batch " + std::to_string(scores_.batch) +
                                          " must be divisible by the " + std::to_string(mesh.replicas) + " replicas");
    session_ = prediction_session(
        run,
        {.core_bytes = options.core_budget_bytes, .process_bytes = left_of(process.budget_bytes, process.base_bytes)},
        pool_, options.transport);
    session_->set_stop(progress_.stop_check());
  }

  RunScores go(const PredictingProcess& process) {
    require_same_cases();
    const auto evaluated = [&] { return evaluate(process), std::string(); };
    lead(*session_, work(), process, evaluated, &scores_.memory);
    return std::move(scores_);
  }

 private:
  void evaluate(const PredictingProcess& process) {
    plan(process);
    const Stopwatch watch;
    const std::int64_t steps = this->steps();
    progress_.update("evaluate", 0, steps, "");
    for (std::int64_t step = 0; step < steps; ++step) {
      throw_if_stopped(progress_);
      scores_.batches.push_back(one_batch(step));
      progress_.update("evaluate", step + 1, steps, "loss " + fixed_text(scores_.batches.back().loss(), 4));
    }
    average();
    scores_.seconds = watch.seconds();
  }

  /// Other ranks read their boxes of the cases that rank 0 names. Errors: kConfig when theirs are others.
  void require_same_cases() {
    if (session_->transport().ranks() == 1) return;
    const std::string cases = joined(cases_, "\n", [&](std::size_t index) {
      return dataset_.cases[index].id + " " + to_string(dataset_.cases[index].shape);
    });
    require_alike(session_->transport(), {{"the number of cases", std::to_string(cases_.size())},
                                          {"the names and shapes of the cases (a hash)", content_hash(cases)}});
  }

  std::int64_t whole_batches() const { return static_cast<std::int64_t>(cases_.size()) / scores_.batch; }
  std::int64_t steps() const { return o_.steps > 0 ? o_.steps : whole_batches(); }

  /// Every size there is, and what is dropped. Errors: kNoCase when nothing is left; kBudget.
  void plan(const PredictingProcess& process) {
    if (steps() == 0)
      throw Error(ErrorKind::kNoCase, "[evaluate] " + std::to_string(cases_.size()) + " cases do not fill a batch of " +
                                          std::to_string(scores_.batch) +
                                          "; give a smaller {eval_batch_size}, or {eval_steps}, which repeats them");
    if (o_.steps == 0)
      for (auto i = static_cast<std::size_t>(whole_batches() * scores_.batch); i < cases_.size(); ++i)
        scores_.dropped.push_back(dataset_.cases[cases_[i]].id);
    if (!scores_.dropped.empty())
      progress_.log(std::to_string(scores_.dropped.size()) + " of " + std::to_string(cases_.size()) +
                    " cases do not fill a batch of " + std::to_string(scores_.batch) + " and are dropped");
    std::set<Shape> sizes;
    const auto period = static_cast<std::int64_t>(cases_.size());  // then batches repeat, at the latest
    for (std::int64_t step = 0; step < std::min(steps(), period); ++step) sizes.insert(source_.extents(batch(step)));
    const PlannedBytes planned =
        plan_predictions(*session_, sizes, std::to_string(steps()) + " batches", process, progress_);
    if (!planned.refused.empty()) throw planned.refused.begin()->second;
    for (const Shape& extents : sizes) {
      const std::int64_t voxels = element_count(extents);  // image and labels of each core's box on their way
      scores_.memory =
          widest(scores_.memory, planned.held + planned.cores(extents) +
                                     ProcessPlan{{MemoryPart::kFeeding, 8 * voxels + source_.mapped_bytes(extents)}});
    }
  }

  /// The samples of a step, around the centres of their volumes, all as wide as the widest.
  std::vector<Sample> batch(std::int64_t step) const {
    std::vector<Sample> samples;
    Dims widest = Dims::filled(3, 0);
    const auto shape = [&](std::size_t item) { return dataset_.cases[cases_[item]].shape; };
    for (std::int64_t i = 0; i < scores_.batch; ++i) {
      Sample s;
      s.item = static_cast<std::size_t>((step * scores_.batch + i) % static_cast<std::int64_t>(cases_.size()));
      for (int a = 0; a < 3; ++a)
        widest[a] = std::max(widest[a],
                             o_.crop.empty() ? prediction_extents(shape(s.item), spec_.multiple())[a + 1] : o_.crop[a]);
      samples.push_back(s);
    }
    for (Sample& s : samples) {
      s.size = widest;
      for (int a = 0; a < 3; ++a) {
        const std::int64_t room = widest[a] - shape(s.item)[a];
        s.begin[static_cast<std::size_t>(a)] = room >= 0 ? -(room / 2) : (-room) / 2;
      }
    }
    return samples;
  }

  Shape sums_shape() const { return {scores_.batch, sums_per_group(config_.classes)}; }

  /// Of each core: each sample's sums and its voxels' scores. The note of a run is its step.
  RankWork work() const {
    const auto samples = [this](const nlohmann::json& note) { return batch(note.get<std::int64_t>()); };
    return {.fill = [=, this](const nlohmann::json& note,
                              const TensorView& box) { source_.fill(samples(note), input::Image{}, box); },
            .pack = [=, this](const nlohmann::json& note, const CoreSet& cores,
                              std::size_t core) { return packed(count(samples(note), cores, core)); },
            .done = [=, this](const nlohmann::json& note) { source_.done_with(samples(note)); }};
  }

  struct CoreScores {
    Tensor sums;  // a row per sample
    VoxelScores voxels;
  };
  static_assert(std::is_trivially_copyable_v<VoxelScores>);

  CoreScores count(const std::vector<Sample>& samples, const CoreSet& cores, std::size_t core) const {
    CoreScores scores{Tensor(DType::kF64, sums_shape()), {}};
    const TensorView logits = cores.owned(cores.executable().program.graph.outputs.at("logits"), core);
    if (logits.box.empty()) return scores;
    Box box = logits.box;
    box.extent[4] = 1;
    const Tensor labels(DType::kI32, box.extent);
    const TensorView view = dense_view(labels.data(), DType::kI32, box);
    source_.fill(samples, input::Labels{.classes = config_.classes}, view);
    scores.voxels = voxel_scores(logits, view);
    const Box rows = {{box.begin[0], 0}, {box.extent[0], sums_shape()[1]}};
    kernels_.sums(logits, view, scores.sums.view().sub(rows),
                  {.classes = config_.classes, .groups = scores_.batch, .batch = scores_.batch});
    return scores;
  }

  static std::vector<std::byte> packed(const CoreScores& scores) {
    const auto sums = static_cast<std::size_t>(scores.sums.bytes());
    std::vector<std::byte> bytes(sizeof scores.voxels + sums);
    std::memcpy(bytes.data(), &scores.voxels, sizeof scores.voxels);
    std::memcpy(bytes.data() + sizeof scores.voxels, scores.sums.data(), sums);
    return bytes;
  }

  CoreScores unpacked(std::span<const std::byte> bytes) const {
    CoreScores scores{Tensor(DType::kF64, sums_shape()), {}};
    ensure(std::ssize(bytes) == scores.sums.bytes() + static_cast<std::int64_t>(sizeof scores.voxels),
           "a core counts each sample of a batch");
    std::memcpy(&scores.voxels, bytes.data(), sizeof scores.voxels);
    std::memcpy(scores.sums.data(), bytes.data() + sizeof scores.voxels, static_cast<std::size_t>(scores.sums.bytes()));
    return scores;
  }

  BatchScores one_batch(std::int64_t step) {
    const std::vector<Sample> samples = batch(step);
    const Mesh& mesh = spec_.cut.mesh;
    std::vector<CoreScores> by_core(static_cast<std::size_t>(mesh.cores()));
    run_led(*session_, work(),
            {.extents = source_.extents(samples),
             .note = step,
             .take = [&](std::size_t core, std::span<const std::byte> bytes) { by_core[core] = unpacked(bytes); }});
    BatchScores scores;
    for (const Sample& s : samples) scores.cases.push_back(dataset_.cases[cases_[s.item]].id);
    const Tensor all(DType::kF64, sums_shape());
    for (const CoreScores& core : by_core) {
      scores.voxels += core.voxels;
      for (std::int64_t k = 0; k < all.count(); ++k) all.as<double>()[k] += core.sums.as<double>()[k];
    }
    const std::int64_t share = scores_.batch / mesh.replicas;
    for (std::int64_t r = 0; r < mesh.replicas; ++r)
      scores.losses.push_back(loss_of(all, r * share, share, config_.loss));
    scores.adaptive_dice32 = loss_of(all, 0, scores_.batch, LossKind::kAdaptiveDice32);
    return scores;
  }

  /// The loss of `samples` samples from row `first` of the sums on: theirs together, or the mean of each one's.
  double loss_of(const Tensor& sums, std::int64_t first, std::int64_t samples, LossKind kind) const {
    const std::int64_t numbers = sums.shape()[1], groups = is_per_sample(kind) ? samples : 1;
    const Tensor grouped(DType::kF64, {groups, numbers}), loss(DType::kF64, {1});
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::int64_t k = 0; k < numbers; ++k)
        grouped.as<double>()[n * groups / samples * numbers + k] += sums.as<double>()[(first + n) * numbers + k];
    kernels_.loss(grouped.view(), loss.view(),
                  {.kind = kind, .classes = config_.classes, .groups = groups, .batch = samples});
    return loss.as<double>()[0];
  }

  void average() {
    VoxelScores voxels;
    const auto n = static_cast<double>(scores_.batches.size());
    for (const BatchScores& b : scores_.batches) {
      scores_.loss += b.loss() / n;
      scores_.loss_replica_0 += b.losses.front() / n;
      scores_.adaptive_dice32 += b.adaptive_dice32 / n;
      voxels += b.voxels;
    }
    scores_.accuracy = voxels.accuracy(), scores_.cross_entropy = voxels.mean_cross_entropy();
  }

  const EvaluateRunOptions& o_;
  Progress& progress_;
  FolderLock lock_;
  PreparedDataset dataset_;
  std::vector<std::size_t> cases_;
  SampleSource source_;
  ModelSpec spec_;
  UNetConfig config_;
  WorkerPool pool_;
  const SegmentationKernels& kernels_ = segmentation_kernels(KernelSet::kFast);
  std::unique_ptr<Session> session_;
  RunScores scores_;
};

}  // namespace

double BatchScores::loss() const {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

RunScores evaluate_run(const EvaluateRunOptions& options, TrainedRun run, const PredictingProcess& process,
                       Progress& progress) {
  return Evaluation(options, std::move(run), process, progress).go(process);
}

Json to_json(const RunScores& s) {
  Json json = {{"loss", json_number(s.loss)},
               {"accuracy", json_number(s.accuracy)},
               {"adaptive_dice32", json_number(s.adaptive_dice32)},
               {"categorical_crossentropy", json_number(s.cross_entropy)},
               {"global_step", s.step},
               {"rule",
                "means over whole batches: loss over replicas and batches, adaptive_dice32 over batches, accuracy "
                "and categorical_crossentropy over voxels; norms by their running statistics"},
               {"loss_name", s.loss_name},
               {"loss_replica_0", json_number(s.loss_replica_0)},
               {"checkpoint", s.checkpoint.string()},
               {"eval_batch_size", s.batch},
               {"eval_steps", s.batches.size()},
               {"replicas", s.mesh.replicas},
               {"partition", to_string(s.mesh.partition)},
               {"dropped", s.dropped},
               {"seconds", s.seconds},
               {"trained_on", s.seen.known ? Json(s.seen.trained_on.size()) : Json(nullptr)},
               {"batches", Json::array()}};
  for (const BatchScores& b : s.batches)
    json["batches"].push_back({{"cases", b.cases},
                               {"loss", json_number(b.loss())},
                               {"accuracy", json_number(b.voxels.accuracy())},
                               {"adaptive_dice32", json_number(b.adaptive_dice32)},
                               {"categorical_crossentropy", json_number(b.voxels.mean_cross_entropy())}});
  return json;
}

std::string to_text(const RunScores& s) {
  std::vector<std::vector<std::string>> rows = {{"", "value"},
                                                {"loss (" + s.loss_name + ")", fixed_text(s.loss, 6)},
                                                {"accuracy", fixed_text(s.accuracy, 6)},
                                                {"adaptive_dice32", fixed_text(s.adaptive_dice32, 6)},
                                                {"categorical_crossentropy", fixed_text(s.cross_entropy, 6)}};
  if (s.mesh.replicas > 1) rows.push_back({"loss of replica 0", fixed_text(s.loss_replica_0, 6)});
  std::string text = seen_text(s.seen) + text_table(rows) + std::to_string(s.batches.size()) + " batches of " + std::to_string(s.batch) +
                     " over " + std::to_string(s.mesh.replicas) + " x " + to_string(s.mesh.partition) +
                     " cores, global step " + std::to_string(s.step) + " of " + s.checkpoint.string();
  if (!s.dropped.empty())
    text += "; dropped, as they fill no batch: " + joined(s.dropped, ", ", [](const std::string& id) { return id; });
  return text + "\n";
}

}  // namespace voxshard
