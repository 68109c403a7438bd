#include "tests/check/faults/faulty_table.h"

#include "libcore/ops/op_table.h"

namespace voxshard::test {

const FaultyTable* FaultyTable::living_ = nullptr;

FaultyTable::FaultyTable(std::string op, const Fault& fault, std::function<bool(const OpContext&)> where)
    : op_(std::move(op)), fault_(fault), where_(std::move(where)) {
  ensure(living_ == nullptr, "one faulty table at a time");
  living_ = this;
  for (const auto& [name, def] : op_table().all()) {
    OpDef own = def;
    if (name == op_) own.kernel = kernel;
    table_.add(std::move(own));
  }
}

FaultyTable::~FaultyTable() { living_ = nullptr; }

std::unique_ptr<Kernel> FaultyTable::kernel(const OpContext& op, KernelSet set) {
  const OpDef& def = op_table().at(living_->op_);
  std::unique_ptr<Kernel> real = def.kernel(op, set);
  const bool sound = set == KernelSet::kReference || op.inputs[0].dtype == DType::kF64;
  if (sound || (living_->where_ && !living_->where_(op))) return real;
  std::optional<Damage> damage = living_->fault_.damage({def, op});
  if (!damage) return real;
  return std::make_unique<DamagedKernel>(std::move(real), std::move(*damage));
}

}  // namespace voxshard::test
