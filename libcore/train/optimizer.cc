#include "libcore/train/optimizer.h"

#include <cmath>

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
    const auto* g = gradients.at(*piece.name).as<float>();
    double sum = 0;
    for (std::int64_t i = piece.begin; i < piece.end; ++i) sum += static_cast<double>(g[i]) * static_cast<double>(g[i]);
    squares[static_cast<std::size_t>(task)] = sum;
  });
  double total = 0;
  for (double square : squares) total += square;
  return std::sqrt(total);
}

void Optimizer::update(WorkerPool& pool, Parameters& parameters, const Gradients& gradients, double norm,
                       std::int64_t step, std::int64_t total) {
  const auto rate = static_cast<float>(learning_rate_at(options_, step, total));
  const float scale = options_.clip_norm > 0 && norm > options_.clip_norm
                          ? static_cast<float>(options_.clip_norm / norm)
                          : 1.0F;
  const auto b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
  const auto count = static_cast<double>(step + 1);
  const auto correct1 = static_cast<float>(1 / (1 - std::pow(options_.beta1, count)));
  const auto correct2 = static_cast<float>(1 / (1 - std::pow(options_.beta2, count)));
  const auto epsilon = static_cast<float>(options_.epsilon), mu = static_cast<float>(options_.momentum);
  const auto list = pieces(gradients);
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[static_cast<std::size_t>(task)];
    const std::string& name = *piece.name;
    const auto* g = gradients.at(name).as<float>();
    auto* w = parameters.at(name).as<float>();
    const float decay = decays_.contains(name) ? static_cast<float>(options_.weight_decay) : 0.0F;
    if (options_.kind == OptimizerKind::kAdam) {
      auto* m = state_.at("m/" + name).as<float>();
      auto* v = state_.at("v/" + name).as<float>();
      for (std::int64_t i = piece.begin; i < piece.end; ++i) {
        const float d = g[i] * scale;
        m[i] = b1 * m[i] + (1 - b1) * d;
        v[i] = b2 * v[i] + (1 - b2) * d * d;
        w[i] -= rate * (m[i] * correct1 / (std::sqrt(v[i] * correct2) + epsilon) + decay * w[i]);
      }
    } else if (mu != 0) {
      auto* u = state_.at("momentum/" + name).as<float>();
      for (std::int64_t i = piece.begin; i < piece.end; ++i) {
        const float d = g[i] * scale + decay * w[i];
        u[i] = mu * u[i] + d;
        w[i] -= rate * (options_.nesterov ? d + mu * u[i] : u[i]);
      }
    } else {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) w[i] -= rate * (g[i] * scale + decay * w[i]);
    }
  });
}

}  // namespace voxshard
