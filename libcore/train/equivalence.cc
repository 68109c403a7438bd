#include "libcore/train/equivalence.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/train/initialise.h"

namespace voxshard {
namespace {

constexpr double kSumFactor = 8;         // times epsilon, length and size of an addend
constexpr double kPrecisionFactor = 4;   // times the uncut run's own distance to higher precision
constexpr double kLearningRate = 0.01;

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kF64: return 0x1p-53;
    case DType::kBF16: return 0x1p-9;
    default: return 0x1p-24;
  }
}

double rms(const TensorView& dense) {
  double sum = 0;
  for (std::int64_t i = 0; i < dense.count(); ++i) {
    const double v = load(dense, i);
    sum += v * v;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, dense.count())));
}

/// The largest rms of any channel. By Cauchy and Schwarz no sum over positions of products of two channels is, in magnitudes,
/// more than their number times both of these; an rms over all channels would miss the few that most of a gradient is in.
double widest_rms(const TensorView& dense) {
  const std::int64_t channels = dense.rank() > 0 ? dense.extent().back() : 1;
  std::vector<double> squares(static_cast<std::size_t>(channels));
  for (std::int64_t i = 0; i < dense.count(); ++i) {
    const double v = load(dense, i);
    squares[static_cast<std::size_t>(i % channels)] += v * v;
  }
  const double rows = static_cast<double>(std::max<std::int64_t>(1, dense.count() / std::max<std::int64_t>(1, channels)));
  return squares.empty() ? 0 : std::sqrt(*std::max_element(squares.begin(), squares.end()) / rows);
}

double rms_difference(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double d = load(a.view(), i) - load(b.view(), i);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, a.count())));
}

/// What a random value of an input is: an intensity, a class, or the class or the coded box of an anchor (most have none).
struct RandomValue {
  static constexpr double kAnchorsIgnored = 0.1, kAnchorsWithoutObject = 0.6;
  RngKey key;
  std::uint64_t index;

  double chance() const { return rng_uniform({key.seed, rng_mix(key.stream)}, index); }
  double operator()(const input::Any&) const { return rng_normal(key, index); }
  double operator()(const input::Image&) const { return rng_normal(key, index); }
  double operator()(const input::Labels& labels) const { return static_cast<double>(rng_below(key, index, labels.classes)); }
  double operator()(const input::ClassTargets& targets) const {
    if (chance() < kAnchorsIgnored) return static_cast<double>(targets.ignored);
    if (chance() < kAnchorsIgnored + kAnchorsWithoutObject) return static_cast<double>(targets.background);
    return static_cast<double>(rng_below(key, index, targets.classes));
  }
  double operator()(const input::BoxTargets&) const { return chance() < kAnchorsWithoutObject ? 0 : 0.2 * rng_normal(key, index); }
};

/// Random inputs of the training graph, as values that `dtype` can hold.
std::map<std::string, Tensor> random_inputs(const Graph& graph, DType dtype, std::uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kInput) continue;
    Tensor tensor(is_float(node.type.dtype) ? dtype : node.type.dtype, node.type.shape);
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      store(tensor.view(), i, std::visit(RandomValue{{seed, rng_stream(node.name)}, static_cast<std::uint64_t>(i)}, node.input));
    inputs.emplace(node.name, std::move(tensor));
  }
  return inputs;
}

/// Initial parameters; those that begin constant (biases, gamma, beta) are moved off their special values.
Parameters random_parameters(const Graph& graph, std::uint64_t seed) {
  Parameters parameters = initialise(graph, seed);
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kParameter || !std::holds_alternative<initial::Constant>(node.parameter.begins)) continue;
    Tensor& tensor = parameters.at(node.name);
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      tensor.as<float>()[i] += static_cast<float>(0.2 * rng_uniform({seed, rng_stream(node.name)}, static_cast<std::uint64_t>(i)) - 0.1);
  }
  return parameters;
}

void feed(CoreSet& cores, const std::map<std::string, Tensor>& inputs) {
  const Graph& graph = cores.executable().program.graph;
  for (ValueId id = 0; id < graph.size(); ++id)
    if (graph.node(id).role == Role::kInput)
      cores.feed(id, [&](const TensorView& box) { copy(inputs.at(graph.node(id).name).view(), box); });
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

class LayerCheck {
 public:
  LayerCheck(CoreSet& uncut, CoreSet& cut, const OpTable& ops, EquivalenceReport& report)
      : uncut_(uncut), cut_(cut), ops_(ops), report_(report) {}

  void run() {
    const Program& program = cut_.executable().program;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      cut_.run_instruction(i);
      const Instruction& instruction = program.instructions[i];
      const bool last_of_margin = i + 1 == program.instructions.size() ||
                                  program.instructions[i + 1].value != instruction.value;
      if ((instruction.kind == InstructionKind::kCompute && !instruction.partial) ||
          instruction.kind == InstructionKind::kJoin) {
        compare_result(instruction.value);
        cut_.scatter(instruction.value, uncut_.gather(instruction.value).view());
      } else if (instruction.kind != InstructionKind::kCompute && last_of_margin) {
        compare_margins(instruction.value);
      }
    }
  }

 private:
  void differ(ValueId id, const char* what, double difference, double tolerance) {
    if (!report_.first_difference)
      report_.first_difference = LayerDifference{node(id).name, what, difference, tolerance};
  }
  const Node& node(ValueId id) const { return cut_.executable().program.graph.node(id); }

  double tolerance_of(ValueId id) const {
    const OpDef& def = ops_.at(node(id).op);
    if (def.driver < 0) return 0;
    std::vector<double> sizes;
    for (ValueId input : node(id).inputs) sizes.push_back(widest_rms(uncut_.gather(input).view()));
    const Shape driver = cut_.executable().program.graph.input_types(id)[static_cast<std::size_t>(def.driver)].shape;
    const double length = static_cast<double>(element_count(driver) / driver.back());
    const double addend = def.addend != nullptr ? def.addend(sizes) : sizes[static_cast<std::size_t>(def.driver)];
    // Rounding of k-th partial sum s_k is epsilon * s_k. Addends of either sign (gradients, f32): s_k ~ sqrt(k), in all
    // ~ length. Addends of one sign (squares, probabilities; these sums are f64): s_k ~ k, in all ~ length^1.5.
    const DType dtype = node(id).type.dtype;
    const double growth = dtype == DType::kF64 ? length * std::sqrt(length) : length;
    return kSumFactor * epsilon_of(dtype) * growth * addend;
  }

  void compare_result(ValueId id) {
    const Tensor a = uncut_.gather(id), b = cut_.gather(id);
    const Difference d = compare(a.view(), b.view());
    ++report_.layers;
    if (d.bit_equal) {
      ++report_.bit_equal;
      return;
    }
    const double tolerance = tolerance_of(id);
    if (d.max_abs > tolerance) return differ(id, "result", d.max_abs, tolerance);
    ++report_.within_tolerance;
    report_.widest_ratio = std::max(report_.widest_ratio, d.max_abs / tolerance);
  }

  /// All that a core holds must be the uncut value, and zero outside the tensor.
  void compare_margins(ValueId id) {
    const Tensor whole = uncut_.gather(id);
    for (std::size_t core = 0; core < cut_.executable().program.plan(id).held.size(); ++core) {
      const TensorView held = cut_.held(id, core);
      if (held.box.empty()) continue;
      Tensor expected(held.dtype, held.box.extent);
      TensorView view = expected.view();
      view.box = held.box;
      const Box inside = intersect(held.box, whole.view().box);
      copy(whole.view(), view.sub(inside));
      const Difference d = compare(view, held);
      if (!d.bit_equal) return differ(id, "margin", d.max_abs, 0);
    }
  }

  CoreSet& uncut_;
  CoreSet& cut_;
  const OpTable& ops_;
  EquivalenceReport& report_;
};

/// The rms of the gradient of the weights that `name` belongs to ("encoder0/conv0/norm/beta" -> ".../conv0/kernel").
double layer_scale(const Outcome& outcome, const std::string& name) {
  for (std::string layer = name; layer.find('/') != std::string::npos;) {
    layer.resize(layer.rfind('/'));
    if (const auto it = outcome.gradients.find(layer + "/kernel"); it != outcome.gradients.end())
      return rms(it->second.view());
  }
  return rms(outcome.gradients.at(name).view());
}

void compare_outcomes(const Outcome& uncut, const Outcome& cut, const Outcome& higher, DType dtype,
                      const Parameters& parameters, EquivalenceReport& report) {
  const double floor = dtype == DType::kBF16 ? epsilon_of(dtype) : 16 * epsilon_of(dtype);
  auto check = [&](const std::string& layer, const char* what, double difference, double allowed) {
    ++report.tensors;
    if (difference == 0) return;
    report.end_to_end_ratio = std::max(report.end_to_end_ratio, difference / allowed);
    if (!(difference <= allowed) && !report.first_difference)
      report.first_difference = LayerDifference{layer, what, difference, allowed};
  };
  report.loss_uncut = uncut.loss;
  report.loss_cut = cut.loss;
  report.loss_higher = higher.loss;
  check("loss", "loss", std::abs(uncut.loss - cut.loss),
        kPrecisionFactor * std::abs(uncut.loss - higher.loss) + floor * std::abs(uncut.loss));
  for (const auto& [name, gradient] : uncut.gradients) {
    const double own = kPrecisionFactor * rms_difference(gradient, higher.gradients.at(name));
    const double allowed = own + floor * std::max(rms(gradient.view()), layer_scale(uncut, name));
    const double difference = rms_difference(gradient, cut.gradients.at(name));
    check(name, "gradient", difference, allowed);
    // w - rate * gradient in f32: the difference of the gradients, and one rounding of the weight.
    Tensor a = parameters.at(name), b = parameters.at(name);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      a.as<float>()[i] -= static_cast<float>(kLearningRate) * static_cast<float>(load(gradient.view(), i));
      b.as<float>()[i] -= static_cast<float>(kLearningRate) * static_cast<float>(load(cut.gradients.at(name).view(), i));
    }
    check(name, "updated weights", rms_difference(a, b), kLearningRate * allowed + 0x1p-23 * rms(a.view()));
  }
}

}  // namespace

EquivalenceReport check_equivalence(const EquivalenceOptions& options, WorkerPool& pool) {
  EquivalenceReport report;
  InProcessTransport in_process;
  Transport& transport = options.transport != nullptr ? *options.transport : in_process;
  const Graph plain = options.factory(options.dtype);
  const Cut whole{.mesh = {.partition = Dims::filled(options.cut.mesh.partition.rank(), 1)}};
  Parameters parameters = random_parameters(plain, options.seed);
  const auto inputs = random_inputs(plain, options.dtype, options.seed);

  auto outcome_of = [&](const Executable& plan, Transport& through) {
    CoreSet cores(plan, options.ops, parameters, pool, through);
    feed(cores, inputs);
    cores.run();
    return outcome(cores);
  };
  const Outcome uncut_outcome = outcome_of(lower(plain, options.ops, whole, {.kernels = options.kernels}), in_process);
  {
    Cut recomputing = whole;
    recomputing.recompute = options.cut.recompute;
    const Executable uncut_plan = lower(plain, options.ops, recomputing, {.keep_all = true, .kernels = options.kernels});
    CoreSet uncut(uncut_plan, options.ops, parameters, pool, in_process);
    feed(uncut, inputs);
    uncut.run();
    const Executable cut_plan = lower(plain, options.ops, options.cut, {.keep_all = true, .kernels = options.kernels});
    CoreSet cut(cut_plan, options.ops, parameters, pool, transport);
    feed(cut, inputs);
    LayerCheck(uncut, cut, options.ops, report).run();
  }
  const Outcome cut_outcome = outcome_of(lower(plain, options.ops, options.cut, {.kernels = options.kernels}), transport);
  const DType higher = options.dtype == DType::kBF16 ? DType::kF32 : DType::kF64;
  const Outcome higher_outcome =
      outcome_of(lower(options.factory(higher), options.ops, whole, {.kernels = options.kernels}), in_process);
  compare_outcomes(uncut_outcome, cut_outcome, higher_outcome, options.dtype, parameters, report);
  return report;
}

}  // namespace voxshard
