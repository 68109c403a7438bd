// UIDs of objects: the same where their contents are, and of another label map or series others.
#include "pipelines/tasks/segmentation/outputs/made_hash.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace voxshard {
namespace {

Tensor labels_of(const Shape& shape, std::int32_t first = 0) {
  Tensor labels(DType::kI32, shape);
  std::fill_n(labels.as<std::int32_t>(), labels.count(), 1);
  labels.as<std::int32_t>()[0] = first;
  return labels;
}

TEST(MadeHash, KeysOfObjectsDoNotDependOnTheOrderOfTheFiles) {
  const ObjectKeys keys = object_keys("run", {"a", "b"}), other = object_keys("run", {"b", "a"});
  EXPECT_EQ(keys.input, other.input);
  EXPECT_EQ(keys.object, other.object);
  EXPECT_EQ(object_keys("another run", {"a", "b"}).input, keys.input);
  EXPECT_NE(object_keys("another run", {"a", "b"}).object, keys.object);
  EXPECT_NE(object_keys("run", {"a", "c"}).object, keys.object);
}

TEST(MadeHash, UidsAreOthersWhereAVoxelHasAnotherLabel) {
  const std::string key = uid_key("object", "1.2.3", labels_of({2, 3, 4}));
  EXPECT_EQ(uid_key("object", "1.2.3", labels_of({2, 3, 4})), key);
  EXPECT_NE(uid_key("object", "1.2.3", labels_of({2, 3, 4}, 1)), key) << "as another division of the network rounds";
  EXPECT_NE(uid_key("object", "1.2.3", labels_of({2, 4, 3})), key);
  EXPECT_NE(uid_key("object", "1.2.4", labels_of({2, 3, 4})), key) << "another channel of the case comes first";
  EXPECT_NE(uid_key("another", "1.2.3", labels_of({2, 3, 4})), key);
}

}  // namespace
}  // namespace voxshard
