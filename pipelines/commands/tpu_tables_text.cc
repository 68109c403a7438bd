#include "pipelines/commands/tpu_tables_text.h"

#include <cstdio>

#include "libcore/base/text.h"
#include "pipelines/commands/explain_passes.h"

namespace voxshard {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

std::string gib(std::int64_t bytes) { return fixed_text(static_cast<double>(bytes) / 0x1p30, 2); }

std::string ways_text(const TpuTables& tables) {
  std::vector<std::vector<std::string>> rows = {{"a replica", "cut", "cores s"}};
  for (const char* kind : kPassNames) rows.front().push_back(std::string(kind) + " s");
  rows.front().insert(rows.front().end(), {"links s", "speed per core", "core GiB", "fits"});
  for (const TpuWays& ways : tables.ways)
    for (const TpuWays::Row& row : ways.rows) {
      rows.push_back({ways.model + " " + ways.extents, to_string(row.partition), fixed_text(row.price.device_s)});
      for (const PassSum& sum : pass_sums(row.price)) rows.back().push_back(fixed_text(sum.seconds));
      rows.back().insert(rows.back().end(), {fixed_text(row.price.busy.link_s), percent(row.efficiency - 1), gib(row.core_bytes), row.fits ? "yes" : "no"});
    }
  return text_table(rows) + "Speed per core is against one core. Where that does not fit it could not exist: the base is notional.\n";
}

std::string percents(const std::vector<double>& shares) { return joined(shares, ", ", percent); }

std::string assumptions_text(const TpuTables& tables) {
  std::string text = "Assumed; the rows' residuals, in their order, were it otherwise, and with both constants fitted again:\n";
  for (const TpuAssumption& a : tables.assumptions)
    text += "  " + a.what + ": " + percents(a.residuals) + "; " + percents(a.refitted_residuals) + " with " + a.refitted +
            (a.fits ? "" : "; a row would have to recompute") + "\n";
  return text;
}

}  // namespace

std::string tpu_tables_text(const TpuTables& tables) {
  std::vector<std::vector<std::string>> rows = {{"row", "published s", "emulated s", "residual", "left out", "cores s",
                                                 "passes s", "feed s", "bound by", "core GiB", "fits"}};
  for (const auto& [published, e] : tables.rows) {
    rows.push_back({published.name, fixed_text(published.seconds)});
    rows.back().insert(rows.back().end(),
                       {fixed_text(e.price.step_s), percent(e.residual()), percent(e.leave_one_out_residual()),
                        fixed_text(e.price.device_s), fixed_text(e.price.busy.pass_s), fixed_text(e.price.feed_s), e.bound_by,
                        gib(e.core_bytes) + " of " + gib(e.usable_bytes), e.fits() ? "yes" : "no"});
  }
  std::string text =
      text_table(rows) + "\n" + ways_text(tables) + "\nConstants fitted to these rows: " + std::to_string(tables.fitted_constants.size()) + "\n";
  for (const FittedConstant& c : tables.fitted_constants)
    text += "  " + c.device + " " + c.figure.key + " = " + fixed_text(c.figure.value, 1) + " " + c.figure.unit + ": " +
            c.figure.mechanism + ". Fitted to " + joined(c.figure.fitted_to, " and ") +
            " together; chosen by one of them alone it is tested by the other, as \"left out\" says there\n";
  text += "\n" + assumptions_text(tables) + "\nUnexplained:\n";
  for (const std::string& line : tables.unexplained) text += "  " + line + "\n";
  return text;
}

}  // namespace voxshard
