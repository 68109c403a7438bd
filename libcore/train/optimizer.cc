#include "libcore/train/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/kernels/optimizer.h"

namespace voxshard {
namespace {

constexpr std::int64_t kChunk = 1 << 16;  // elements per task: fixed, so that sums do not depend on the workers

/// The arguments of an optimizer step apart from the elements.
struct StepNumbers {
  const OptimizerOptions& options;
  std::int64_t step;  // from 0
  float rate, scale, decay;
};

/// A tensor of its parameter's size that the optimizer keeps between steps.
struct Slot {
  const char* name;
  float begins = 0;
};

using Elements = std::span<float>;

/// An optimizer. A slot that only momentum needs comes last and is omitted without momentum.
struct Row {
  std::vector<Slot> slots;
  bool last_is_momentum;
  void (*step)(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots);
};

void sgd(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots) {
  const auto momentum = static_cast<float>(at.options.momentum);
  fast::optimizer.sgd(g, w, slots.empty() ? Elements() : slots[0],
                      {at.rate, at.scale, at.decay, momentum, at.options.nesterov});
}

void adam(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots) {
  const OptimizerOptions& o = at.options;
  const auto rest = [&](double beta) { return 1 - std::pow(beta, static_cast<double>(at.step + 1)); };
  fast::optimizer.adam(g, w, slots[0], slots[1],
                       {.rate = at.rate,
                        .scale = at.scale,
                        .decay = at.decay,
                        .beta1 = static_cast<float>(o.beta1),
                        .beta2 = static_cast<float>(o.beta2),
                        .epsilon = static_cast<float>(o.epsilon),
                        .corrected = static_cast<float>(at.rate * std::sqrt(rest(o.beta2)) / rest(o.beta1))});
}

void adadelta(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots) {
  fast::optimizer.adadelta(g, w, slots[0], slots[1], {at.rate, at.scale, at.decay, 0.95F, 1e-8F});
}

void adagrad(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots) {
  fast::optimizer.adagrad(g, w, slots[0], {at.rate, at.scale, at.decay});
}

void rmsprop(const StepNumbers& at, std::span<const float> g, Elements w, std::span<const Elements> slots) {
  const auto momentum = static_cast<float>(at.options.momentum);
  fast::optimizer.rmsprop(g, w, slots[0], slots.size() > 1 ? slots[1] : Elements(),
                          {at.rate, at.scale, at.decay, 0.9F, momentum, 1e-10F});
}

/// Returns the row of an OptimizerKind.
const Row& row_of(OptimizerKind kind) {
  static const std::array<Row, std::size(kOptimizerNames)> kRows = {
      Row{{{"momentum"}}, true, sgd}, Row{{{"m"}, {"v"}}, false, adam}, Row{{{"square"}, {"update"}}, false, adadelta},
      Row{{{"square", 0.1F}}, false, adagrad}, Row{{{"square", 1.0F}, {"momentum"}}, true, rmsprop}};
  return kRows[static_cast<std::size_t>(kind)];
}

std::vector<Slot> slots_of(const OptimizerOptions& options) {
  const Row& row = row_of(options.kind);
  std::vector<Slot> slots = row.slots;
  if (row.last_is_momentum && options.momentum == 0) slots.pop_back();
  return slots;
}

bool is_trained(const Node& node) { return node.role == Role::kParameter && !node.parameter.frozen; }

struct Piece {
  const std::string* name;
  std::int64_t begin;
  std::int64_t end;

  template <class T>
  std::span<T> of(T* all) const {
    return {all + begin, static_cast<std::size_t>(end - begin)};
  }
};

/// `tensors`: by name.
template <class Tensors>
std::vector<Piece> pieces(const Tensors& tensors) {
  std::vector<Piece> list;
  for (const auto& [name, tensor] : tensors)
    for (std::int64_t b = 0; b < tensor.count(); b += kChunk)
      list.push_back({&name, b, std::min(tensor.count(), b + kChunk)});
  return list;
}

}  // namespace

double learning_rate_at(const OptimizerOptions& options, std::int64_t step, std::int64_t total) {
  double rate = options.learning_rate;
  if (options.schedule == ScheduleKind::kPolynomial && total > 0)
    rate *= std::pow(std::max(0.0, 1.0 - static_cast<double>(step) / static_cast<double>(total)), options.power);
  if (options.schedule == ScheduleKind::kExponential) {
    const double decays = static_cast<double>(step) / static_cast<double>(options.decay_steps);
    rate *= std::pow(options.decay_rate, options.stairs ? std::floor(decays) : decays);
  }
  if (options.schedule == ScheduleKind::kSteps)
    for (std::int64_t at : options.decay_at)
      if (step >= at) rate *= options.step_factor;
  if (step >= options.warmup_steps) return rate;
  const std::int64_t counted = options.warmup_rate > 0 ? step : step + 1;
  const double share = static_cast<double>(counted) / static_cast<double>(options.warmup_steps);
  return options.warmup_rate * (1 - share) + rate * share;
}

double decay_of_average(double ema, std::int64_t step) {
  const auto steps = static_cast<double>(step);
  return std::min(ema, (1 + steps) / (10 + steps));
}

Optimizer::Optimizer(OptimizerOptions options, const Graph& graph) : options_(options) {
  for (const Node& node : graph.nodes()) {
    if (!is_trained(node)) continue;
    if (node.parameter.decays) decays_.insert(node.name);
    for (const Slot& slot : slots_of(options)) {
      Tensor tensor(DType::kF32, node.type.shape);
      std::fill_n(tensor.as<float>(), tensor.count(), slot.begins);
      state_.emplace(slot.name + ("/" + node.name), std::move(tensor));
    }
  }
}

std::int64_t Optimizer::slots(const OptimizerOptions& options) {
  return static_cast<std::int64_t>(slots_of(options).size());
}

std::int64_t Optimizer::state_bytes(const OptimizerOptions& options, const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Node& node : graph.nodes())
    if (is_trained(node)) bytes += slots(options) * node.type.bytes();
  return bytes;
}

double Optimizer::global_norm(WorkerPool& pool, const Gradients& gradients) {
  const auto list = pieces(gradients);
  std::vector<double> squares(list.size());
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[task];
    squares[task] = fast::optimizer.square_sum(piece.of(gradients.at(*piece.name).as<const float>()));
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
  const Row& row = row_of(options_.kind);
  const std::vector<Slot> kept = slots_of(options_);
  const auto list = pieces(gradients);
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[task];
    std::vector<Elements> slots;
    for (const Slot& slot : kept) slots.push_back(piece.of(state_.at(slot.name + ("/" + *piece.name)).as<float>()));
    const float decay = decays_.contains(*piece.name) ? static_cast<float>(options_.weight_decay) : 0.0F;
    row.step({options_, step, rate, scale, decay}, piece.of(gradients.at(*piece.name).as<const float>()),
             piece.of(parameters.at(*piece.name).as<float>()), slots);
  });
}

void Optimizer::begin_average(const Parameters& weights) {
  averages_.clear();
  if (options_.ema == 0) return;
  for (const auto& [name, tensor] : weights) {
    Tensor first(DType::kF32, tensor.shape());
    copy(tensor.view(), first.view());
    averages_.emplace(name, std::move(first));
  }
}

void Optimizer::average(WorkerPool& pool, const Parameters& weights, std::int64_t step) {
  const auto rate = static_cast<float>(1 - decay_of_average(options_.ema, step));
  const auto list = pieces(averages_);
  pool.run(static_cast<std::int64_t>(list.size()), [&](std::int64_t task, int) {
    const Piece& piece = list[task];
    fast::optimizer.average(piece.of(weights.at(*piece.name).as<const float>()),
                            piece.of(averages_.at(*piece.name).as<float>()), rate);
  });
}

}  // namespace voxshard
