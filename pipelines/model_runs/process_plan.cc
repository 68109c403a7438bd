#include "pipelines/model_runs/process_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/budget_value.h"
#include "libcore/base/error.h"
#include "libcore/base/flag_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

struct PartRow {
  MemoryPart part;
  const char* name;  // in JSON
  const char* text;  // for people
};
constexpr PartRow kRows[] = {{MemoryPart::kBase, "base", "program and libraries"},
                             {MemoryPart::kLibraries, "libraries", "libraries in use"},
                             {MemoryPart::kArenas, "arenas", "arenas"},
                             {MemoryPart::kWeights, "weights", "weights"},
                             {MemoryPart::kGradients, "gradients", "gradients and statistics"},
                             {MemoryPart::kOptimizer, "optimizer", "optimizer"},
                             {MemoryPart::kPacked, "packed_weights", "packed weights"},
                             {MemoryPart::kWorkspaces, "workspaces", "workspaces"},
                             {MemoryPart::kPlans, "plans", "plans kept"},
                             {MemoryPart::kReading, "reading", "reading"},
                             {MemoryPart::kResampling, "resampling", "resampling"},
                             {MemoryPart::kFeeding, "feeding", "feeding"},
                             {MemoryPart::kTargets, "targets", "targets"},
                             {MemoryPart::kResults, "results", "results"},
                             {MemoryPart::kMetrics, "metrics", "metrics"},
                             {MemoryPart::kCheckpoint, "checkpoint", "restoring"}};
static_assert(std::size(kRows) == kMemoryParts);

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

}  // namespace

std::int64_t ProcessPlan::total() const {
  std::int64_t total = 0;
  for (const std::int64_t bytes : bytes_) total = sum(total, bytes);
  return total;
}

ProcessPlan& ProcessPlan::operator+=(const ProcessPlan& other) {
  for (std::size_t i = 0; i < kMemoryParts; ++i) bytes_[i] = sum(bytes_[i], other.bytes_[i]);
  return *this;
}

ProcessPlan& ProcessPlan::operator-=(const ProcessPlan& other) {
  for (std::size_t i = 0; i < kMemoryParts; ++i) bytes_[i] -= other.bytes_[i];
  return *this;
}

ProcessPlan widest(const ProcessPlan& a, const ProcessPlan& b) { return b.total() > a.total() ? b : a; }

double json_bytes(const std::filesystem::path& file) {
  constexpr double kBytesPerByte = 6;
  std::error_code error;
  const auto bytes = std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
  return error ? 0 : kBytesPerByte * static_cast<double>(bytes);
}

std::int64_t planned_bytes(double bytes) { return static_cast<std::int64_t>(std::min(bytes, 0x1p62)); }

ProcessPlan libraries_plan(std::int64_t resident_bytes, const ProcessPlan& held) {
  if (held[MemoryPart::kBase] <= 0) return {};
  return {{MemoryPart::kLibraries, std::max<std::int64_t>(0, resident_bytes - held.total())}};
}

ProcessPlan plan_of(const Footprint& f) {
  return {{MemoryPart::kArenas, f.arenas_here()}, {MemoryPart::kWeights, f.parameters},
          {MemoryPart::kGradients, f.results},    {MemoryPart::kOptimizer, f.optimizer},
          {MemoryPart::kPacked, f.packed},        {MemoryPart::kWorkspaces, f.workspaces + f.messages}};
}

std::int64_t left_of(std::int64_t most_bytes, std::int64_t held_bytes) {
  return most_bytes <= 0 ? 0 : std::max<std::int64_t>(1, most_bytes - held_bytes);
}

std::int64_t kept_plans_bytes(std::int64_t largest, std::int64_t all, std::int64_t room) {
  constexpr std::int64_t kMostKept = std::int64_t{64} << 20;
  return std::max(largest, std::min({all, kMostKept, room > 0 ? room : kMostKept}));
}

std::string to_text(const ProcessPlan& plan) {
  std::array<PartRow, kMemoryParts> rows;
  std::copy(std::begin(kRows), std::end(kRows), rows.begin());
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return plan[a.part] > plan[b.part]; });
  std::string parts;
  for (const PartRow& row : rows)
    if (plan[row.part] > 0)
      parts += (parts.empty() ? "" : ", ") + std::string(row.text) + " " + bytes_text(plan[row.part]);
  return bytes_text(plan.total()) + (parts.empty() ? "" : " (" + parts + ")");
}

nlohmann::ordered_json to_json(const ProcessReport& report) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::object();
  for (const PartRow& row : kRows)
    if (report.plan[row.part] > 0) parts[row.name] = report.plan[row.part];
  nlohmann::ordered_json json = {{"planned_bytes", report.plan.total()},
                                 {"planned", parts},
                                 {"peak_resident_bytes", report.peak_resident_bytes},
                                 {"budget_bytes", report.budget_bytes}};
  if (const auto text = report.warning())
    json["warning"] = {{"code", text->substr(0, text->find(' '))}, {"message", with_flags(*text)}};
  return json;
}

std::optional<std::string> ProcessReport::warning() const {
  if (budget_bytes <= 0 || peak_resident_bytes <= budget_bytes) return std::nullopt;
  return "W_PEAK this process took " + bytes_text(peak_resident_bytes) + " at its peak, " +
         bytes_text(peak_resident_bytes - budget_bytes) + " over the " + bytes_text(budget_bytes) +
         " that it may take; its results are whole. Where that is a hard limit, give {host-memory} that much less";
}

std::string to_text(const ProcessReport& report) {
  return "memory: " + bytes_text(report.plan.total()) + " planned, " + bytes_text(report.peak_resident_bytes) +
         " resident at the peak\n";
}

void require_fits(const ProcessPlan& plan, std::int64_t most_bytes, ErrorKind kind, const std::string& what,
                  const std::string& fits, const WouldDo& would_do) {
  if (most_bytes <= 0 || plan.total() <= most_bytes) return;
  std::string more;
  if (would_do) {
    if (const auto bytes = would_do()) more = "to " + budget_value(*bytes);
  } else if (plan[MemoryPart::kBase] > 0) {
    more = "to " + budget_value(plan.total() + (plan[MemoryPart::kLibraries] > 0 ? kMeasuredDiffer : 0));
  } else {
    more = "by " + budget_value(plan.total() - most_bytes);
  }
  throw Error(kind, "E_BUDGET",
              "[memory] " + what + " takes " + to_text(plan) + ", this process may take " + bytes_text(most_bytes) +
                  "; nothing was allocated. " + (fits.empty() ? "No input would fit" : fits) +
                  (more.empty() ? "" : (fits.empty() ? "; " : ", or ") + ("raise {host-memory} " + more)));
}

std::optional<std::int64_t> budget_that_does(
    std::int64_t from_bytes, const std::function<std::optional<std::int64_t>(std::int64_t budget_bytes)>& needed) {
  constexpr std::int64_t kMiB = 1 << 20;
  constexpr int kMostTries = 32;
  const auto whole = [](std::int64_t bytes) { return ceil_div(bytes, kMiB) * kMiB; };
  const auto unlimited = needed(kMost);
  if (!unlimited) return std::nullopt;
  const std::int64_t enough = whole(*unlimited);  // as a rule: all is planned as it would be without a limit
  std::int64_t budget = std::max(kMiB, whole(from_bytes));
  for (int i = 0; i < kMostTries; ++i) {
    const auto bytes = needed(budget);
    if (bytes && *bytes <= budget) return budget;
    const std::int64_t next = whole(bytes ? *bytes : budget + budget / 2);
    budget = budget < enough ? std::min(next, enough) : next;
  }
  return std::nullopt;
}

}  // namespace voxshard
