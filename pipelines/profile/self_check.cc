#include "pipelines/profile/self_check.h"

#include "libcore/base/cpu.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

std::string name_of(const ConvRow& row) {
  constexpr const char* kPasses[] = {" forward", " input gradient", " weight gradient"};
  return std::string(kConvKernelNames[static_cast<std::size_t>(row.kernel)]) +
         kPasses[static_cast<std::size_t>(row.pass)];
}

/// True when the row's kernel runs on this machine, tested with a typical U-Net layer.
bool runs_here(const ConvRow& row) {
  const Dims one = Dims::filled(3, 1);
  ConvUse use{.pass = row.pass,
              .window = {.kernel = Dims::filled(3, 3), .stride = one, .dilation = one, .pad_lo = one, .pad_hi = one},
              .weights = {3, 3, 3, 32, 32},
              .over = {1, 16, 16, 16, 32}};
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    use.dtype = dtype;
    if (row.runs(use)) return true;
  }
  return false;
}

}  // namespace

SelfCheck self_check(std::span<const ConvRow> rows, bool (*agrees)(const ConvRow& row)) {
  SelfCheck check;
  for (const ConvRow& row : rows)
    if (row.kernel != ConvKernel::kReference)
      (!runs_here(row) ? check.absent : agrees(row) ? check.agree : check.differ).push_back(name_of(row));
  return check;
}

std::string text_of(const SelfCheck& check) {
  std::string text = std::to_string(check.agree.size()) + " kernels compute small cases as the reference does";
  if (!check.differ.empty()) text += "; not used, because they compute them otherwise: " + joined(check.differ, ", ");
  if (!check.absent.empty())
    text += std::string("; not in ") + instruction_set_name(instruction_set()) + ": " + joined(check.absent, ", ");
  return text;
}

}  // namespace voxshard
