#include "pipelines/commands/tpu_tables_text.h"

#include <cstdio>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

std::string gib(std::int64_t bytes) { return fixed_text(static_cast<double>(bytes) / 0x1p30, 2); }

}  // namespace

std::string tpu_tables_text(const TpuTables& tables) {
  std::vector<std::vector<std::string>> rows = {{"row", "published s", "emulated s", "residual", "left out", "cores s",
                                                 "feed s", "bound by", "core GiB", "fits"}};
  for (const auto& [published, e] : tables.rows) {
    rows.push_back({published.name, fixed_text(published.seconds)});
    rows.back().insert(rows.back().end(),
                       {fixed_text(e.price.step_s), percent(e.residual()), percent(e.leave_one_out_residual()),
                        fixed_text(e.price.device_s), fixed_text(e.price.feed_s), e.bound_by,
                        gib(e.core_bytes) + " of " + gib(e.usable_bytes), e.fits() ? "yes" : "no"});
  }
  std::string text =
      text_table(rows) + "\nConstants fitted to these rows: " + std::to_string(tables.fitted_constants.size()) + "\n";
  for (const FittedConstant& c : tables.fitted_constants)
    text += "  " + c.device + " " + c.figure.key + " = " + fixed_text(c.figure.value, 1) + " " + c.figure.unit + ": " +
            c.figure.mechanism + "\n";
  text += "\nUnexplained:\n";
  for (const std::string& line : tables.unexplained) text += "  " + line + "\n";
  return text;
}

}  // namespace voxshard
