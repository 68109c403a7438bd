#include "pipelines/tasks/classification/evaluate_items.h"

#include <algorithm>
#include <mutex>

#include "libcore/kernels/loss_terms.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/classification/samples/class_source.h"
#include "pipelines/tasks/classification/samples/class_statistics.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTopFive = 5;

/// The number of classes that the model finds likelier than the true one; of equal logits the lower class is the
/// likelier.
struct ItemScore {
  std::int64_t sample = 0, likelier = 0;
};

/// Returns the scores of the samples whose logits a core holds.
///   logits  (N, 1, .., classes)   labels  (N, 1, .., 1) i32
std::vector<ItemScore> item_scores(const TensorView& logits, const TensorView& labels) {
  std::vector<ItemScore> scores;
  if (logits.box.empty()) return scores;
  for (std::int64_t n = 0; n < logits.extent()[0]; ++n) {
    const std::int64_t row = n * logits.strides[0];
    const auto label = static_cast<std::int64_t>(load(labels, n * labels.strides[0]));
    const double own = load(logits, row + label);
    ItemScore score{.sample = logits.box.begin[0] + n};
    for (std::int64_t c = 0; c < logits.extent().back(); ++c) {
      const double other = load(logits, row + c);
      if (other > own || (other == own && c < label)) ++score.likelier;
    }
    scores.push_back(score);
  }
  return scores;
}

class ItemEvaluation : public RunEvaluation {
 public:
  ItemEvaluation(const EvaluateItemsOptions& options, const TrainedRun& run, const RunContext& context)
      : context_(context), preparation_(class_preparation_from_json(run.preparation)) {
    reading_ = {.items = preparation_.items,
                .clip_length = preparation_.clip_length,
                .clip_stride = preparation_.clip_stride,
                .most_pixels = options.most_pixels,
                .formats = options.formats,
                .kinds = options.kinds,
                .best_series = options.best_series};
    set_ = read_unseen_classes(options.data, reading_, &preparation_.classes);
    std::erase_if(set_.items, [&](const ClassItem& item) {
      return !in_case_boundary(item.name, set_.failures, [&] { static_cast<void>(canvas_of(item, preparation_)); });
    });
    if (set_.pixels == nullptr)  // IDX images are in memory and not damaged
      look_at_items(set_, preparation_, reading_,
                    {.threads = context.threads(),
                     .memory_bytes = context.left_bytes(),
                     .stop = context.progress().stop_check()});
    for (const CaseFailure& failure : set_.failures)
      context.progress().warn(failure.id + ": " + failure.code + " " + failure.message + " [left out]");
    for (const std::string& note : set_.notes) context.progress().log(note);
    require_items(set_, "evaluate", "score");
    source_.emplace(set_, preparation_, reading_, 0);
  }

  std::string loss_name() const override { return kLossNames[static_cast<std::size_t>(LossKind::kCrossEntropy)]; }
  std::string rule() const override { return "top_1_accuracy and top_5_accuracy over items"; }
  std::vector<std::string> cases() const override { return names_of(set_); }
  std::vector<CaseFailure> failures() const override { return set_.failures; }

  SeenInputs seen(const TrainedOn& trained_on) const override {
    std::vector<HashedCase> inputs;
    for (const ClassItem& item : set_.items) {
      if (set_.pixels == nullptr)
        inputs.push_back(hashed_item(item, preparation_.items, item.name));
      else
        inputs.push_back({.name = item.name, .files = {}, .part = pixels_key(set_, item)});
    }
    SeenInputs seen;
    wanted_inputs({trained_on, false, seen, context_.pool(), context_.progress()}, inputs);
    return seen;
  }

  Shape extents(std::span<const std::size_t> cases) const override { return source_->extents_of(cases); }
  ProcessPlan batch_plan(const Shape& extents) const override { return source_->plan(extents, context_.threads()); }
  void load(std::span<const std::size_t> cases, std::int64_t begin, std::int64_t end, WorkerPool& pool) override {
    source_->share(begin, end);
    source_->load_items(cases, pool);
    likelier_.assign(cases.size(), 0);
  }
  void fill(const InputInfo& input, const TensorView& box) const override { source_->fill(input, box); }

  SerialiseCore find() const override {
    return values_of_cores<ItemScore>([](const nlohmann::json&, const CoreSet& cores, std::size_t core) {
      const Graph& graph = cores.executable().program.graph;
      return item_scores(view_of(cores, graph.outputs.at("logits"), core),
                         view_of(cores, graph.outputs.at("labels"), core));
    });
  }
  /// Returns the function that stores the scores; cores that hold the logits of the same sample give equal values.
  TakeCore take() override {
    return take_values<ItemScore>([this](std::size_t, std::span<const ItemScore> found) {
      const std::scoped_lock lock(taking_);
      for (const ItemScore& score : found) likelier_.at(score.sample) = score.likelier;
    });
  }

  double loss_of(const TensorView& sums) const override {
    const Tensor value(DType::kF64, {1});
    segmentation_kernels(KernelSet::kFast)
        .loss(sums, value.view(), {.classes = std::ssize(preparation_.classes), .groups = 1, .batch = 1});
    return value.as<double>()[0];
  }

  std::vector<NamedScore> score(std::span<const std::size_t>, const TensorView&) override {
    const Counts batch = counts(likelier_);
    all_.items += batch.items, all_.first += batch.first, all_.among_five += batch.among_five;
    return named(batch);
  }
  std::vector<NamedScore> totals() const override { return named(all_); }

 private:
  struct Counts {
    std::int64_t items = 0, first = 0, among_five = 0;
  };
  static Counts counts(const std::vector<std::int64_t>& likelier) {
    return {.items = std::ssize(likelier),
            .first = std::ranges::count(likelier, 0),
            .among_five = std::ranges::count_if(likelier, [](std::int64_t count) { return count < kTopFive; })};
  }
  static std::vector<NamedScore> named(const Counts& counts) {
    const auto share = [&](std::int64_t of_items) {
      return static_cast<double>(of_items) / static_cast<double>(counts.items);
    };
    return {{"top_1_accuracy", share(counts.first)}, {"top_5_accuracy", share(counts.among_five)}};
  }
  static TensorView view_of(const CoreSet& cores, ValueId id, std::size_t core) {
    return cores.executable().program.replicated(id) ? cores.replicated(id) : cores.owned(id, core);
  }

  const RunContext& context_;
  ClassPreparation preparation_;
  ClassReading reading_;
  ClassDataset set_;
  std::optional<ClassSource> source_;
  std::vector<std::int64_t> likelier_;  // number of likelier classes, by sample of the batch
  std::mutex taking_;
  Counts all_;
};

}  // namespace

std::unique_ptr<RunEvaluation> evaluate_items(const EvaluateItemsOptions& options, const TrainedRun& run,
                                              const RunContext& context) {
  return std::make_unique<ItemEvaluation>(options, run, context);
}

}  // namespace voxshard
