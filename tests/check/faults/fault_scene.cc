#include "tests/check/faults/fault_scene.h"

#include <algorithm>

#include "libcore/check/random_values.h"

namespace voxshard::test {
namespace {

/// Floating-point operations of the largest layer that an earlier `verify` checked.
constexpr double kOldLimit = 1e8;

/// Returns the ops that faults are planted in, each with the name of its pass in the table.
const std::map<std::string, std::string>& passes() {
  static const std::map<std::string, std::string> kPasses = {{"conv", "forward"},
                                                             {"conv_input_grad", "input gradient"},
                                                             {"conv_weight_grad", "weight gradient"},
                                                             {"channel_sum", "bias gradient"},
                                                             {"max_pool", "max pool"},
                                                             {"max_pool_argmax", "max pool, argmax"},
                                                             {"max_pool_grad", "max pool, gradient"},
                                                             {"avg_pool", "mean pool"},
                                                             {"avg_pool_grad", "mean pool, gradient"},
                                                             {"upsample_nearest", "up-sampling"},
                                                             {"upsample_nearest_grad", "up-sampling, gradient"},
                                                             {"moment_sums", "norm, sums"},
                                                             {"norm_stats", "norm, statistics"},
                                                             {"norm_apply", "norm, apply"},
                                                             {"norm_grad_sums", "norm, gradient sums"},
                                                             {"norm_input_grad", "norm, input gradient"}};
  return kPasses;
}

/// Returns the type whose voxels the op runs over: d_y of a weight gradient, x of a sum, else the result.
TensorType walked(const Graph& graph, const OpTable& ops, ValueId id) {
  const int driver = ops.at(graph.node(id).op).driver;
  return driver >= 0 ? graph.input_types(id)[driver] : graph.node(id).type;
}

Graph with_kernel(Graph step, ConvKernel kernel) {
  if (kernel == ConvKernel::kAny) return step;
  for (ValueId id = 0; id < step.size(); ++id) {
    const Node& node = step.node(id);
    if (node.role != Role::kOp || !passes().contains(node.op) || !node.op.starts_with("conv")) continue;
    Attributes attrs = node.attrs;
    std::visit(
        [&](auto& a) {
          if constexpr (requires { a.computed_by; }) a.computed_by = kernel;
        },
        attrs);
    const auto types = step.input_types(id);
    const OpDef& def = op_table().at(node.op);
    if (def.runs({attrs, types, node.type})) step.set_attributes(id, attrs);
  }
  return step;
}

Executable kept(const FaultSceneOptions& options) {
  const Graph graph =
      with_kernel(step_graph(options.factory(options.dtype), op_table(), Recompute::kNone), options.kernel);
  Dims whole;
  for (const Node& node : graph.nodes())
    if (node.role == Role::kInput && whole.empty()) whole = Dims::filled(node.type.shape.axes(), 1);
  const Target target{.keep_all = true};
  const Cut cut{.mesh = {.partition = whole}, .convolution = options.convolution};
  return make_executable(lower_to_memory(graph, op_table(), cut, target), op_table(), target);
}

}  // namespace

FaultScene::FaultScene(const FaultSceneOptions& options, WorkerPool& pool)
    : pool_(pool), executable_(kept(options)), parameters_(random_parameters(graph(), options.seed)) {
  cores_.emplace(executable_, op_table(), parameters_, pool_, transport_);
  feed(*cores_, random_inputs(graph(), options.dtype, options.seed));
  cores_->run();
}

std::vector<ValueId> FaultScene::places(int each) const {
  std::map<std::string, std::vector<ValueId>> groups;
  for (ValueId id = 0; id < graph().size(); ++id) {
    const Node& node = graph().node(id);
    if (node.role != Role::kOp || !passes().contains(node.op)) continue;
    const Window* window = window_of(node.attrs);
    const std::string taps = window == nullptr ? "" : to_string(window->kernel) + "/" + to_string(window->stride);
    groups[node.op + " " + kConvKernelNames[static_cast<std::size_t>(kernel_of(node.attrs))] + " " + taps].push_back(
        id);
  }
  std::vector<ValueId> chosen;
  for (auto& [name, group] : groups) {
    const auto voxels = [&](ValueId id) {
      const Shape shape = walked(graph(), op_table(), id).shape;
      return element_count(shape) / shape.back();
    };
    const auto channels = [&](ValueId id) { return element_count(walked(graph(), op_table(), id).shape) / voxels(id); };
    std::set<ValueId> taken;
    for (int i = 0; i < each; ++i) {
      std::vector<ValueId> left;
      for (ValueId id : group)
        if (!taken.contains(id)) left.push_back(id);
      if (left.empty()) break;
      // Ties go to the node with more channels, or with more voxels.
      taken.insert(*std::ranges::max_element(left, {}, [&](ValueId id) {
        return i % 2 == 0 ? std::pair(voxels(id), channels(id)) : std::pair(channels(id), voxels(id));
      }));
    }
    chosen.insert(chosen.end(), taken.begin(), taken.end());
  }
  std::ranges::sort(chosen);
  return chosen;
}

KernelUse FaultScene::use(ValueId id) const {
  const Node& node = graph().node(id);
  const Window* window = window_of(node.attrs);
  return {kernel_of(node.attrs), node.op, window == nullptr ? Dims{} : window->kernel};
}

std::set<KernelUse> FaultScene::uses() const {
  std::set<KernelUse> all;
  for (ValueId id = 0; id < graph().size(); ++id) {
    const Node& node = graph().node(id);
    const bool chosen = kernel_of(node.attrs) != ConvKernel::kAny;  // also where passes() lacks the op
    if (node.role == Role::kOp && (chosen || passes().contains(node.op))) all.insert(use(id));
  }
  return all;
}

PlantedRow FaultScene::row(ValueId id) const {
  const Node& node = graph().node(id);
  const ConvKernel kernel = kernel_of(node.attrs);
  std::string size = to_string(walked(graph(), op_table(), id));
  if (node.op.starts_with("conv")) size += " of " + to_string(graph().input_types(id)[0]);
  return {.kernel = kernel == ConvKernel::kAny ? "own" : kConvKernelNames[static_cast<std::size_t>(kernel)],
          .pass = passes().at(node.op),
          .layer = node.name,
          .size = size};
}

/// Runs the node's instructions in order: weights packed, blocks computed, partial results joined, margins filled.
void FaultScene::run_again(ValueId id) {
  const auto& instructions = executable_.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].value == id) cores_->run_instruction(i);
}

/// True for the gradient of a bias before a norm: it is zero but for rounding, and remains so when it is scaled.
bool FaultScene::sums_to_zero(const Node& node) const {
  const std::string prefix = "grad/", suffix = "/bias";
  if (node.op != "channel_sum" || !node.name.starts_with(prefix) || !node.name.ends_with(suffix)) return false;
  const std::string layer = node.name.substr(prefix.size(), node.name.size() - prefix.size() - suffix.size());
  return graph().find(layer + "/norm/sums") != kNoValue;
}

std::optional<PlantedRow> FaultScene::plant(ValueId id, const Fault& fault, bool old_limit) {
  const Node& node = graph().node(id);
  const auto types = graph().input_types(id);
  const OpContext op{node.attrs, types, node.type};
  const std::optional<Damage> damage = fault.damage({op_table().at(node.op), op});
  if (!damage || (fault.scales && sums_to_zero(node))) return {};
  std::unique_ptr<Kernel>& bound = executable_.kernels.by_value[id].kernel;
  std::unique_ptr<Kernel> real = std::move(bound);
  const Tensor before = cores_->gather(id);
  bound = std::make_unique<DamagedKernel>(std::shared_ptr<const Kernel>(std::shared_ptr<void>(), real.get()), *damage);
  run_again(id);
  PlantedRow planted = row(id);
  planted.fault = fault.name;
  planted.changed = !compare(before.view(), cores_->gather(id).view()).bit_equal;
  const LayerReport report = check(id, old_limit);
  planted.ratio = report.widest_ratio;
  if (const auto& first = report.first_difference) {
    planted.found = first->layer;
    planted.ratio = first->difference / first->tolerance;
  }
  bound = std::move(real);
  cores_->scatter(id, before.view());
  return planted;
}

LayerReport FaultScene::check(ValueId id, bool old_limit) const {
  KernelCheckOptions options{.only = id};
  if (old_limit) options.left_out_flops = kOldLimit;
  return check_kernels(*cores_, op_table(), pool_, options);
}

}  // namespace voxshard::test
