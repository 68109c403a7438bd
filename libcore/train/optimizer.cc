#include "libcore/train/optimizer.h"

#include <cmath>

#include "libcore/kernels/optimizer.h"

namespace voxshard {
namespace {

constexpr std::int64_t kChunk = 1 << 16;  // elements per task: fixed, so that sums do not depend on the workers

std::vector<std::string> slot_names(const OptimizerOptions& options) {
  if (options.kind == OptimizerKind::kAdam) return {"m", "v"};
  if (options.momentum != 0) return {"momentum"};
  return {};
}

struct Piece {
  const std::string* name;
  std::int64_t begin;
  std::int64_t end;

  template <class T>
  std::span<T> of(T* all) const {
    return {all + begin, static_cast<std::size_t>(end - begin)};
  }
};

std::vector<Piece> pieces(const Gradients& gradients) {
  std::vector<Piece> list;
  for (const auto& [name, gradient] : gradients)
    for (std::int64_t b = 0; b < gradient.count(); b += kChunk) list.push_back({&name, b, std::min(gradient.count(), b + kChunk)});
  return list;
}

}  // namespace

double learning_rate_at(const OptimizerOptions& options, std::int64_t step, std::int64_t total) {
  double rate = options.learning_rate;
  if (options.schedule == ScheduleKind::kPolynomial && total > 0)
    rate *= std::pow(std::max(0.0, 1.0 - static_cast<double>(step) / static_cast<double>(total)), options.power);
  if (options.schedule == ScheduleKind::kExponential)
    rate *= std::pow(options.decay_rate, static_cast<double>(step) / static_cast<double>(options.decay_steps));
  if (options.schedule == ScheduleKind::kSteps)
    for (std::int64_t at : options.decay_at)
      if (step >= at) rate *= options.step_factor;
  if (step >= options.warmup_steps) return rate;
  const std::int64_t counted = options.warmup_rate > 0 ? step : step + 1;
  const double share = static_cast<double>(counted) / static_cast<double>(options.warmup_steps);
  return options.warmup_rate * (1 - share) + rate * share;
}

Optimizer::Optimizer(OptimizerOptions options, const Graph& graph) : options_(options) {
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kParameter) continue;
    if (node.parameter.decays) decays_.insert(node.name);
    for (const auto& slot : slot_names(options)) state_.emplace(slot + "/" + node.name, Tensor(DType::kF32, node.type.shape));
  }
}

std::int64_t Optimizer::slots(const OptimizerOptions& options) { return static_cast<std::int64_t>(slot_names(options).size()); }

std::int64_t Optimizer::state_bytes(const OptimizerOptions& options, const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Node& node : graph.nodes())
    if (node.role == Role::kParameter) bytes += slots(options) * node.type.bytes();
  return bytes;
}

double Optimizer::global_norm(WorkerPool& pool, const Gradients& gradients) {
  const auto list = pieces(gradients);
  std::vector<double> squares(list.size());
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[static_cast<std::size_t>(task)];
    squares[static_cast<std::size_t>(task)] = fast::optimizer.square_sum(piece.of(gradients.at(*piece.name).as<const float>()));
  });
  double total = 0;
  for (double square : squares) total += square;
  return std::sqrt(total);
}

void Optimizer::update(WorkerPool& pool, Parameters& parameters, const Gradients& gradients, double norm,
                       std::int64_t step, std::int64_t total) {
  const auto rate = static_cast<float>(learning_rate_at(options_, step, total));
  const bool clips = options_.clip_norm > 0 && norm > options_.clip_norm;
  const float scale = clips ? static_cast<float>(options_.clip_norm / norm) : 1.0F;
  const auto correct = [&](double beta) { return static_cast<float>(1 / (1 - std::pow(beta, static_cast<double>(step + 1)))); };
  const SgdStep sgd{
      .rate = rate, .scale = scale, .momentum = static_cast<float>(options_.momentum), .nesterov = options_.nesterov};
  const AdamStep adam{.rate = rate,
                      .scale = scale,
                      .beta1 = static_cast<float>(options_.beta1),
                      .beta2 = static_cast<float>(options_.beta2),
                      .epsilon = static_cast<float>(options_.epsilon),
                      .correct1 = correct(options_.beta1),
                      .correct2 = correct(options_.beta2)};
  const auto list = pieces(gradients);
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[static_cast<std::size_t>(task)];
    const auto g = piece.of(gradients.at(*piece.name).as<const float>());
    const auto w = piece.of(parameters.at(*piece.name).as<float>());
    const auto slot = [&](const char* name) {
      const auto it = state_.find(name + ("/" + *piece.name));
      return it == state_.end() ? std::span<float>() : piece.of(it->second.as<float>());
    };
    const float decay = decays_.contains(*piece.name) ? static_cast<float>(options_.weight_decay) : 0.0F;
    auto with_decay = [&](auto values) { return values.decay = decay, values; };
    if (options_.kind == OptimizerKind::kAdam)
      fast::optimizer.adam(g, w, slot("m"), slot("v"), with_decay(adam));
    else
      fast::optimizer.sgd(g, w, slot("momentum"), with_decay(sgd));
  });
}

}  // namespace voxshard
