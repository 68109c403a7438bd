// The check of a table's row before its first use: each kernel that it makes carries a planted fault in turn, and the
// row must not be trusted. AMX rows are checked over the emulation on every processor.
#include <algorithm>

#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/convolution/agreement_cases.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "tests/kernels/support.h"

namespace voxshard {
namespace {

using namespace test;

enum class Fault { kNone, kTapDropped, kChannel, kEdgeNotWritten, kNothingWritten, kSecondInputIgnored, kPhase };

bool is_forward(const ConvUse& use) { return use.pass == ConvPass::kForward; }

/// True when a kernel of this use can have the fault.
bool has_path(Fault fault, const ConvUse& use) {
  switch (fault) {
    case Fault::kTapDropped:
      return use.window.volume() > 1;
    case Fault::kSecondInputIgnored:
      return is_forward(use) && use.parts > 1;
    case Fault::kPhase:
      return element_count(use.window.stride) > 1;
    default:
      return true;
  }
}

/// A kernel that computes what another does, except for its fault.
class PlantedKernel : public Kernel {
 public:
  PlantedKernel(std::unique_ptr<Kernel> inner, const ConvUse& use, Fault fault)
      : inner_(std::move(inner)), use_(use), fault_(fault) {}

  std::int64_t packed_bytes() const override { return inner_->packed_bytes(); }
  int packed_input() const override { return inner_->packed_input(); }
  std::int64_t pack_tasks() const override { return inner_->pack_tasks(); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    if (fault_ != Fault::kTapDropped) return inner_->pack(weights, packed, task);
    const Tensor less(weights.dtype, weights.extent());
    copy(weights, less.view());
    drop_tap(less.view());
    inner_->pack(less.view(), packed, task);
  }
  std::int64_t workspace_bytes(const KernelCall& call) const override { return inner_->workspace_bytes(call); }

  void run(const KernelCall& call) const override {
    KernelCall planted = call;
    std::vector<TensorView> inputs(call.inputs.begin(), call.inputs.end());
    planted.inputs = inputs;
    Tensor nothing;
    if (fault_ == Fault::kSecondInputIgnored) {
      nothing = Tensor(inputs[1].dtype, inputs[1].extent());
      inputs[1] = dense_view(nothing.data(), inputs[1].dtype, inputs[1].box);
    }
    Box kept = call.output.box;
    if (fault_ == Fault::kEdgeNotWritten)
      kept.set(kept.axes() - 2, kept.end(kept.axes() - 2) - 1, kept.end(kept.axes() - 2));
    if (fault_ != Fault::kEdgeNotWritten && fault_ != Fault::kNothingWritten) kept = Box::none(kept.axes());
    const Tensor before(call.output.dtype, kept.extent);
    if (!kept.empty()) copy(call.output.sub(kept), dense_view(before.data(), before.dtype(), kept));
    inner_->run(planted);
    if (!kept.empty()) copy(dense_view(before.data(), before.dtype(), kept), call.output.sub(kept));
    if (fault_ == Fault::kTapDropped && use_.pass == ConvPass::kWeightGrad) drop_tap(call.output);
    if (fault_ == Fault::kChannel) scale_last_channel(call.output);
  }

 private:
  /// Drops the last tap.
  static void drop_tap(const TensorView& weights) {
    Box tap = weights.box;
    for (int a = 0; a + 2 < tap.axes(); ++a) tap.set(a, tap.end(a) - 1, tap.end(a));
    fill_zero(weights.sub(tap));
  }
  static void scale_last_channel(const TensorView& out) {
    Box channel = out.box;
    channel.set(channel.axes() - 1, channel.end(channel.axes() - 1) - 1, channel.end(channel.axes() - 1));
    const TensorView view = out.sub(channel);
    for_each_row(view.box, [&](const Dims& at) {
      const std::int64_t offset = offset_at(view, at);
      store(view, offset, 1.01 * load(view, offset));
    });
  }

  std::unique_ptr<Kernel> inner_;
  ConvUse use_;
  Fault fault_;
};

/// The plan of the row under test: all uses are recorded, and the kernel number `at` has the fault.
struct Plan {
  std::unique_ptr<Kernel> (*make)(const ConvUse& use) = nullptr;
  Fault fault = Fault::kNone;
  std::size_t at = 0;
  std::vector<ConvUse> made;
};
Plan plan;

std::unique_ptr<Kernel> make_planted(const ConvUse& use) {
  const bool here = plan.fault != Fault::kNone && plan.made.size() == plan.at;
  plan.made.push_back(use);
  ConvUse asked = use;
  if (here && plan.fault == Fault::kPhase) {
    const int last = use.window.axes() - 1;
    asked.window.pad_lo[last] += 1, asked.window.pad_hi[last] -= 1;
  }
  auto kernel = plan.make(asked);
  return here ? std::make_unique<PlantedKernel>(std::move(kernel), use, plan.fault) : std::move(kernel);
}

/// Checks the row with the fault in kernel number `at`, in one case (`conv`) or in all of them.
bool agrees_with(const ConvRow& row, Fault fault, std::size_t at, const fast::SmallConv* conv = nullptr) {
  plan = {.make = row.make, .fault = fault, .at = at, .made = {}};
  ConvRow planted = row;
  planted.make = make_planted;
  return conv == nullptr ? conv_agrees(planted) : fast::agrees_in(planted, *conv);
}

std::vector<ConvUse> checked_uses(const ConvRow& row, const fast::SmallConv* conv = nullptr) {
  agrees_with(row, Fault::kNone, 0, conv);
  return plan.made;
}

std::string name_of(const ConvRow& row) {
  return std::string(kConvKernelNames[static_cast<std::size_t>(row.kernel)]) + " pass " +
         std::to_string(static_cast<int>(row.pass));
}

/// Returns the rows of the table that run here, those of AMX also over the emulation.
std::vector<ConvRow> tested_rows() {
  std::vector<ConvRow> rows;
  for (const ConvRow& row : conv_rows()) {
    if (row.kernel == ConvKernel::kReference) continue;
    if (row.kernel != ConvKernel::kAmx || amx::available()) rows.push_back(row);
    if (row.kernel != ConvKernel::kAmx) continue;
    rows.push_back(row);
    rows.back().runs = fast::amx_computes;
    rows.back().make = [](const ConvUse& use) { return fast::make_amx_over(amx::kEmulated, use); };
  }
  std::erase_if(rows, [](const ConvRow& row) {  // rows without a case that runs here
    const auto convs = fast::small_convs();
    return std::none_of(convs.begin(), convs.end(), [&](const fast::SmallConv& conv) {
      const auto use = conv.use(row.pass, DType::kBF16);  // every row has cases in bf16
      return use.has_value() && fast::row_runs(row, *use);
    });
  });
  return rows;
}

/// Plants the fault in each kernel that each case of each row makes, if it can have it; expects the row not to be
/// trusted.
void expect_found(Fault fault) {
  std::size_t planted = 0;
  for (const ConvRow& row : tested_rows())
    for (const fast::SmallConv& conv : fast::small_convs()) {
      const std::vector<ConvUse> uses = checked_uses(row, &conv);
      for (std::size_t i = 0; i < uses.size(); ++i) {
        if (!has_path(fault, uses[i])) continue;
        ++planted;
        EXPECT_FALSE(agrees_with(row, fault, i, &conv))
            << name_of(row) << ": " << conv.path << ", kernel " << i << " in " << dtype_name(uses[i].dtype);
      }
    }
  EXPECT_GT(planted, 10U);
}

TEST(ConvAgreement, EveryRowComputesWhatTheReferenceDoes) {
  for (const ConvRow& row : tested_rows()) EXPECT_TRUE(agrees_with(row, Fault::kNone, 0)) << name_of(row);
}

TEST(ConvAgreement, ARowWithAFaultInItsLastKernelIsNotTrusted) {
  for (const ConvRow& row : tested_rows())
    EXPECT_FALSE(agrees_with(row, Fault::kChannel, checked_uses(row).size() - 1)) << name_of(row);
}

/// The check of all rows shall take less than 0.3 s. Its products stand for its time: 74 million, counted as if each
/// row ran each case in both types, took at most 0.18 s (libcore/README.md, bench_agreement).
TEST(ConvAgreement, TheProductsOfAllRowsAreFewEnoughForAFirstUse) {
  double products = 0;
  for (const ConvRow& row : conv_rows()) {
    if (row.kernel == ConvKernel::kReference) continue;  // is not checked
    for (const fast::SmallConv& conv : fast::small_convs())
      for (DType dtype : {DType::kF32, DType::kBF16})
        if (conv.use(row.pass, dtype).has_value())
          products += static_cast<double>(element_count(conv.y()) / conv.out * element_count(conv.weights()));
  }
  EXPECT_LE(products, 74e6 / 0.18 * 0.3);
}

TEST(ConvAgreement, ATapThatIsDroppedIsFound) { expect_found(Fault::kTapDropped); }
TEST(ConvAgreement, OneChannelOffByAHundredthIsFound) { expect_found(Fault::kChannel); }
TEST(ConvAgreement, AnEdgeThatIsNotWrittenIsFound) { expect_found(Fault::kEdgeNotWritten); }
TEST(ConvAgreement, ASliceThatIsMissingIsFound) { expect_found(Fault::kNothingWritten); }
TEST(ConvAgreement, ASecondInputThatIsIgnoredIsFound) { expect_found(Fault::kSecondInputIgnored); }
TEST(ConvAgreement, APhaseOfAStrideThatIsWrongIsFound) { expect_found(Fault::kPhase); }

/// A path through a kernel: which uses take it, and an example of a use that shows whether a row has the path at all.
struct Path {
  const char* name;
  bool (*taken)(const ConvUse& use);
  ConvUse example;
};

ConvUse example(int axes, std::int64_t kernel, std::int64_t stride, std::int64_t pad, std::int64_t dilation = 1) {
  Dims over = {2}, weights = Dims::filled(axes, kernel);
  for (int a = 0; a < axes; ++a) over.push_back(8);
  over.push_back(16), weights.push_back(16), weights.push_back(16);
  const Dims pads = Dims::filled(axes, pad);
  return {.window = {.kernel = Dims::filled(axes, kernel),
                     .stride = Dims::filled(axes, stride),
                     .dilation = Dims::filled(axes, dilation),
                     .pad_lo = pads,
                     .pad_hi = pads},
          .weights = weights,
          .over = over};
}

bool is_patches(const ConvUse& use) { return use.window.volume() > 1 && use.window.kernel == use.window.stride; }
bool is_strided(const ConvUse& use) { return element_count(use.window.stride) > 1; }

std::vector<Path> paths() {
  const ConvUse plain = example(3, 3, 1, 1);
  ConvUse parts = plain, offset = plain;
  parts.parts = 2, parts.part_channels = {8, 8};
  offset.channel = 4, offset.channels = 8;
  return {
      {"a volume", [](const ConvUse& u) { return u.window.axes() == 3 && u.window.volume() == 27; }, plain},
      {"an image", [](const ConvUse& u) { return u.window.axes() == 2 && u.window.volume() == 9; },
       example(2, 3, 1, 1)},
      {"no padding", [](const ConvUse& u) { return u.window.pad_lo[1] == 0 && u.window.kernel[1] == 3; },
       example(2, 3, 1, 0)},
      {"uneven padding", [](const ConvUse& u) { return u.window.pad_lo != u.window.pad_hi; }, plain},
      {"samples", [](const ConvUse& u) { return u.over[0] > 1; }, plain},
      {"few channels", [](const ConvUse& u) { return u.weights[u.weights.axes() - 2] < 4; }, plain},
      {"an edge of a block", [](const ConvUse& u) { return u.weights.back() % 16 != 0 && u.weights.back() > 16; },
       plain},
      {"a stride", [](const ConvUse& u) { return is_strided(u) && !is_patches(u) && u.window.volume() > 1; },
       example(3, 3, 2, 1)},
      {"patches", is_patches, example(3, 2, 2, 0)},
      {"one voxel", [](const ConvUse& u) { return u.window.volume() == 1 && !is_strided(u); }, example(3, 1, 1, 0)},
      {"one voxel of several", [](const ConvUse& u) { return u.window.volume() == 1 && is_strided(u); },
       example(2, 1, 2, 0)},
      {"a dilation", [](const ConvUse& u) { return u.window.dilation[0] > 1; }, example(2, 3, 1, 2, 2)},
      {"two inputs", [](const ConvUse& u) { return !is_forward(u) || u.parts > 1; }, parts},
      {"some channels",
       [](const ConvUse& u) { return u.pass != ConvPass::kInputGrad || (u.channel == 5 && u.channels > 0); }, offset},
      {"slices",
       [](const ConvUse& u) {
         return u.pass == ConvPass::kInputGrad ? u.channels == 16 && u.channel == 16
                                               : u.weights == Shape{3, 3, 3, 32, 16};
       },
       plain},
      {"a dense layer",
       [](const ConvUse& u) {
         return u.over == Shape{1, 1, 1, 5, u.over.back()};
       },
       example(3, 1, 1, 0)},
  };
}

TEST(ConvAgreement, EveryPathThatARowRunsIsAmongItsCasesInEveryTypeThatItRuns) {
  for (const ConvRow& row : tested_rows()) {
    const std::vector<ConvUse> uses = checked_uses(row);
    for (const Path& path : paths())
      for (DType dtype : {DType::kF32, DType::kBF16}) {
        ConvUse asked = path.example;
        asked.pass = row.pass;
        asked.dtype = dtype;
        const bool checked =
            std::any_of(uses.begin(), uses.end(), [&](const ConvUse& u) { return u.dtype == dtype && path.taken(u); });
        EXPECT_TRUE(checked || !row.runs(asked)) << name_of(row) << " " << dtype_name(dtype) << ": " << path.name;
      }
  }
}

}  // namespace
}  // namespace voxshard
