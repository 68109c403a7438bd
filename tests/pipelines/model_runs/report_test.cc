// An error loses only its case, unless it concerns more than the case.
#include "pipelines/model_runs/report.h"

#include <gtest/gtest.h>

#include <new>

#include "libcore/ranks/transport.h"

namespace voxshard {
namespace {

constexpr ErrorKind kOfCases[] = {ErrorKind::kInput, ErrorKind::kConfig, ErrorKind::kNoCase};

TEST(CaseBoundary, AnErrorOfACasesKindCostsTheCase) {
  for (const ErrorKind kind : kOfCases) {
    std::vector<CaseFailure> failures;
    EXPECT_FALSE(in_case_boundary("a", failures, [&] { throw Error(kind, "E_SHAPE", "too flat"); }));
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].id, "a");
    EXPECT_EQ(failures[0].code, "E_SHAPE");
  }
}

TEST(CaseBoundary, AnErrorOfAnotherRankIsNoCasesWhateverItsKind) {
  for (const ErrorKind kind : kOfCases) {
    const RankFailed error = parse_error(serialise_error({kind, "case_7 has no labels"}), "rank 1");
    EXPECT_EQ(error.kind(), kind);
    EXPECT_STREQ(error.what(), kind == ErrorKind::kConfig ? "case_7 has no labels" : "rank 1: case_7 has no labels");
    std::vector<CaseFailure> failures;
    EXPECT_THROW(in_case_boundary("a", failures, [&] { throw error; }), RankFailed);
    EXPECT_THROW(failure_of("a", {kind}, [&] { throw error; }), RankFailed);
    EXPECT_TRUE(failures.empty());
  }
}

TEST(CaseBoundary, WhatEndsTheBatchIsNoCases) {
  const EndsBatch error(Error(ErrorKind::kInput, "it vanished"));
  EXPECT_THROW(failure_of("a", {ErrorKind::kInput}, [&] { throw error; }), EndsBatch);
}

TEST(CaseBoundary, MemoryThatTheSystemRefusesCostsTheCase) {
  const auto failure = failure_of("a", {}, [] { throw std::bad_alloc(); });
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->code, kRefusedMemory);
}

}  // namespace
}  // namespace voxshard
