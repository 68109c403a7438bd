// The table of convolutions: who is chosen, that a stated kernel is the one that is made, and packing as tasks.
#include "libcore/kernels/conv_table.h"

#include "libcore/kernels/fast/conv_kernels.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard {
namespace {

using namespace test;

ConvUse use_of(ConvPass pass, std::int64_t in, std::int64_t out, DType dtype) {
  return {.pass = pass,
          .window = window_of(3, 3, 1, 1, 1, 1),
          .weights = {3, 3, 3, in, out},
          .over = {1, 16, 16, 16, out},
          .dtype = dtype};
}

TEST(ConvTable, EveryPassHasAKernelForEveryTypeAndEndsWithTheReference) {
  for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad}) {
    for (DType dtype : {DType::kF32, DType::kBF16}) {
      const ConvKernel chosen = choose_conv(use_of(pass, 16, 16, dtype));
      EXPECT_NE(chosen, ConvKernel::kAny);
      EXPECT_NE(chosen, ConvKernel::kReference);
      EXPECT_TRUE(conv_runs(chosen, use_of(pass, 16, 16, dtype)));
    }
    EXPECT_EQ(choose_conv(use_of(pass, 16, 16, DType::kF64)), ConvKernel::kReference);
    const ConvRow* last = nullptr;
    for (const ConvRow& row : conv_rows())
      if (row.pass == pass) last = &row;
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->kernel, ConvKernel::kReference);
  }
}

TEST(ConvTable, AKernelThatDoesNotRunHereIsRefusedByName) {
  try {
    make_conv(KernelSet::kFast, ConvKernel::kTiled, use_of(ConvPass::kForward, 16, 16, DType::kF32));
    ADD_FAILURE() << "our own forward convolution does not exist";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kConfig);
    EXPECT_NE(std::string(e.what()).find("the kernel tiled was chosen on another processor"), std::string::npos)
        << e.what();
  }
}

TEST(ConvTable, TheOracleIsMadeWhateverIsStated) {
  const ConvUse use = use_of(ConvPass::kWeightGrad, 4, 4, DType::kF32);
  EXPECT_EQ(make_conv(KernelSet::kReference, ConvKernel::kTiled, use)->packed_bytes(), 0);
  EXPECT_EQ(conv_grain(ConvKernel::kAny, use), Dims{});
}

/// What packing the tasks in an order gives.
std::vector<std::byte> packed_in(const Kernel& kernel, const TensorView& weights, bool backwards) {
  Tensor memory(DType::kU8, {kernel.packed_bytes()});  // zeros
  const std::int64_t tasks = kernel.pack_tasks();
  for (std::int64_t t = 0; t < tasks; ++t) kernel.pack(weights, memory.data(), backwards ? tasks - 1 - t : t);
  std::vector<std::byte> bytes(memory.data(), memory.data() + memory.bytes());
  return bytes;
}

TEST(ConvTable, TasksOfPackingWriteTheirOwnPartInAnyOrder) {
  for (DType dtype : {DType::kF32, DType::kBF16})
    for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad})
      for (std::int64_t channels : {3, 64, 128, 192}) {
        const ConvUse use = use_of(pass, channels, channels, dtype);
        Place weights = place(dtype, Box::whole(use.weights));
        fill_normal(weights.view, 11);
        const auto kernel = make_conv(KernelSet::kFast, ConvKernel::kLibrary, use);
        EXPECT_EQ(packed_in(*kernel, weights.view, false), packed_in(*kernel, weights.view, true)) << channels;
        if (channels == 192) {
          EXPECT_GT(kernel->pack_tasks(), 1) << kernel->code();
        }
        EXPECT_FALSE(kernel->code().empty());
      }
}

}  // namespace
}  // namespace voxshard
