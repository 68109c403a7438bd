// The table of ops with a fault planted in the kernels of one of them, for a whole `verify`: both sides run the same
// wrong kernel, as they would with a faulty kernel of a user.
//
//   const FaultyTable faulty("conv_weight_grad", fault_named("all zero"));
//   check_equivalence({.ops = faulty.table(), ...}, pool);
#pragma once

#include "tests/check/faults/fault.h"

namespace voxshard::test {

/// Only one may exist at a time: the table holds plain functions, which plant the fault of the living object.
class FaultyTable {
 public:
  /// Plants the fault in the uses of `op` that `where` picks (in all without it), only in fast kernels of f32 and bf16.
  FaultyTable(std::string op, const Fault& fault, std::function<bool(const OpContext&)> where = {});
  ~FaultyTable();
  FaultyTable(const FaultyTable&) = delete;
  FaultyTable& operator=(const FaultyTable&) = delete;

  const OpTable& table() const { return table_; }

 private:
  static std::unique_ptr<Kernel> kernel(const OpContext& op, KernelSet set);

  static const FaultyTable* living_;
  std::string op_;
  const Fault& fault_;
  std::function<bool(const OpContext&)> where_;
  OpTable table_;
};

}  // namespace voxshard::test
