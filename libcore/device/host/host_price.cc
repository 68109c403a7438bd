#include "libcore/device/host/host_price.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/device/host/host_device.h"
#include "libcore/device/host/host_schedule.h"
#include "libcore/schedule/schedule.h"

namespace voxshard {
namespace {

/// One use of an op and the table that prices it.
class OpPricer {
 public:
  OpPricer(const Program& program, const OpTable& ops, const HostRates& rates, const Instruction& instruction)
      : node_(program.graph.node(instruction.value)),
        types_(program.graph.input_types(instruction.value)),
        op_{node_.attrs, types_, node_.type},
        def_(ops.at(node_.op)),
        rates_(rates),
        // Shards in flight share the caches: all of them with few cores, one per worker with many.
        in_flight_(std::min(1.0, static_cast<double>(instruction.blocks.size()) / rates.threads)) {}

  /// Returns the task of `block`; `core_rows` are the rows (last axis but one) of all blocks of its core.
  HostTask task(const Box& block, double core_rows) {
    HostTask& known = known_[{block.extent, core_rows}];
    if (known.seconds == 0) known = priced(block, core_rows);
    return known;
  }

  static double rows(const Box& box) {
    const std::int64_t row = box.extent.back() * (box.axes() > 1 ? box.extent[box.axes() - 2] : 1);
    return static_cast<double>(box.count() / std::max<std::int64_t>(1, row));
  }

 private:
  HostTask priced(const Box& block, double core_rows) const {
    const Work work = work_of(def_, op_, block);
    const RateWindow window = rate_window(node_.attrs, work);
    const RateTable& table = rates_.at(node_.op, stored_type(op_.inputs, op_.result), window);
    const double share = core_rows * in_flight_;
    if (table.window.taps > 0 && work.products.count > 0) {
      const Products& p = work.products;
      const double in = def_.driver < 0 ? p.inner : p.rows;
      const auto row = static_cast<double>(block.extent[block.axes() - 2]);
      return {work.flops / table.at({in, p.columns, row, share}), true};
    }
    const double bytes = work.bytes * share / std::max(1.0, rows(block));
    return {work.bytes / table.at({static_cast<double>(block.extent.back()), bytes, 0, 0}), false};
  }

  const Node& node_;
  std::vector<TensorType> types_;
  OpContext op_;
  const OpDef& def_;
  const HostRates& rates_;
  double in_flight_;
  std::map<std::pair<Dims, double>, HostTask> known_;
};

/// Output channels per task that packs weights: exact for our kernels, approximate for the library's.
constexpr std::int64_t kChannelsPerPackTask = 64;

class Walk {
 public:
  Walk(const Program& program, const OpTable& ops, const HostRates& rates)
      : program_(program),
        ops_(ops),
        rates_(rates),
        plan_(schedule_of(program, ops)),
        schedule_(rates, static_cast<std::size_t>(program.mesh().cores())) {
    step_.instructions.resize(program.instructions.size());
  }

  StepPrice go(const Feed& feed) {
    prologue();
    for (const ScheduleStep& step : plan_.steps) {
      if (step.barrier) {
        barrier(step.instructions.front());
        continue;
      }
      for (std::size_t i : step.instructions) add_stage(i);
      now_ = schedule_.run(now_, step_.instructions);
    }
    update();
    for (const InstructionPrice& price : step_.instructions) step_.busy += price.slowest;
    step_.device_s = now_;
    step_.feed_s = feed.input_bytes > 0 ? rates_.barrier_s + feed.input_bytes / together("feed") : 0;
    step_.step_s = step_.device_s + step_.feed_s;
    return std::move(step_);
  }

 private:
  DType type_of(ValueId id) const { return program_.graph.node(id).type.dtype; }

  double rate(const char* work, DType type, double channels, double bytes) const {
    return rates_.at(work, type, {}).at({channels, bytes, 0, 0});
  }
  /// The rate of all workers together.
  double together(const char* work) const { return rate(work, DType::kF32, 0, 0) * rates_.threads; }

  /// Seconds of one block that all workers wait for.
  double alone(std::size_t index) const {
    const Instruction& instruction = program_.instructions[index];
    OpPricer pricer(program_, ops_, rates_, instruction);
    const HostTask task = pricer.task(instruction.blocks[0][0], OpPricer::rows(instruction.blocks[0][0]));
    return task.seconds / (task.compute ? rates_.alone_compute : rates_.alone_memory);
  }

  void set(std::size_t index, double begin, double end, const Price& slowest) {
    InstructionPrice& price = step_.instructions[index];
    price.begin_s = begin;
    price.end_s = end;
    price.slowest = slowest;
  }

  /// Prices the conversion of the weights, task by task.
  void prologue() {
    const double begin = now_;
    TaskPile pile;
    for (std::size_t i = 0; i < program_.prologue; ++i) pile.add(alone(i));
    now_ += pile.seconds(rates_);
    for (std::size_t i = 0; i < program_.prologue; ++i) set(i, begin, now_, {.memory_s = alone(i)});
  }

  /// Prices the reordering of weights; each task takes kChannelsPerPackTask output channels.
  InstructionPrice pack(const Instruction& instruction) {
    const Node& node = program_.graph.node(instruction.value);
    const auto types = program_.graph.input_types(instruction.value);
    const TensorType& weights = types[ops_.at(node.op).packed({node.attrs, types, node.type})];
    const RateTable& table = rates_.at("pack", weights.dtype, {.kernel = kernel_of(node.attrs)});
    const double tasks =
        std::ceil(static_cast<double>(node.type.shape.back()) / static_cast<double>(kChannelsPerPackTask));
    const double seconds =
        static_cast<double>(weights.bytes()) / table.at({}) / std::min<double>(tasks, rates_.threads);
    now_ += rates_.barrier_s + seconds;
    return {.slowest = {.memory_s = seconds, .overhead_s = rates_.barrier_s}};
  }

  void add_stage(std::size_t index) {
    const Instruction& instruction = program_.instructions[index];
    if (instruction.kind == InstructionKind::kFillMargin) return add_fill(index);
    OpPricer pricer(program_, ops_, rates_, instruction);
    Price& slowest = step_.instructions[index].slowest;
    for (std::size_t core = 0; core < instruction.blocks.size(); ++core) {
      const auto& blocks = instruction.blocks[core];
      double core_rows = 0;
      for (const Box& block : blocks) core_rows += OpPricer::rows(block);
      Price sum;
      for (const Box& block : blocks) {
        const HostTask task = pricer.task(block, core_rows);
        schedule_.add(core, index, task);
        (task.compute ? sum.matrix_s : sum.memory_s) += task.seconds;
        sum.overhead_s += rates_.task_s;
      }
      if (sum.seconds() > slowest.seconds()) slowest = sum;
    }
  }

  void add_fill(std::size_t index) {
    const ValueId id = program_.instructions[index].value;
    const TensorType& type = program_.graph.node(id).type;
    const Box whole = Box::whole(type.shape);
    const auto& held = program_.plan(id).held;
    Price& slowest = step_.instructions[index].slowest;
    for (std::size_t core = 0; core < held.size(); ++core) {
      const auto bytes =
          static_cast<double>((held[core].count() - intersect(held[core], whole).count()) * dtype_bytes(type.dtype));
      if (bytes == 0) continue;
      const double seconds = bytes / rate("fill_margin", type.dtype, static_cast<double>(type.shape.back()), bytes);
      schedule_.add(core, index, {seconds, false});
      if (seconds > slowest.memory_s) slowest = {.memory_s = seconds, .overhead_s = rates_.task_s};
    }
  }

  void barrier(std::size_t index) {
    const Instruction& instruction = program_.instructions[index];
    const double begin = now_;
    InstructionPrice price;
    switch (instruction.kind) {
      case InstructionKind::kJoin:
        price = join(index);
        break;
      case InstructionKind::kExchange:
        price = exchange(instruction);
        break;
      case InstructionKind::kPack:
        price = pack(instruction);
        break;
      default: {
        const double seconds = alone(index);
        price.slowest = {.memory_s = seconds, .overhead_s = rates_.barrier_s};
        now_ += rates_.barrier_s + seconds;
      }
    }
    price.begin_s = begin;
    price.end_s = now_;
    step_.instructions[index] = price;
  }

  InstructionPrice exchange(const Instruction& instruction) {
    const TensorType& type = program_.graph.node(instruction.value).type;
    const RateTable& table = rates_.at("exchange", type.dtype, {});
    const auto channels = static_cast<double>(type.shape.back());
    InstructionPrice price;
    TaskPile pile;
    std::map<double, double> seconds_of;  // by bytes
    for (const Copy& copy : instruction.copies) {
      const auto bytes = static_cast<double>(copy.box.count() * dtype_bytes(type.dtype));
      double& seconds = seconds_of[bytes];
      if (seconds == 0) seconds = bytes / table.at({channels, bytes, 0, 0});
      pile.add(seconds);
      price.bytes += bytes;
    }
    price.messages = static_cast<std::int64_t>(instruction.copies.size());
    price.slowest = {.link_s = pile.seconds(rates_) - rates_.barrier_s, .overhead_s = rates_.barrier_s};
    now_ += price.slowest.seconds();
    step_.halo_bytes += price.bytes;
    step_.messages += price.messages;
    return price;
  }

  /// Prices the sums of partial results. The boxes of the result follow one another; each is split into tasks of at
  /// most kElementsPerSumTask elements.
  InstructionPrice join(std::size_t index) {
    const Node& node = program_.graph.node(program_.instructions[index].value);
    InstructionPrice price;
    if (!needs_join(program_.instructions[index - 1])) return price;
    const double per_worker = rate("join", node.type.dtype, 0, 0);
    for (const Sum& sum : plan_.sums[index]) {
      const auto elements = static_cast<double>(sum.box.count());
      const auto partials = static_cast<double>(sum.addends.size());
      const double tasks = std::max(1.0, std::ceil(elements / static_cast<double>(kElementsPerSumTask)));
      price.slowest.link_s += elements * partials / per_worker / std::min<double>(tasks, rates_.threads);
      price.slowest.overhead_s += rates_.barrier_s;
      price.bytes += elements * (partials - 1) * static_cast<double>(dtype_bytes(node.type.dtype));
      price.messages += static_cast<std::int64_t>(partials) - 1;
    }
    now_ += price.slowest.seconds();
    step_.all_reduce_bytes += price.bytes;
    step_.messages += price.messages;
    return price;
  }

  void update() {
    double parameters = 0;
    for (const auto& [parameter, gradient] : program_.graph.gradients)
      parameters += static_cast<double>(element_count(program_.graph.node(parameter).type.shape));
    if (parameters > 0) now_ += 2 * rates_.barrier_s + parameters / together("update");
  }

  const Program& program_;
  const OpTable& ops_;
  const HostRates& rates_;
  const Schedule plan_;
  HostSchedule schedule_;
  StepPrice step_;
  double now_ = 0;
};

}  // namespace

StepPrice price_host_step(const Program& program, const OpTable& ops, const HostRates& rates, const Feed& feed) {
  return Walk(program, ops, rates).go(feed);
}

StepPrice HostDevice::price(const Program& program, const OpTable& ops, const Feed& feed) const {
  return price_host_step(program, ops, rates_, feed);
}

}  // namespace voxshard
