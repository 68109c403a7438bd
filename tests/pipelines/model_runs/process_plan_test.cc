// The table of a process's memory: the moment of the largest use counts, and a refusal prints the table.
#include "pipelines/model_runs/process_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

using enum MemoryPart;
using ::testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(ProcessPlan, MomentsThatFollowEachOtherCountByTheWidest) {
  const ProcessPlan reading{{kReading, 50}}, running{{kArenas, 40}, {kResults, 30}};
  EXPECT_EQ(widest(reading, running), running);
  EXPECT_EQ(widest(running, reading), running);
  EXPECT_EQ((base_plan(7) + running).total(), 77);
}

TEST(ProcessPlan, WhatAHeaderPromisesDoesNotOverflow) {
  ProcessPlan plan{{kReading, planned_bytes(1e30)}, {kResampling, planned_bytes(1e30)}};
  plan += plan;
  EXPECT_EQ(plan.total(), std::int64_t{1} << 62);
}

TEST(ProcessPlan, ARefusalNamesThePartsTheBudgetAndWhatWouldFit) {
  const ProcessPlan plan{{kBase, 80 * kMiB}, {kReading, 900 * kMiB}};
  EXPECT_NO_THROW(require_fits(plan, 0, ErrorKind::kInput, "ct.nii", "")) << "no limit";
  EXPECT_NO_THROW(require_fits(plan, plan.total(), ErrorKind::kInput, "ct.nii", ""));
  try {
    require_fits(plan, plan.total() - 1, ErrorKind::kInput, "ct.nii", "crop it");
    FAIL() << "one byte too much went in";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_BUDGET");
    for (const char* piece : {"ct.nii takes 980.00 MiB (reading 900.00 MiB, program and libraries 80.00 MiB)",
                              "crop it", "raise {host-memory} to 980MiB"})
      EXPECT_THAT(e.what(), HasSubstr(piece));
  }
}

TEST(ProcessPlan, ARefusalBesideTheBaseNamesWhatIsLacking) {
  try {
    require_fits({{kReading, 900 * kMiB}}, 850 * kMiB, ErrorKind::kInput, "ct.nii", "crop it");
    FAIL() << "50 MiB too much went in";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("raise {host-memory} by 50MiB")) << "the limit is without the base";
  }
}

TEST(ProcessPlan, ARefusalSaysWhereNothingWouldFit) {
  const auto expect_end = [](const std::string& end, const WouldDo& would_do) {
    try {
      require_fits({{kBase, 80 * kMiB}}, 79 * kMiB, ErrorKind::kInput, "the process alone", "", would_do);
      FAIL() << "1 MiB too much went in";
    } catch (const Error& e) {
      EXPECT_TRUE(std::string(e.what()).ends_with("; nothing was allocated. No input would fit" + end)) << e.what();
    }
  };
  expect_end("; raise {host-memory} to 80MiB", {});
  expect_end("", [] { return std::nullopt; });
}

TEST(ProcessPlan, ABudgetThatDoesIsSoughtWherePlansGrowWithTheirBudget) {
  // Nothing is planned below 100 MiB; then half of the budget is taken by cores beside 90 MiB, up to 300 MiB in all.
  const auto needed = [](std::int64_t budget) -> std::optional<std::int64_t> {
    if (budget < 100 * kMiB) return std::nullopt;
    return std::min(300 * kMiB, 90 * kMiB + budget / 2);
  };
  for (const std::int64_t from : {1 * kMiB, 99 * kMiB + 1, 120 * kMiB, 250 * kMiB}) {
    const auto budget = budget_that_does(from, needed);
    ASSERT_TRUE(budget) << from;
    EXPECT_GE(*budget, from);
    EXPECT_LE(*needed(*budget), *budget) << "what is named does";
    EXPECT_EQ(*budget % kMiB, 0);
    EXPECT_LE(*budget, 300 * kMiB);
  }
  EXPECT_EQ(budget_that_does(kMiB, [](std::int64_t) { return std::optional<std::int64_t>(); }), std::nullopt);
}

TEST(ProcessPlan, TheReportHasThePlanByPartAndThePeak) {
  const ProcessReport report{{{kBase, 80 * kMiB}, {kArenas, 20 * kMiB}}, 96 * kMiB, 0};
  EXPECT_EQ(to_json(report).dump(), R"({"planned_bytes":104857600,"planned":{"base":83886080,"arenas":20971520},)"
                                    R"("peak_resident_bytes":100663296,"budget_bytes":0})");
  EXPECT_EQ(to_text(report),
            "memory: 100.00 MiB planned, 96.00 MiB resident at the "
            "peak\n");
}

TEST(ProcessPlan, APeakOverTheBudgetIsSaid) {
  const ProcessPlan plan{{kBase, 70 * kMiB}};
  for (const ProcessReport& silent : {ProcessReport{plan, 90 * kMiB, 0}, ProcessReport{plan, 90 * kMiB, 90 * kMiB}}) {
    EXPECT_EQ(silent.warning(), std::nullopt);
    EXPECT_FALSE(to_json(silent).contains("warning"));
  }
  const ProcessReport over{plan, 90 * kMiB, 80 * kMiB};
  EXPECT_THAT(*over.warning(),
              HasSubstr("W_PEAK this process took 90.00 MiB at its peak, 10.00 MiB over the 80.00 MiB"));
  EXPECT_EQ(to_json(over).at("warning").at("code"), "W_PEAK");
  EXPECT_THAT(*over.warning(), HasSubstr("give {host-memory} that much less"));
  EXPECT_THAT(to_json(over).at("warning").at("message").get<std::string>(),
              HasSubstr("give --host-memory that much less"))
      << "options as they are typed, where no other place replaces them";
}

TEST(ProcessPlan, LibrariesAreWhatIsResidentBeyondWhatIsPlannedOfIt) {
  const ProcessPlan held{{kBase, 70 * kMiB}, {kPlans, 5 * kMiB}};
  EXPECT_EQ(libraries_plan(82 * kMiB, held), (ProcessPlan{{kLibraries, 7 * kMiB}}));
  EXPECT_EQ(libraries_plan(60 * kMiB, held), ProcessPlan()) << "never less than what is planned";
  EXPECT_EQ(libraries_plan(82 * kMiB, {{kPlans, 5 * kMiB}}), ProcessPlan()) << "nobody measured the base";
}

TEST(ProcessPlan, AsManyPlansAreKeptAsFit) {
  EXPECT_EQ(kept_plans_bytes(2 * kMiB, 20 * kMiB, 0), 20 * kMiB) << "all";
  EXPECT_EQ(kept_plans_bytes(2 * kMiB, 900 * kMiB, 0), 64 * kMiB);
  EXPECT_EQ(kept_plans_bytes(2 * kMiB, 900 * kMiB, 10 * kMiB), 10 * kMiB);
  EXPECT_EQ(kept_plans_bytes(2 * kMiB, 900 * kMiB, 1), 2 * kMiB) << "one is needed";
}

}  // namespace
}  // namespace voxshard
