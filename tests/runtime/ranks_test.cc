// Two ranks are two core sets with memory, parameters and workers of their own. Here they are two threads, and every message
// goes through a pair of sockets: a transport that is written outside of the engine.
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

class SocketTransport : public Transport {
 public:
  SocketTransport(int rank, int socket) : rank_(rank), socket_(socket) {}
  int rank() const override { return rank_; }
  int ranks() const override { return 2; }
  void send(int, std::span<const std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::write(socket_, bytes.data() + at, bytes.size() - at);
      ASSERT_GT(n, 0);
      at += static_cast<std::size_t>(n);
    }
    sent += static_cast<std::int64_t>(bytes.size());
  }
  void receive(int, std::span<std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::read(socket_, bytes.data() + at, bytes.size() - at);
      ASSERT_GT(n, 0);
      at += static_cast<std::size_t>(n);
    }
  }
  std::int64_t sent = 0;

 private:
  int rank_, socket_;
};

struct Outcome {
  Parameters parameters;
  std::vector<double> losses;
  std::int64_t sent = 0, own_arenas = 0, messages = 0;
};

constexpr int kSteps = 4;

Outcome train(const SceneOptions& options, Transport* transport) {
  UNetScene scene(options);
  SceneOptions o = options;
  Session session(
      op_table(),
      [&](const Shape& e, Phase phase) {
        Target target = scene_target(o);
        if (transport != nullptr) target.ranks = transport->place();
        return lower(scene_graph(o, e, phase == Phase::kTrain), op_table(), scene_cut(o), target);
      },
      scene.pool, transport);
  session.parameters() = scene.session.parameters();
  const Executable& plan = session.plan(scene.extents, Phase::kTrain);
  Trainer trainer(session, {.kind = OptimizerKind::kAdam}, plan.program.graph, kSteps);
  Outcome outcome{.own_arenas = plan.bytes.all_arenas() - plan.bytes.elsewhere, .messages = plan.bytes.messages};
  for (int step = 0; step < kSteps; ++step) outcome.losses.push_back(trainer.step(scene.extents, scene.feed()).loss);
  outcome.parameters = session.parameters();
  return outcome;
}

std::array<Outcome, 2> train_over_sockets(const SceneOptions& options) {
  int sockets[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  std::array<Outcome, 2> outcomes;
  std::thread threads[2];
  for (int rank = 0; rank < 2; ++rank)
    threads[rank] = std::thread([&, rank] {
      SocketTransport transport(rank, sockets[rank]);
      const auto at = static_cast<std::size_t>(rank);
      outcomes[at] = train(options, &transport);
      outcomes[at].sent = transport.sent;
    });
  for (std::thread& thread : threads) thread.join();
  for (int socket : sockets) ::close(socket);
  return outcomes;
}

class EveryCut : public testing::TestWithParam<SceneOptions> {};

TEST_P(EveryCut, TwoRanksTrainToTheBytesOfOne) {
  const Outcome one = train(GetParam(), nullptr);
  const auto two = train_over_sockets(GetParam());
  for (const Outcome& rank : two) {
    EXPECT_EQ(first_difference(rank.parameters, one.parameters), "");
    EXPECT_EQ(rank.losses, one.losses);
    EXPECT_GT(rank.sent, 0);
    EXPECT_GT(rank.messages, 0) << "buffers are planned";
  }
  EXPECT_EQ(one.messages, 0);
  EXPECT_EQ(two[0].own_arenas + two[1].own_arenas, one.own_arenas) << "no core is held twice";
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, EveryCut,
    testing::Values(SceneOptions{.partition = "1x2x1x1x1"}, SceneOptions{.partition = "1x2x2x2x1", .dtype = DType::kBF16},
                    SceneOptions{.extents = {1, 9, 7, 10}, .partition = "1x3x1x1x1"},
                    SceneOptions{.extents = {2, 8, 8, 8}, .partition = "1x2x1x1x1", .replicas = 2, .workers = 2},
                    SceneOptions{.extents = {2, 8, 8, 8}, .partition = "2x1x2x1x1",
                                 .config = {.base_filters = 4, .depth = 2, .norm = NormKind::kInstance}},
                    SceneOptions{.extents = {1, 16, 8, 8}, .partition = "1x8x1x1x1", .recompute = Recompute::kLevels,
                                 .thinnest_slab = 4}));

}  // namespace
}  // namespace voxshard
