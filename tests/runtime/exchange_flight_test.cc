// Messages between ranks are under way while calls that do not need them are computed.
#include "libcore/runtime/exchange_flight.h"

#include <algorithm>
#include <cstring>

#include "libcore/runtime/core_set.h"
#include "tests/partition/partition_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;

/// A convolution of 16 planes with a kernel of 3.
struct ConvScene {
  ConvScene() {
    Builder b(graph, op_table());
    image = b.input("x", {DType::kF32, {1, 16, 8, 8, 1}});
    const ValueId weights = b.parameter("w", {DType::kF32, {3, 3, 3, 1, 2}});
    conv = b.op("conv", {image, weights}, ConvAttrs{.window = same_window({1, 16, 8, 8, 1}, 3)}, "y");
    graph.outputs["y"] = conv;
    Tensor& w = parameters["w"] = Tensor(DType::kF32, {3, 3, 3, 1, 2});
    for (std::int64_t i = 0; i < w.count(); ++i) w.as<float>()[i] = static_cast<float>(i % 5) - 2;
  }
  Executable lowered(const Ranks& ranks, const char* partition = "1x8x1x1x1") const {
    return lower(graph, op_table(), {.mesh = {.partition = parse_partition(partition, 5)}}, {.ranks = ranks});
  }
  static void fill(const TensorView& box) {
    Tensor whole(DType::kF32, {1, 16, 8, 8, 1});
    for (std::int64_t i = 0; i < whole.count(); ++i) whole.as<float>()[i] = static_cast<float>(i % 11);
    copy(whole.view(), box);
  }
  Graph graph;
  ValueId image = kNoValue, conv = kNoValue;
  Parameters parameters;
};

std::size_t exchange_of(const Program& program, ValueId value) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].kind == InstructionKind::kExchange && program.instructions[i].value == value) return i;
  return program.instructions.size();
}

TEST(ExchangeFlight, InnerCoresComputeWhileAMessageIsHeldUp) {
  ConvScene scene;
  Mailbox mailbox(2);
  mailbox.postman = [](Letter& letter) { letter.held_up = letter.to == 0 ? 50 : 0; };
  run_valid_ranks(mailbox, [&](Transport& transport) {
    const Executable executable = scene.lowered(transport.place());
    WorkerPool pool(1);
    Parameters parameters = scene.parameters;
    CoreSet cores(executable, op_table(), parameters, pool, transport);
    TraceRecorder trace({.workers = 1});
    cores.set_trace(&trace);
    cores.feed(scene.image, ConvScene::fill);
    trace.begin_step(executable.program);
    cores.run();
    trace.end_step();
    if (transport.rank() != 0) return;
    std::vector<std::int32_t> order;  // cores of the convolution, and -1 where the message is unpacked
    const auto exchange = static_cast<std::int32_t>(exchange_of(executable.program, scene.image));
    for (const TraceEvent& event : trace.events(0)) {
      if (event.kind == TraceKind::kTask && event.core >= 0) order.push_back(event.core);
      if (event.kind == TraceKind::kReceive && event.instruction == exchange) order.push_back(-1);
    }
    // Rank 0 has the cores 0 to 3, of which only core 3 borders on rank 1.
    const auto unpacked = std::find(order.begin(), order.end(), -1);
    ASSERT_NE(unpacked, order.end());
    for (std::int32_t core : {0, 1, 2})
      EXPECT_EQ(std::find(unpacked, order.end(), core), order.end()) << "core " << core << " did not wait";
    EXPECT_NE(std::find(unpacked, order.end(), 3), order.end()) << "core 3 did";
  });
}

TEST(ExchangeFlight, OnlyCallsThatReadWhatComesWait) {
  ConvScene scene;
  const Executable executable = scene.lowered({.rank = 0, .ranks = 2}, "1x2x1x1x1");
  Parameters parameters = scene.parameters;
  const Cores cores(executable, op_table(), parameters, 1, {.rank = 0, .ranks = 2});
  const std::size_t exchange = exchange_of(executable.program, scene.image);
  ASSERT_LT(exchange, executable.program.instructions.size());
  std::size_t reader = exchange;
  while (executable.program.instructions[reader].kind != InstructionKind::kCompute) ++reader;
  Stage stage = cores.stage(reader, 0);
  // Core 0 has planes 0 to 7 and receives plane 8. The blocks are made by hand: they read planes 6..8, 0..4 and 3..7.
  const Call whole = stage.calls.front();
  stage.calls.clear();
  for (const auto& [begin, end] : {std::pair(6, 9), std::pair(0, 5), std::pair(3, 8)}) {
    Call call = whole;
    Box box = call.inputs[0].box;
    box.set(1, begin, end);
    call.inputs[0].box = box;
    stage.calls.push_back(call);
  }
  put_waiting_last(cores, exchange, 0, stage);
  EXPECT_EQ(stage.free, 2u);
  EXPECT_EQ(stage.calls[0].inputs[0].box.begin[1], 0);
  EXPECT_EQ(stage.calls[1].inputs[0].box.begin[1], 3);
  EXPECT_EQ(stage.calls[2].inputs[0].box.begin[1], 6);
}

TEST(ExchangeFlight, NothingIsFreeBehindTheLastReader) {
  ConvScene scene;
  const Executable executable = scene.lowered({.rank = 0, .ranks = 2}, "1x2x1x1x1");
  Parameters parameters = scene.parameters;
  const Cores cores(executable, op_table(), parameters, 1, {.rank = 0, .ranks = 2});
  Stage late{.instruction = executable.program.instructions.size() + 1, .calls = {{}}};
  put_waiting_last(cores, exchange_of(executable.program, scene.image), 0, late);
  EXPECT_EQ(late.free, 0u);
}

/// Returns the result of the convolution on the cores of all ranks; `postman` may change messages.
Tensor result(const std::function<void(Letter&)>& postman) {
  ConvScene scene;
  Tensor whole(DType::kF32, {1, 16, 8, 8, 2});
  Mailbox mailbox(4);
  mailbox.postman = postman;
  run_valid_ranks(mailbox, [&](Transport& transport) {
    const Executable executable = scene.lowered(transport.place());
    WorkerPool pool(1);
    Parameters parameters = scene.parameters;
    CoreSet cores(executable, op_table(), parameters, pool, transport);
    cores.feed(scene.image, ConvScene::fill);
    cores.run();
    for (std::size_t core = static_cast<std::size_t>(transport.rank()) * 2, end = core + 2; core < end; ++core) {
      const TensorView part = cores.owned(scene.conv, core);
      copy(part, whole.view().sub(part.box));
    }
  });
  return whole;
}

/// Returns the planes in which two results differ.
std::vector<std::int64_t> planes_that_differ(const Tensor& a, const Tensor& b) {
  std::vector<std::int64_t> planes;
  const std::int64_t plane = a.count() / 16;
  for (std::int64_t z = 0; z < 16; ++z)
    if (std::memcmp(a.as<const float>() + z * plane, b.as<const float>() + z * plane,
                    static_cast<std::size_t>(plane) * 4) != 0)
      planes.push_back(z);
  return planes;
}

TEST(ExchangeFlight, ADamagedOrLostMessageIsSeenWhereItsMarginIsRead) {
  const Tensor sound = result({});
  const auto from_1_to_2 = [](const Letter& letter) { return letter.from == 1 && letter.to == 2; };
  const Tensor damaged = result([&](Letter& l) {
    if (from_1_to_2(l)) l.damaged = 5;
  });
  EXPECT_EQ(planes_that_differ(damaged, sound), std::vector<std::int64_t>{8}) << "rank 2 has planes 8 to 11";
  const Tensor lost = result([&](Letter& l) { l.lost = from_1_to_2(l); });
  EXPECT_EQ(planes_that_differ(lost, sound), std::vector<std::int64_t>{8});
}

}  // namespace
}  // namespace voxshard
