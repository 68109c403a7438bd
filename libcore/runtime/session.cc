#include "libcore/runtime/session.h"

#include <algorithm>

namespace voxshard {
namespace {

// Estimates; tests/bench/memory.py compares their totals with the peak memory of the process.
constexpr std::int64_t kBytesPerFunction = 1 << 10;  // a kernel of plain loops
constexpr std::int64_t kBytesPerNode = 2 << 10;      // a node of the graph with its name, types and attributes
constexpr std::int64_t kViewsPerCall = 4;            // of a core set's calls: three inputs and the output

template <class Range, class Count>
std::int64_t sum_of(const Range& range, Count count) {
  std::int64_t sum = 0;
  for (const auto& one : range) sum += static_cast<std::int64_t>(count(one));
  return sum;
}

/// Returns the bytes of one of a kernel's primitives with its compiled code, by the name of the implementation.
/// Measured as the growth of the process over eight more plans of a U-Net and of a RetinaNet, and rounded up: oneDNN's
/// products of small matrices (brgemm) 20 to 35 KiB (with AMX tiles 100), its code unrolled for a shape 60 KiB (with
/// AMX tiles up to 430), our own 4 to 24 KiB.
std::int64_t kernel_bytes(const std::string& code) {
  const bool tiles = code.find("amx") != std::string::npos;
  if (code == "plain loops") return kBytesPerFunction;
  if (code.starts_with("brg")) return (tiles ? 112 : 40) << 10;
  if (code.starts_with("jit")) return (tiles ? 448 : 64) << 10;
  return 24 << 10;
}

}  // namespace

std::int64_t kept_bytes(const Executable& e) {
  const auto bytes = [](std::int64_t count, std::size_t each) { return count * static_cast<std::int64_t>(each); };
  const std::int64_t boxes = sum_of(e.program.values, [](const ValuePlan& v) { return v.own.size() + v.held.size(); });
  const std::int64_t blocks = sum_of(e.program.instructions, [](const Instruction& i) {
    return sum_of(i.blocks, [](const auto& list) { return list.size(); });
  });
  const std::int64_t copies = sum_of(e.program.instructions, [](const Instruction& i) { return i.copies.size(); });
  const std::int64_t buffers = sum_of(e.memory.arenas, [](const Pool& p) { return p.buffers.size(); });
  const std::int64_t kernels = sum_of(e.kernels.by_value, [](const auto& bound) {
    return bound.kernel ? bound.kernel->programs() * kernel_bytes(bound.kernel->code()) : 0;
  });
  return bytes(boxes + blocks, sizeof(Box)) + bytes(copies, sizeof(Copy)) + bytes(buffers, sizeof(Buffer)) +
         bytes(blocks * kViewsPerCall, sizeof(TensorView)) + kernels +
         static_cast<std::int64_t>(e.program.graph.size()) * kBytesPerNode;
}

const Executable& Session::plan(const Shape& extents, Phase phase) {
  const Key key{phase, extents};
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return *kept_.front().executable;
  }
  auto executable = std::make_unique<Executable>(lowered(key));
  bytes_[key] = {
      .run = executable->bytes, .kept = kept_bytes(*executable), .partition = executable->program.mesh().partition};
  kept_.push_front({key, std::move(executable)});
  evict();
  return *kept_.front().executable;
}

Executable Session::lowered(const Key& key) const {
  const auto& [phase, extents] = key;
  const auto turns = turns_.find(key);
  if (turns == turns_.end()) return lower_(extents, phase);
  auto executable = lower_in_turns_(extents, phase, turns->second);
  if (executable && executable->program.mesh().partition == turns->second) return std::move(*executable);
  throw Error(ErrorKind::kBudget, "[memory] cores that take turns over the cut " + to_string(turns->second) +
                                      ", on which the processes agreed, are over the budget of this process; nothing "
                                      "was allocated. Raise {host-memory}");
}

std::optional<Dims> Session::turns_over(const Shape& extents, Phase phase) const {
  ensure(may_take_turns(), "who asks for turns says how they are lowered");
  try {
    const auto executable = lower_in_turns_(extents, phase, std::nullopt);
    return executable ? std::optional(executable->program.mesh().partition) : std::nullopt;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kBudget) throw;
    return std::nullopt;
  }
}

void Session::take_turns(const Shape& extents, Phase phase, const Dims& partition) {
  const Key key{phase, extents};
  if (is_live(key)) release();
  std::erase_if(kept_, [&](const Kept& kept) { return kept.key == key; });
  bytes_.erase(key);
  turns_[key] = partition;
}

PlanBytes Session::bytes(const Shape& extents, Phase phase) {
  const auto known = bytes_.find({phase, extents});
  if (known != bytes_.end()) return known->second;
  plan(extents, phase);
  return bytes_.at({phase, extents});
}

std::optional<PlanBytes> Session::bytes_within(const Shape& extents, Phase phase, std::int64_t budget_bytes) const {
  if (!lower_within_) return std::nullopt;
  try {
    const Executable e = lower_within_(extents, phase, budget_bytes);
    return PlanBytes{.run = e.bytes, .kept = kept_bytes(e), .partition = e.program.mesh().partition};
  } catch (const Error&) {  // over that budget too, or a size that no kernel takes
    return std::nullopt;
  }
}

void Session::keep_plans(std::int64_t most_bytes) {
  most_kept_bytes_ = most_bytes;
  evict();
}

void Session::evict() {
  std::int64_t bytes = 0;
  for (const Kept& kept : kept_) bytes += bytes_.at(kept.key).kept;
  for (auto it = kept_.end(); most_kept_bytes_ > 0 && bytes > most_kept_bytes_ && it != kept_.begin();) {
    --it;
    if (it == kept_.begin() || is_live(it->key)) continue;
    bytes -= bytes_.at(it->key).kept;
    it = kept_.erase(it);
  }
}

CoreSet& Session::cores(const Shape& extents, Phase phase) {
  if (cores_ == nullptr || live_ != Key{phase, extents}) {
    std::vector<Arena> warm = cores_ != nullptr ? cores_->take_arenas() : std::vector<Arena>();
    release();
    const Executable& executable = plan(extents, phase);
    const std::int64_t file_bytes = executable.bytes.turns.file_bytes;
    if (file_bytes > 0) warm.clear();
    ensure(file_bytes == 0 || scratch_, "who plans turns gives a file for them");
    cores_ = std::make_unique<CoreSet>(executable, ops_, parameters_, pool_, transport_, arenas_,
                                       file_bytes > 0 ? scratch_(file_bytes) : -1, std::move(warm));
    cores_->set_stop(stop_);
    live_ = {phase, extents};
  }
  return *cores_;
}

}  // namespace voxshard
