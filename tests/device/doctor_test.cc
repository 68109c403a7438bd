// Tests of the report of `voxshard doctor` on a known processor and on an unknown one.
#include "pipelines/commands/run_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/output/output_file.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Doctor : public ::testing::Test {
 protected:
  DoctorReport ask(bool measure = false) const {
    NoProgress progress;
    return run_doctor({.output = file_, .quick = true, .measure = measure, .call_seconds = 1e-6, .most_flops = 2e7},
                      progress);
  }
  static std::string text_of(const DoctorReport& report, const std::string& name) {
    for (const DoctorCheck& check : report.checks)
      if (check.name == name) return check.text;
    return "";
  }
  ScratchFolder folder_{"doctor"};
  fs::path file_ = folder_ / "host.json";
};

TEST_F(Doctor, ChecksTheKernelsOfAnUnknownProcessorOrSetAndSaysSo) {
  const DoctorReport first = ask(true);
  EXPECT_THAT(text_of(first, "convolutions"),
              HasSubstr("was not seen before (nothing is stored of it), self-check of all kernels: "));
  const DoctorReport known = ask();
  EXPECT_EQ(known.unseen, "");
  EXPECT_THAT(text_of(known, "convolutions"), Not(HasSubstr("not seen before")));
  const HostRates stored = first.rates;
  HostRates other = stored;
  other.cpu = "another processor";
  write_json(file_, to_json(other));
  EXPECT_THAT(text_of(ask(), "convolutions"), HasSubstr("host.json is of another processor with "));
  other = stored;
  other.instruction_set = "mmx";
  write_json(file_, to_json(other));
  EXPECT_THAT(ask().unseen, HasSubstr("with mmx"));
  auto old = to_json(stored);
  old["format"] = "voxshard 1";
  write_json(file_, old);
  EXPECT_THAT(ask().unseen, HasSubstr("does not say of which it is"));
  write_json(file_, {{"measured_host", true}});
  EXPECT_THAT(ask().unseen, HasSubstr("does not say of which it is"));
}

TEST_F(Doctor, WithoutMeasuringNothingIsWritten) {
  const DoctorReport report = ask();
  EXPECT_FALSE(fs::exists(file_));
  const auto json = to_json(report);
  EXPECT_FALSE(json.contains("host") || json.contains("output")) << json;
  EXPECT_EQ(json["instruction_set"], instruction_set_name(instruction_set()));
  EXPECT_EQ(json["instruction_sets"].size(), instruction_sets().size());
  EXPECT_THAT(text_of(report, "instruction sets"),
              HasSubstr(std::string("in force: ") + instruction_set_name(instruction_set())));
}

TEST(SelfCheckOfKernels, NamesTheRowsThatComputeSomethingElseAndThoseThatTheSetHasNoCodeFor) {
  std::vector<ConvRow> rows(conv_rows().begin(), conv_rows().end());
  for (ConvRow& row : rows) {
    if (row.kernel == ConvKernel::kWinograd2 && row.pass == ConvPass::kInputGrad)
      row.make = [](const ConvUse&) -> std::unique_ptr<Kernel> {
        return std::make_unique<FunctionKernel>([](const KernelCall& call) {
          for (std::int64_t i = 0; i < call.output.count(); ++i) store(call.output, i, std::nan(""));
        });
      };
    if (row.kernel == ConvKernel::kTiled) row.runs = [](const ConvUse&) { return false; };
  }
  const SelfCheck found = self_check(rows, conv_agrees);
  EXPECT_THAT(found.differ, testing::ElementsAre("winograd2 input gradient"));
  EXPECT_THAT(found.absent, testing::Contains("tiled weight gradient"));
  EXPECT_EQ(found.agree.size() + found.absent.size() + 1 + 3, rows.size()) << "and three of the reference";
  EXPECT_FALSE(found.agree.empty());
  EXPECT_THAT(text_of(found),
              HasSubstr("not used, because they compute them otherwise: winograd2 input gradient; not in "));
  const SelfCheck here = self_check(conv_rows(), conv_is_trusted);
  EXPECT_THAT(here.differ, testing::IsEmpty());
  EXPECT_THAT(here.agree, testing::Contains("tiled weight gradient"));
}

}  // namespace
}  // namespace voxshard
