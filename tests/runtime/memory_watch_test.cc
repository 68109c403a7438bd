// Checked arenas find the faults that they exist for: each is planted in a kernel or in the plan, never in the watch.
#include "libcore/runtime/memory_watch.h"

#include <bit>
#include <cmath>

#include "libcore/graph/text.h"
#include "tests/expect_error.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

TEST(CheckedArena, ItsBytesArePoisonUntilTheyAreWritten) {
  const Arena arena(256, ArenaMode::kChecked);
  EXPECT_EQ(arena.first_written(0, 256), std::nullopt);
  arena.revive(0, 256);
  *arena.at(70, 1) = std::byte{1};
  *arena.at(99, 1) = std::byte{2};
  EXPECT_EQ(arena.first_written(0, 256), 70);
  EXPECT_EQ(arena.last_written(0, 256), 99);
  EXPECT_EQ(arena.first_written(100, 156), std::nullopt);
  arena.poison(64, 64);
  EXPECT_EQ(arena.first_written(0, 256), std::nullopt);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(0xFFFFFFFFU)) &&
              std::isnan(static_cast<float>(std::bit_cast<BF16>(std::uint16_t{0xFFFF}))));
}

void write(std::byte* at) { *reinterpret_cast<volatile std::uint8_t*>(at) = 1; }

TEST(CheckedArenaDeathTest, AWriteBehindItsLastByteEndsTheProcess) {
  for (const std::int64_t bytes : {64, 4096, 12352}) {
    const Arena arena(bytes, ArenaMode::kChecked);
    arena.revive(0, bytes);
    std::byte* const last = arena.at(bytes - 1, 1);
    write(last);
    EXPECT_DEATH(write(last + 1), "") << bytes;
  }
}

TEST(CheckedArenaDeathTest, AWriteInThePageBeforeItEndsTheProcess) {
  const Arena arena(8192, ArenaMode::kChecked);
  std::byte* const first = arena.at(0, 1);
  EXPECT_DEATH(write(first - 1), "");
}

/// Returns the table of ops with a leaky_relu (y = 2 x here) that writes `beyond` elements behind the end of its
/// result.
OpTable table_with_a_long_writer(std::int64_t beyond) {
  OpTable table;
  for (const auto& [name, def] : op_table().all()) {
    OpDef own = def;
    if (name == "leaky_relu")
      own.kernel = [](const OpContext&, KernelSet) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>([](const KernelCall& c) {
          for (std::int64_t i = 0; i < c.output.count(); ++i) store(c.output, i, 2 * load(c.inputs[0], i));
        });
      };
    if (name == "leaky_relu" && beyond > 0)
      own.kernel = [](const OpContext&, KernelSet) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>([](const KernelCall& c) {
          for (std::int64_t i = 0; i < c.output.count(); ++i) store(c.output, i, 2 * load(c.inputs[0], i));
          if (c.output.box.begin[0] == 1) store(c.output, c.output.count(), 7);
        });
      };
    table.add(own);
  }
  return table;
}

constexpr const char* kChain = R"(
    x = input : f32[2x8x8x2]
    a = scale %x by=3
    b = leaky_relu %a
    c = scale %b by=5
    d = scale %c by=7
    e = add %b, %d
    output e = %e
  )";

/// A chain of ops over the two samples of a batch, one per core, in checked arenas.
struct Chain {
  explicit Chain(OpTable table, const std::function<void(MemoryPlan&, const Graph&)>& change = {})
      : ops(std::move(table)) {
    const Target target{.guard_bytes = 64};
    Lowered lowered = lower_to_memory(parse_graph(kChain, ops), ops, {.mesh = {.partition = {2, 1, 1, 1}}}, target);
    if (change) change(lowered.memory, lowered.program.graph);
    executable = make_executable(std::move(lowered), ops, target);
    cores.emplace(executable, ops, parameters, pool, transport, ArenaMode::kChecked);
    cores->feed(executable.program.graph.find("x"), [](const TensorView& box) { fill(box, 1); });
  }
  double result() { return load(cores->owned(executable.program.graph.find("e"), 1), 0); }

  OpTable ops;
  WorkerPool pool{1};
  InProcessTransport transport;
  Parameters parameters;
  Executable executable;
  std::optional<CoreSet> cores;
};

Buffer& buffer_of(MemoryPlan& plan, ValueId value, std::size_t core) {
  for (Buffer& buffer : plan.arenas[core].buffers)
    if (buffer.value == value) return buffer;
  throw std::logic_error("no such buffer");
}

void expect_fault(Chain& chain, const std::string& text) {
#if defined(__SANITIZE_ADDRESS__)
  if (text.find("behind") != std::string::npos || text.find("nothing lived") != std::string::npos) {
    EXPECT_DEATH(chain.cores->run(), "use-after-poison");
    return;
  }
#endif
  expect_error(ErrorKind::kInternal, text, [&] { chain.cores->run(); });
}

TEST(MemoryWatch, ASoundStepHasNoFaultAndItsResult) {
  Chain chain(table_with_a_long_writer(0));
  for (int step = 0; step < 3; ++step) {
    chain.cores->run();
    EXPECT_TRUE(chain.cores->watch()->faults().empty());
    EXPECT_EQ(chain.result(), 6 + 210);
    chain.cores->feed(chain.executable.program.graph.find("x"), [](const TensorView& box) { fill(box, 1); });
  }
}

/// Expects a step that reads dead memory to give NaN. With the address sanitizer the read itself ends the process.
void expect_nan(Chain& chain) {
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(chain.cores->run(), "use-after-poison");
#else
  chain.cores->run();
  EXPECT_TRUE(std::isnan(chain.result()));
#endif
}

TEST(MemoryWatch, AnInputThatIsNotFedAgainIsNaN) {
  Chain chain(table_with_a_long_writer(0));
  chain.cores->run();
  expect_nan(chain);
}

TEST(MemoryWatch, AKernelThatWritesBesideItsBufferIsNamed) {
  Chain chain(table_with_a_long_writer(1));
  expect_fault(chain, "[b] instruction 1: writes behind the buffer of b");
}

TEST(MemoryWatch, ABufferThatIsReadAfterItsLifeIsNaN) {
  Chain chain(table_with_a_long_writer(0), [](MemoryPlan& plan, const Graph& graph) {
    Buffer& b = buffer_of(plan, graph.find("b"), 1);
    b.last = b.first + 1;  // c reads it, e reads it too
  });
  expect_nan(chain);
}

TEST(MemoryWatch, ABufferThatIsReusedTooEarlyIsNamed) {
  Chain chain(table_with_a_long_writer(0), [](MemoryPlan& plan, const Graph& graph) {
    buffer_of(plan, graph.find("d"), 1).offset = buffer_of(plan, graph.find("b"), 1).offset;
  });
  expect_fault(chain, "[d] instruction 3: the memory of d was written at +0 before it began");
}

TEST(MemoryWatch, AResultOutsideItsPlannedMemoryIsFoundAtTheEndOfTheStep) {
  // d is planned to live before it is computed.
  Chain chain(table_with_a_long_writer(0), [](MemoryPlan& plan, const Graph& graph) {
    Buffer& d = buffer_of(plan, graph.find("d"), 0);
    d.first = d.last = 0;
  });
  expect_fault(chain, "where nothing lived");
}

}  // namespace
}  // namespace voxshard
