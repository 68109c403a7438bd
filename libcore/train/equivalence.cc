#include "libcore/train/equivalence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/train/kernel_check.h"
#include "libcore/train/random_values.h"
#include "libcore/train/tolerance.h"

namespace voxshard {
namespace {

constexpr double kPrecisionFactor = 4;  // times the uncut run's own distance to higher precision
constexpr double kFloor = 0x1p-20;      // of the size of what is compared: some roundings of f32
constexpr double kLearningRate = 0.01;

double rms(const TensorView& dense) {
  double sum = 0;
  for (std::int64_t i = 0; i < dense.count(); ++i) {
    const double v = load(dense, i);
    sum += v * v;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, dense.count())));
}

double rms_difference(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double d = load(a.view(), i) - load(b.view(), i);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, a.count())));
}

/// What is compared end to end: the loss, gradients, and weights after one step of SGD.
struct Outcome {
  double loss = 0;
  std::map<std::string, Tensor> gradients;  // f64
};

Outcome outcome(CoreSet& cores) {
  const Graph& graph = cores.executable().program.graph;
  Outcome result{.loss = load(cores.replicated(graph.outputs.at("loss")), 0)};
  for (const auto& [parameter, gradient] : graph.gradients) {
    Tensor copy_of(DType::kF64, graph.node(gradient).type.shape);
    copy(cores.replicated(gradient), copy_of.view());
    result.gradients.emplace(graph.node(parameter).name, std::move(copy_of));
  }
  return result;
}

/// The rms of the gradient of the weights that `name` belongs to ("encoder0/conv0/norm/beta" -> ".../conv0/kernel").
double layer_scale(const Outcome& outcome, const std::string& name) {
  for (std::string layer = name; layer.find('/') != std::string::npos;) {
    layer.resize(layer.rfind('/'));
    if (const auto it = outcome.gradients.find(layer + "/kernel"); it != outcome.gradients.end())
      return rms(it->second.view());
  }
  return rms(outcome.gradients.at(name).view());
}

/// What a difference end to end may be at most, over the size of what is compared, whatever the precision costs:
/// cutting changes the order of sums in f32 and f64, no more. Seen: up to 3e-6 in f32, 1e-6 in bf16.
constexpr double kRelativeCap = 0x1p-14;

/// What an f32 run by fast kernels may differ from one in f64 by slow ones, over the size of what is compared.
constexpr double kPrecisionCap = 0x1p-6;

class OutcomeCheck {
 public:
  OutcomeCheck(DType dtype, EquivalenceReport& report) : dtype_(dtype), report_(report) {}

  /// Of this rank's outcome; then what all ranks found goes into the report.
  void run(const Outcome& uncut, const Outcome& cut, const Outcome& higher, const Parameters& parameters,
           Transport& transport) {
    compare(uncut, cut, higher, parameters);
    for (const Unequal& u : join_unequal(transport, unequal_)) {
      if (u.too_far()) report_.differ(u.found);
      if (u.found.what == kPrecision) continue;
      report_.end_to_end_ratio = std::max(report_.end_to_end_ratio, u.ratio);
      report_.end_to_end_relative = std::max(report_.end_to_end_relative, u.relative);
    }
  }

 private:
  static constexpr const char* kPrecision = "precision";

  void compare(const Outcome& uncut, const Outcome& cut, const Outcome& higher, const Parameters& parameters) {
    report_.loss_uncut = uncut.loss;
    report_.loss_cut = cut.loss;
    report_.loss_higher = higher.loss;
    const double loss_scale = std::abs(uncut.loss);
    check_precision("loss", std::abs(uncut.loss - higher.loss), loss_scale);
    check("loss", "loss", std::abs(uncut.loss - cut.loss), allowance(std::abs(uncut.loss - higher.loss), loss_scale));
    for (const auto& [name, gradient] : uncut.gradients) {
      const double scale = std::max(rms(gradient.view()), layer_scale(uncut, name));
      const double own = rms_difference(gradient, higher.gradients.at(name));
      check_precision(name, own, scale);
      const double allowed = allowance(own, scale);
      const double difference = rms_difference(gradient, cut.gradients.at(name));
      check(name, "gradient", difference, allowed, scale > 0 ? difference / scale : 0);
      // w - rate * gradient in f32: the difference of the gradients, and one rounding of the weight.
      Tensor a = parameters.at(name), b = parameters.at(name);
      for (std::int64_t i = 0; i < a.count(); ++i) {
        a.as<float>()[i] -= static_cast<float>(kLearningRate) * static_cast<float>(load(gradient.view(), i));
        b.as<float>()[i] -=
            static_cast<float>(kLearningRate) * static_cast<float>(load(cut.gradients.at(name).view(), i));
      }
      check(name, "updated weights", rms_difference(a, b), kLearningRate * allowed + 0x1p-23 * rms(a.view()));
    }
  }

  static double allowance(double own, double scale) {
    return std::min(kPrecisionFactor * own + kFloor * scale, kRelativeCap * scale);
  }
  void check(const std::string& layer, const char* what, double difference, double allowed, double relative = 0) {
    ++report_.tensors;
    add(layer, what, difference, allowed, relative);
  }
  void check_precision(const std::string& layer, double own, double scale) {
    if (dtype_ == DType::kF32) add(layer, kPrecision, own, kPrecisionCap * scale);
  }
  void add(const std::string& layer, const char* what, double difference, double allowed, double relative = 0) {
    ++place_;
    Worst worst;
    worst.add(difference, 0, allowed);
    if (difference != 0)
      unequal_.push_back(
          {.place = place_, .found = {layer, what, difference, allowed}, .ratio = worst.ratio, .relative = relative});
  }

  DType dtype_;
  EquivalenceReport& report_;
  std::vector<Unequal> unequal_;  // of this rank
  std::int64_t place_ = 0;
};

}  // namespace

Oracles oracle_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kOracleNames); ++i)
    if (name == kOracleNames[i]) return static_cast<Oracles>(i);
  throw Error(ErrorKind::kConfig,
              "[oracle] unknown oracle \"" + std::string(name) + "\"; expected fast, sampled, reference");
}

/// The uncut network's runs: by its own kernels, keeping all, at higher precision.
struct Equivalence::Uncut {
  Uncut(const EquivalenceOptions& o, WorkerPool& pool)
      : plain(o.factory(o.dtype)),
        parameters(random_parameters(plain, o.seed)),
        inputs(random_inputs(plain, o.dtype, o.seed)),
        whole{.mesh = {.partition = Dims::filled(o.cut.mesh.partition.rank(), 1)}, .convolution = o.cut.convolution},
        once(run(lower(plain, o.ops, whole, {.kernels = o.kernels}), o.ops, pool, in_process)) {
    const DType higher_type = o.dtype == DType::kBF16 ? DType::kF32 : DType::kF64;
    const KernelSet kernels = o.oracle == Oracles::kReference ? KernelSet::kReference : o.kernels;
    higher = run(lower(o.factory(higher_type), o.ops, whole, {.kernels = kernels}), o.ops, pool, in_process);
    Cut recomputing = whole;
    recomputing.recompute = o.cut.recompute;
    plan = lower(plain, o.ops, recomputing, {.keep_all = true, .kernels = o.kernels});
    kept.emplace(plan, o.ops, parameters, pool, in_process);
    feed(*kept, inputs);
    kept->run();
    if (o.oracle == Oracles::kFast) return;
    KernelCheckOptions check{.seed = o.seed};
    if (o.oracle == Oracles::kReference) check.whole_flops = std::numeric_limits<double>::infinity();
    kernels_checked = check_kernels(*kept, o.ops, pool, check);
  }

  Outcome run(const Executable& executable, const OpTable& ops, WorkerPool& pool, Transport& transport) {
    CoreSet cores(executable, ops, parameters, pool, transport);
    feed(cores, inputs);
    cores.run();
    return outcome(cores);
  }

  InProcessTransport in_process;
  Graph plain;
  Parameters parameters;
  std::map<std::string, Tensor> inputs;
  Cut whole;
  Outcome once, higher;
  Executable plan;
  std::optional<CoreSet> kept;
  LayerReport kernels_checked;
};

Equivalence::Equivalence(const EquivalenceOptions& options, WorkerPool& pool)
    : options_(options), pool_(pool), uncut_(std::make_unique<Uncut>(options, pool)) {}
Equivalence::~Equivalence() = default;

EquivalenceReport Equivalence::check(const Cut& cut) {
  EquivalenceReport report;
  Transport& transport = options_.transport != nullptr ? *options_.transport : uncut_->in_process;
  const Target target{.kernels = options_.kernels, .ranks = transport.place()};
  report.kernels = uncut_->kernels_checked;
  report.first_difference = report.kernels.first_difference;
  {
    const Executable executable = options_.lower(uncut_->plain, options_.ops, cut, target);
    CoreSet cores(executable, options_.ops, uncut_->parameters, pool_, transport, ArenaMode::kChecked);
    feed(cores, uncut_->inputs);
    const LayerReport layers = check_layers(*uncut_->kept, cores, options_.ops, pool_, transport);
    report.layers = layers.compared;
    report.bit_equal = layers.bit_equal;
    report.within_tolerance = layers.within_tolerance;
    report.widest_ratio = layers.widest_ratio;
    if (layers.first_difference) report.differ(*layers.first_difference);
  }
  const Executable executable = options_.lower(uncut_->plain, options_.ops, cut, target);
  const Outcome cut_outcome = uncut_->run(executable, options_.ops, pool_, transport);
  OutcomeCheck(options_.dtype, report).run(uncut_->once, cut_outcome, uncut_->higher, uncut_->parameters, transport);
  return report;
}

EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool) {
  return Equivalence(options, pool).check(options.cut);
}

}  // namespace voxshard
