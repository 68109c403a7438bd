// Legal meshes, counted by hand.
#include <set>

#include "libcore/partition/program.h"
#include "tests/planner/planner_scene.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<std::string> texts(const std::vector<Mesh>& meshes) {
  std::vector<std::string> all;
  for (const Mesh& mesh : meshes) all.push_back(std::to_string(mesh.replicas) + " of " + to_string(mesh.partition));
  return all;
}

TEST(LegalMeshes, OfOneCoreIsTheUncutOne) {
  EXPECT_THAT(texts(legal_meshes({3, 8, 8, 8, 1}, 1, false)), testing::ElementsAre("1 of 1x1x1x1x1"));
}

TEST(LegalMeshes, OfAnImageByHand) {
  EXPECT_THAT(texts(legal_meshes({1, 2, 8, 1}, 8, true)),
              testing::UnorderedElementsAre("1 of 1x1x8x1", "1 of 1x2x4x1"));
  EXPECT_THAT(texts(legal_meshes({2, 2, 2, 1}, 4, false)),
              testing::UnorderedElementsAre("1 of 1x1x1x1", "1 of 1x1x2x1", "1 of 1x2x1x1", "1 of 1x2x2x1",
                                            "2 of 1x1x1x1", "2 of 1x1x2x1", "2 of 1x2x1x1"));
}

TEST(LegalMeshes, OfAVolumeAreCountedByHand) {
  // Powers 2^i, 2^j, 2^k with i + j + k <= 2: 1 + 3 + 6.
  EXPECT_EQ(legal_meshes({1, 4, 4, 4, 1}, 4, false).size(), 10u);
  EXPECT_EQ(legal_meshes({1, 4, 4, 4, 1}, 7, false).size(), 10u);
  EXPECT_EQ(legal_meshes({1, 4, 4, 4, 1}, 4, true).size(), 6u);
  // Batch 6 on at most 6 cores: one replica of up to 6 (10), two of up to 3 (4), three of 2 (4), six of 1 (1).
  EXPECT_EQ(legal_meshes({6, 4, 4, 4, 1}, 6, false).size(), 19u);
  EXPECT_EQ(legal_meshes({6, 4, 4, 4, 1}, 6, true).size(), 4u);  // three of 2 parts, six of 1
}

TEST(LegalMeshes, AnAxisHasAPowerOfTwoOfPartsAndNoMoreThanPlanes) {
  const auto meshes = legal_meshes({1, 3, 5, 1, 1}, 64, false);
  EXPECT_EQ(meshes.size(), 6u);  // D over 1 or 2, H over 1, 2 or 4, W uncut
  for (const Mesh& mesh : meshes) {
    EXPECT_LE(mesh.partition[1], 2);
    EXPECT_LE(mesh.partition[2], 4);
    EXPECT_EQ(mesh.partition[3], 1);
  }
}

TEST(LegalMeshes, ReplicasDivideTheBatchAndThePartitionCutsNeitherBatchNorChannels) {
  std::set<std::int64_t> replicas;
  for (const Mesh& mesh : legal_meshes({12, 8, 8, 8, 4}, 16, false)) {
    replicas.insert(mesh.replicas);
    EXPECT_EQ(mesh.partition[0], 1);
    EXPECT_EQ(mesh.partition[4], 1);
  }
  EXPECT_THAT(replicas, testing::ElementsAre(1, 2, 3, 4, 6, 12));
}

TEST(LegalMeshes, AReplicaHasAtMost128Cores) {
  std::int64_t widest = 0, most = 0;
  for (const Mesh& mesh : legal_meshes({2, 256, 256, 256, 1}, 256, false)) {
    widest = std::max(widest, mesh.cores_per_replica());
    most = std::max(most, mesh.cores());
  }
  EXPECT_EQ(widest, 128);
  EXPECT_EQ(most, 256);
}

TEST(LegalMeshes, AscendInCoresThenInReplicasWithoutARepetition) {
  const auto meshes = legal_meshes({4, 8, 8, 8, 1}, 16, false);
  for (std::size_t i = 1; i < meshes.size(); ++i)
    EXPECT_LE(std::pair(meshes[i - 1].cores(), meshes[i - 1].replicas),
              std::pair(meshes[i].cores(), meshes[i].replicas));
  const auto all = texts(meshes);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(LegalMeshes, ExactlyIsWhatRemainsOfAtMost) {
  for (const std::int64_t cores : {1, 2, 3, 6, 8}) {
    std::vector<std::string> expected;
    for (const Mesh& mesh : legal_meshes({6, 4, 8, 8, 1}, cores, false))
      if (mesh.cores() == cores) expected.push_back(texts({mesh}).front());
    EXPECT_EQ(texts(legal_meshes({6, 4, 8, 8, 1}, cores, true)), expected) << cores;
  }
  EXPECT_TRUE(legal_meshes({1, 8, 8, 8, 1}, 3, true).empty());
}

TEST(LegalMeshes, EachCutsTheModelSoundlyAlsoWithUnevenSizes) {
  const Graph graph = scene_unet({2, 5, 7, 4}, {.base_filters = 2, .depth = 3});
  const auto meshes = legal_meshes({2, 5, 7, 4, 1}, 8, false);
  EXPECT_EQ(meshes.size(), 27u);  // 17 of one replica (no axis has 8 planes), 10 of two
  for (const Mesh& mesh : meshes)
    for (const std::int64_t thinnest_slab : {0, 4}) {
      const Program program = partition(graph, op_table(), {.mesh = mesh, .thinnest_slab = thinnest_slab});
      EXPECT_THAT(verify(program, op_table()), testing::IsEmpty()) << texts({mesh}).front();
    }
}

}  // namespace
}  // namespace voxshard
