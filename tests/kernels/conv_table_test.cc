// The table of convolutions: the choice of a kernel, a stated kernel is the one that is made, and packing as tasks.
#include "libcore/kernels/conv_table.h"

#include "libcore/base/cpu.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "tests/expect_error.h"
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
  expect_error(ErrorKind::kConfig, "the kernel tiled was chosen on another processor", [&] {
    make_conv(KernelSet::kFast, ConvKernel::kTiled, use_of(ConvPass::kForward, 16, 16, DType::kF32));
  });
}

TEST(ConvTable, TheOracleIsMadeWhateverIsStated) {
  const ConvUse use = use_of(ConvPass::kWeightGrad, 4, 4, DType::kF32);
  EXPECT_EQ(make_conv(KernelSet::kReference, ConvKernel::kTiled, use)->packed_bytes(), 0);
  EXPECT_EQ(conv_grain(ConvKernel::kAny, use), Dims{});
}

/// Returns the bytes that packing the tasks in this order gives.
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

ConvUse wide(ConvPass pass, std::int64_t in, std::int64_t out, std::int64_t extent) {
  ConvUse use = use_of(pass, in, out, DType::kF32);
  use.over = {1, extent, extent, extent, out};
  return use;
}

TEST(ConvTable, TransformsAreTakenByGlobalShapeAndTypeAndByExactNever) {
  for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad}) {
    EXPECT_EQ(choose_conv(wide(pass, 16, 32, 16)), ConvKernel::kWinograd4);
    EXPECT_EQ(choose_conv(wide(pass, 16, 32, 12)), ConvKernel::kWinograd2) << "the weights outweigh";
    EXPECT_EQ(choose_conv(wide(pass, 16, 32, 8)) == ConvKernel::kWinograd2, pass == ConvPass::kWeightGrad)
        << "which has none to transform";
    EXPECT_NE(choose_conv(wide(pass, 16, 32, 7)), ConvKernel::kWinograd2);
    ConvUse image{
        .pass = pass, .window = window_of(2, 3, 1, 1, 1, 1), .weights = {3, 3, 64, 64}, .over = {1, 40, 32, 64}};
    EXPECT_EQ(choose_conv(image), ConvKernel::kWinograd4);
    image.over[2] = 20;
    EXPECT_EQ(choose_conv(image), choose_conv(image, Convolution::kExact));
    for (ConvUse use : {wide(pass, 1, 32, 64), wide(pass, 32, 3, 64)})  // the first layer, the head
      EXPECT_EQ(choose_conv(use), choose_conv(use, Convolution::kExact));
    ConvUse strided = wide(pass, 16, 16, 64);
    strided.window.stride = {2, 2, 2};
    EXPECT_EQ(choose_conv(strided), choose_conv(strided, Convolution::kExact));
    for (std::int64_t channels : {16, 64, 256})
      for (const ConvRow& row : conv_rows())
        if (row.kernel == choose_conv(wide(pass, channels, channels, 64), Convolution::kExact) && row.pass == pass) {
          EXPECT_TRUE(row.direct);
        }
    ConvUse stored = wide(pass, 64, 64, 64);
    stored.dtype = DType::kBF16;
    EXPECT_EQ(choose_conv(stored), amx::available() ? ConvKernel::kAmx : ConvKernel::kWinograd4);
  }
}

TEST(ConvTable, TransformsAreSlicedWhereTheirWeightsOutweighActivations) {
  EXPECT_EQ(conv_slices(ConvKernel::kWinograd4, wide(ConvPass::kForward, 768, 256, 16)), 2);
  EXPECT_EQ(conv_slices(ConvKernel::kLibrary, wide(ConvPass::kForward, 768, 256, 16)), 4);
  EXPECT_EQ(conv_slices(ConvKernel::kWinograd4, wide(ConvPass::kForward, 64, 64, 64)), 1);
}

using MakeUse = std::unique_ptr<Kernel> (*)(const ConvUse&);

/// Compares both kernel sets on the operands of `use`, laid out as in the engine; `make`: used instead of the table's
/// row.
void compare_with_reference(ConvKernel kernel, ConvUse use, const Case& c, std::int64_t slices,
                            MakeUse make = nullptr) {
  const bool integers = kernel == ConvKernel::kWinograd2;
  const Operands o(c, use.dtype, 1, integers);
  const std::string what = c.name + " " + kConvKernelNames[static_cast<std::size_t>(kernel)] + " in " +
                           std::to_string(slices) + " pass " + std::to_string(static_cast<int>(use.pass));
  std::vector<TensorView> inputs = {o.x.view, o.w.view, o.bias.view};
  if (use.pass == ConvPass::kForward && use.parts == 2) {  // the halves of x lie side by side
    auto half = [&](std::int64_t first) {
      Box box = o.x.view.box;
      box.set(box.axes() - 1, first, first + c.ci / 2);
      TensorView part = o.x.view.sub(box);
      part.box.begin[box.axes() - 1] = 0;
      return part;
    };
    inputs = {half(0), half(c.ci / 2), o.w.view, o.bias.view};
    use.part_channels = {c.ci / 2, c.ci / 2};
  }
  Box result = c.y_box();
  DType type = use.dtype;
  const Place d_bias = place(DType::kF32, Box::whole({c.ci}));
  fill_normal(d_bias.view, 5);
  if (use.pass == ConvPass::kInputGrad) inputs = {o.d_y.view, o.w.view, d_bias.view}, result = c.x_box();
  if (use.pass == ConvPass::kWeightGrad)
    inputs = {o.x.view, o.d_y.view}, result = Box::whole(c.weights()), type = DType::kF32;
  Place fast = place(type, result, use.pass == ConvPass::kWeightGrad ? 0 : 1), slow = place(type, result);
  run_kernel(*make_conv(KernelSet::kReference, kernel, use), inputs, slow.view);
  use.slices = slices;
  const auto made = make == nullptr ? make_conv(KernelSet::kFast, kernel, use)
                    : slices > 1    ? fast::make_sliced(make, use)
                                    : make(use);
  run_kernel(*made, inputs, fast.view);
  if (integers) return expect_same_bits(slow.view, fast.view, what);
  const double terms =
      static_cast<double>(use.pass == ConvPass::kWeightGrad ? result.count() : c.window.volume() * c.ci);
  expect_close(slow.view, fast.view, type == DType::kBF16 ? 0x1.8p-8 : 0x1p-21 * (4 + std::sqrt(terms)), what);
}

bool runs_here(const ConvRow& row) {
  return row.runs(use_of(row.pass, 32, 32, DType::kF32)) || row.runs(use_of(row.pass, 32, 32, DType::kBF16));
}

TEST(ConvTable, ARowThatComputesSomethingElseIsNotTrusted) {
  for (const ConvRow& row : conv_rows()) {
    const std::string name = kConvKernelNames[static_cast<std::size_t>(row.kernel)];
    EXPECT_TRUE(conv_is_trusted(row)) << name;
    ConvRow wrong = row;  // the padding is on the other side
    wrong.make = [](const ConvUse& use) {
      ConvUse other = use;
      other.window.pad_lo[2] = 2, other.window.pad_hi[2] = 0;
      return make_conv(KernelSet::kReference, ConvKernel::kAny, other);
    };
    EXPECT_EQ(conv_agrees(wrong), !runs_here(row)) << name << ": a row that runs nowhere is not computed";
    wrong.make = [](const ConvUse&) -> std::unique_ptr<Kernel> {
      return std::make_unique<FunctionKernel>([](const KernelCall& call) {
        for (std::int64_t i = 0; i < call.output.count(); ++i) store(call.output, i, std::nan(""));
      });
    };
    EXPECT_EQ(conv_agrees(wrong), !runs_here(row)) << name;
  }
}

TEST(ConvTable, TheRowsThatRunHereAreThoseOfTheInstructionSet) {
  for (const ConvRow& row : conv_rows()) {
    const bool bf16_library = row.kernel == ConvKernel::kLibrary && row.pass == ConvPass::kWeightGrad;
    EXPECT_EQ(runs_here(row), row.kernel == ConvKernel::kAmx ? instruction_set() >= InstructionSet::kAmx
                              : bf16_library                 ? cpu_has_native_bf16()
                                                             : true)
        << kConvKernelNames[static_cast<std::size_t>(row.kernel)];
  }
}

TEST(ConvTable, TransformsEqualTheReferenceInEveryPassAndSlice) {
  const Case cases[] = {{"volume", window_of(3, 3, 1, 1, 1, 1), {9, 6, 17}, 32, 64},
                        {"image", window_of(2, 3, 1, 1, 1, 1), {19, 23}, 32, 64, 2},
                        {"no padding", window_of(3, 3, 1, 1, 0, 0), {10, 9, 8}, 16, 32}};
  for (const Case& c : cases)
    for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad})
      for (ConvKernel kernel : {ConvKernel::kWinograd4, ConvKernel::kWinograd2})
        for (DType dtype : {DType::kF32, DType::kBF16})
          for (std::int64_t slices : {1, 2})
            for (std::size_t parts : {1, 2}) {
              if (parts == 2 && pass != ConvPass::kForward) continue;
              ConvUse use{.pass = pass, .window = c.window, .weights = c.weights(), .dtype = dtype, .parts = parts};
              if (slices == 2 && pass == ConvPass::kInputGrad && c.ci < 32) continue;
              compare_with_reference(kernel, use, c, slices);
            }
}

void compare_amx_with_reference(MakeUse make) {
  const Case cases[] = {{"volume", window_of(3, 3, 1, 1, 1, 1), {9, 6, 17}, 32, 64},
                        {"image", window_of(2, 3, 1, 1, 1, 1), {19, 23}, 32, 64, 2}};
  for (const Case& c : cases)
    for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad})
      for (std::int64_t slices : {1, 2})
        for (std::size_t parts : {1, 2})
          if (parts == 1 || pass == ConvPass::kForward)
            compare_with_reference(
                ConvKernel::kAmx,
                {.pass = pass, .window = c.window, .weights = c.weights(), .dtype = DType::kBF16, .parts = parts}, c,
                slices, make);
  for (std::int64_t width : {6, 300}) {  // the patches of 300 take several slabs
    const Case patches{"patches", window_of(3, 2, 2, 1, 0, 0), {16, 10, width}, 64, 32, 2};
    for (ConvPass pass : {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kWeightGrad})
      compare_with_reference(
          ConvKernel::kAmx,
          {.pass = pass, .window = patches.window, .weights = patches.weights(), .dtype = DType::kBF16}, patches, 1,
          make);
  }
}

TEST(ConvTable, AmxEqualsTheReferenceInEveryPassAndSlice) {
  compare_amx_with_reference([](const ConvUse& use) { return fast::make_amx_over(amx::kEmulated, use); });
  if (conv_runs(ConvKernel::kAmx, use_of(ConvPass::kForward, 32, 32, DType::kBF16)))
    compare_amx_with_reference(nullptr);
}

TEST(ConvTable, TheEmulationIsNeverChosen) {
  const ConvUse use = use_of(ConvPass::kForward, 32, 32, DType::kBF16);
  EXPECT_TRUE(fast::amx_computes(use));
  EXPECT_EQ(fast::amx_applies(use), amx::available());
  EXPECT_EQ(conv_runs(ConvKernel::kAmx, use), amx::available());
  EXPECT_EQ(choose_conv(use) == ConvKernel::kAmx, amx::available());
}

}  // namespace
}  // namespace voxshard
