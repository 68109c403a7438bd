#include "libcore/check/equivalence.h"

#include <limits>

#include "libcore/check/end_to_end.h"
#include "libcore/check/kernel_check.h"
#include "libcore/check/optimizer_check.h"
#include "libcore/check/random_values.h"

namespace voxshard {
namespace {

constexpr int kMoved = 2;  // runs with moved parameters

}  // namespace

Oracles oracle_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kOracleNames); ++i)
    if (name == kOracleNames[i]) return static_cast<Oracles>(i);
  throw Error(ErrorKind::kConfig,
              "[oracle] unknown oracle \"" + std::string(name) + "\"; expected fast, sampled, reference");
}

/// The runs of the uncut network: by its own kernels, with moved parameters, with all values kept, at higher precision.
struct Equivalence::Uncut {
  Uncut(const EquivalenceOptions& o, WorkerPool& pool)
      : plain(o.factory(o.dtype)),
        parameters(random_parameters(plain, o.seed)),
        inputs(random_inputs(plain, o.dtype, o.seed)),
        whole{.mesh = {.partition = Dims::filled(o.cut.mesh.partition.axes(), 1)}, .convolution = o.cut.convolution},
        once_plan(voxshard::lower(plain, o.ops, whole, {.kernels = o.kernels})),
        once(run(once_plan, o.ops, pool, in_process)),
        sizes(once, {}),
        longest(longest_sums(plain, o.ops)) {
    if (o.oracle == Oracles::kReference) {
      report_progress(o, "higher precision", 0, 1);
      const KernelSet kernels = KernelSet::kReference;
      higher =
          run(voxshard::lower(o.factory(DType::kF64), o.ops, whole, {.kernels = kernels}), o.ops, pool, in_process);
    }
    Cut recomputing = whole;
    recomputing.recompute = o.cut.recompute;
    plan = voxshard::lower(plain, o.ops, recomputing, {.keep_all = true, .kernels = o.kernels});
    kept.emplace(plan, o.ops, parameters, pool, in_process);
    feed(*kept, inputs);
    kept->run();
    if (o.oracle == Oracles::kFast) return;
    KernelCheckOptions check{.seed = o.seed,
                             .progress = [&](std::int64_t done, std::int64_t total, const std::string& layer) {
                               if (o.progress) o.progress("kernels", done, total, layer);
                             }};
    if (o.oracle == Oracles::kReference) check.whole_flops = std::numeric_limits<double>::infinity();
    kernels_checked = check_kernels(*kept, o.ops, pool, check);
    optimizers_checked = check_optimizers(o.optimizer, parameters, once.gradients, pool);
  }

  static void report_progress(const EquivalenceOptions& o, const std::string& stage, std::int64_t done,
                              std::int64_t total) {
    if (o.progress) o.progress(stage, done, total, "");
  }

  Outcome run(const Executable& executable, const OpTable& ops, WorkerPool& pool, Transport& transport) {
    return run(executable, ops, parameters, pool, transport);
  }
  Outcome run(const Executable& executable, const OpTable& ops, Parameters& values, WorkerPool& pool,
              Transport& transport) {
    CoreSet cores(executable, ops, values, pool, transport);
    feed(cores, inputs);
    cores.run();
    return outcome(cores);
  }

  /// Returns the condition, measured at the first call; the same on every rank.
  const Condition& condition(const EquivalenceOptions& o, WorkerPool& pool) {
    if (!measured) measured.emplace(once, run_moved(o, pool));
    return *measured;
  }

  std::vector<Outcome> run_moved(const EquivalenceOptions& o, WorkerPool& pool) {
    std::vector<Outcome> outcomes;
    for (int i = 0; i < kMoved; ++i) {
      report_progress(o, "condition", i, kMoved);
      Parameters moved = moved_by_roundings(parameters, longest.products, o.seed + 1 + static_cast<std::uint64_t>(i));
      outcomes.push_back(run(once_plan, o.ops, moved, pool, in_process));
    }
    return outcomes;
  }

  InProcessTransport in_process;
  Graph plain;
  Parameters parameters;
  std::map<std::string, Tensor> inputs;
  Cut whole;
  Executable once_plan;
  Outcome once;
  Condition sizes;  // sizes only, without moved runs
  LongestSums longest;
  std::optional<Condition> measured;
  std::optional<Outcome> higher;  // in f64, by the slow kernels; reported but not judged, since a ReLU may switch
  Executable plan;
  std::optional<CoreSet> kept;
  LayerReport kernels_checked, optimizers_checked;
};

Equivalence::Equivalence(const EquivalenceOptions& options, WorkerPool& pool)
    : options_(options), pool_(pool), uncut_(std::make_unique<Uncut>(options, pool)) {}
Equivalence::~Equivalence() = default;

EquivalenceReport Equivalence::check(const Cut& cut) {
  EquivalenceReport report;
  Transport& transport = options_.transport != nullptr ? *options_.transport : uncut_->in_process;
  const Target target{.kernels = options_.kernels, .ranks = transport.place()};
  const auto report_progress = [&](std::int64_t done) {
    Uncut::report_progress(options_, "over " + to_string(cut.mesh.partition), done, 2);
  };
  report_progress(0);
  report.kernels = uncut_->kernels_checked;
  report.optimizers = uncut_->optimizers_checked;
  for (const LayerReport* uncut : {&report.kernels, &report.optimizers})
    if (uncut->first_difference) report.differ(*uncut->first_difference);
  bool reordered = false;
  {
    const Executable executable = options_.lower(uncut_->plain, options_.ops, cut, target);
    CoreSet cores(executable, options_.ops, uncut_->parameters, pool_, transport, ArenaMode::kChecked);
    feed(cores, uncut_->inputs);
    const LayerReport layers = check_layers(*uncut_->kept, cores, options_.ops, pool_, transport);
    report.layers = layers.compared;
    report.bit_equal = layers.bit_equal;
    report.within_tolerance = layers.within_tolerance;
    report.widest_ratio = layers.widest_ratio;
    reordered = layers.reordered > 0;
    if (layers.first_difference) report.differ(*layers.first_difference);
  }
  const Executable executable = options_.lower(uncut_->plain, options_.ops, cut, target);
  report_progress(1);
  const Outcome cut_outcome = uncut_->run(executable, options_.ops, pool_, transport);
  EndToEnd check(uncut_->once, reordered ? uncut_->condition(options_, pool_) : uncut_->sizes, uncut_->longest, report);
  if (uncut_->higher) report.loss_higher = uncut_->higher->loss;
  check.cut(cut_outcome, reordered, uncut_->parameters, transport);
  report_progress(2);
  return report;
}

EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool) {
  return Equivalence(options, pool).check(options.cut);
}

}  // namespace voxshard
