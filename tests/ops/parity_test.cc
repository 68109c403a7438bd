// Every op, cut over every legal grid of 1, 2, 3, 4, 6 and 8 cores with uneven and empty shards, equals itself uncut.
#include <set>

#include "tests/expect_error.h"

#include "tests/ops/op_cases.h"

namespace voxshard {
namespace {

using namespace test;

std::vector<OpCase> all_cases() {
  std::vector<OpCase> all;
  for (const auto& family :
       {conv_cases(), pool_cases(), norm_cases(), pointwise_cases(), loss_cases(), detection_cases()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

class EveryOp : public testing::TestWithParam<OpCase> {};

TEST_P(EveryOp, EqualsItselfUncutOnEveryGrid) { expect_parity(GetParam()); }

std::string case_name(const testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.op + "_" + std::to_string(info.index) + "_";
  for (char ch : info.param.label)
    if (std::isalnum(static_cast<unsigned char>(ch))) name += ch;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryOp, testing::ValuesIn(all_cases()), case_name);

TEST(OpTable, EveryOpHasAParityCase) {
  std::set<std::string> covered;
  for (const OpCase& c : all_cases()) covered.insert(c.op);
  for (const auto& [name, def] : op_table().all())
    EXPECT_TRUE(covered.contains(name)) << "op " << name << " has no parity case; add one in tests/ops";
  for (const auto& name : covered) EXPECT_TRUE(op_table().all().contains(name)) << name;
}

TEST(OpTable, EveryOpHasAShapeRuleAndAKernel) {
  for (const auto& [name, def] : op_table().all()) {
    EXPECT_EQ(def.name, name);
    EXPECT_NE(def.infer, nullptr) << name;
    EXPECT_NE(def.kernel, nullptr) << name;
  }
}

TEST(OpTable, AnUnknownNameIsInternal) {
  expect_error(ErrorKind::kInternal, "no op is named convolution", [&] { op_table().at("convolution"); });
}

TEST(Harness, ListsEveryGridOnce) {
  EXPECT_EQ(grids_of(1, 3).size(), 1U);
  EXPECT_EQ(grids_of(8, 3).size(), 20U);  // 2^3 over four axes
  EXPECT_EQ(grids_of(6, 2).size(), 9U);
  EXPECT_EQ(grids_of(2, 2), (std::vector<Dims>{{1, 1, 2, 1}, {1, 2, 1, 1}, {2, 1, 1, 1}}));
}

}  // namespace
}  // namespace voxshard
