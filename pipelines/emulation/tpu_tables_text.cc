#include "pipelines/emulation/tpu_tables_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"
#include "pipelines/emulation/explain_passes.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

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
      rows.back().insert(rows.back().end(), {fixed_text(row.price.busy.link_s), percent(row.efficiency - 1),
                                             gib(row.core_bytes), row.fits ? "yes" : "no"});
    }
  return text_table(rows) +
         "Speed per core is against one core. Where that does not fit it could not exist: the base is notional.\n";
}

std::string percents(const std::vector<double>& shares) { return joined(shares, ", ", percent); }

std::string assumptions_text(const TpuTables& tables) {
  std::string text =
      "Assumed; the rows' residuals, in their order, were it otherwise, and with both constants fitted again:\n";
  for (const TpuAssumption& a : tables.assumptions)
    text += "  " + a.what + ": " + percents(a.residuals) + "; " + percents(a.refitted_residuals) + " with " +
            a.refitted + (a.fits ? "" : "; a row would have to recompute") + "\n";
  return text;
}

constexpr const char* kCorrected = " *";

std::string footnotes(const TpuTables& tables) {
  std::string text;
  for (const auto& [published, e] : tables.rows)
    if (!published.correction.empty())
      text += "*  " + published.name + " is corrected: " + published.correction + ".\n";
  return text;
}

Json passes_json(const StepPrice& price) {
  Json json = Json::object();
  const auto sums = pass_sums(price);
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    json[kPassNames[kind]] = {
        {"count", sums[kind].count}, {"bytes", sums[kind].bytes}, {"seconds", sums[kind].seconds}};
  return json;
}

}  // namespace

std::string tpu_tables_text(const TpuTables& tables) {
  std::vector<std::vector<std::string>> rows = {{"row", "published s", "emulated s", "residual", "left out", "cores s",
                                                 "passes s", "feed s", "bound by", "core GiB", "fits"}};
  for (const auto& [published, e] : tables.rows) {
    rows.push_back({published.name + (published.correction.empty() ? "" : kCorrected), fixed_text(published.seconds)});
    rows.back().insert(rows.back().end(),
                       {fixed_text(e.price.step_s), percent(e.residual()), percent(e.leave_one_out_residual()),
                        fixed_text(e.price.device_s), fixed_text(e.price.busy.pass_s), fixed_text(e.price.feed_s),
                        e.bound_by, gib(e.core_bytes) + " of " + gib(e.usable_bytes), e.fits() ? "yes" : "no"});
  }
  std::string text = text_table(rows) + footnotes(tables) + "\n" + ways_text(tables) +
                     "\nConstants fitted to these rows: " + std::to_string(tables.fitted_constants.size()) + "\n";
  for (const FittedConstant& c : tables.fitted_constants)
    text += "  " + c.device + " " + c.figure.key + " = " + fixed_text(c.figure.value, 1) + " " + c.figure.unit + ": " +
            c.figure.mechanism + ". Fitted to " + joined(c.figure.fitted_to, " and ") + " together: " + kFitMethod +
            "; chosen by one of them alone it is tested by the other, as \"left out\" says there\n";
  text += "\n" + assumptions_text(tables) + "\nUnexplained:\n";
  for (const std::string& line : tables.unexplained) text += "  " + line + "\n";
  return text;
}

Json to_json(const TpuTables& tables) {
  Json rows = Json::array(), constants = Json::array();
  for (const auto& [published, e] : tables.rows) {
    Json row = {{"name", published.name},
                {"model", published.spec.model_name()},
                {"extents", to_string(published.extents)},
                {"device", published.device},
                {"replicas", published.spec.cut.mesh.replicas},
                {"partition", to_string(published.spec.cut.mesh.partition)},
                {"published_seconds", published.seconds},
                {"emulated_seconds", e.price.step_s},
                {"recompute", recompute_name(e.recompute)},
                {"source", published.source}};
    row.update({{"residual", e.residual()},
                {"leave_one_out_seconds", e.leave_one_out_seconds},
                {"leave_one_out_residual", e.leave_one_out_residual()},
                {"bound_by", e.bound_by},
                {"feed_seconds", e.price.feed_s},
                {"device_seconds", e.price.device_s},
                {"matrix_seconds", e.price.busy.matrix_s},
                {"vector_seconds", e.price.busy.vector_s},
                {"memory_seconds", e.price.busy.memory_s},
                {"link_seconds", e.price.busy.link_s},
                {"pass_seconds", e.price.busy.pass_s},
                {"passes", passes_json(e.price)},
                {"overhead_seconds", e.price.busy.overhead_s},
                {"halo_bytes", e.price.halo_bytes},
                {"all_reduce_bytes", e.price.all_reduce_bytes},
                {"messages", e.price.messages},
                {"widest_hops", e.price.widest_hops},
                {"core_bytes", e.core_bytes},
                {"kept_core_bytes", e.kept_core_bytes},
                {"usable_bytes", e.usable_bytes},
                {"fits", e.fits()}});
    if (!published.correction.empty()) row["correction"] = published.correction;
    rows.push_back(row);
  }
  for (const FittedConstant& c : tables.fitted_constants)
    constants.push_back({{"device", c.device},
                         {"key", c.figure.key},
                         {"value", c.figure.value},
                         {"unit", c.figure.unit},
                         {"refitted", c.refitted},
                         {"mechanism", c.figure.mechanism},
                         {"method", kFitMethod},
                         {"fitted_to", c.figure.fitted_to}});
  Json ways = Json::array();
  for (const TpuWays& of : tables.ways)
    for (const TpuWays::Row& row : of.rows)
      ways.push_back({{"model", of.model},
                      {"extents", of.extents},
                      {"partition", to_string(row.partition)},
                      {"device_seconds", row.price.device_s},
                      {"pass_seconds", row.price.busy.pass_s},
                      {"link_seconds", row.price.busy.link_s},
                      {"passes", passes_json(row.price)},
                      {"efficiency", row.efficiency},
                      {"core_bytes", row.core_bytes},
                      {"fits", row.fits}});
  Json assumptions = Json::array();
  for (const TpuAssumption& a : tables.assumptions)
    assumptions.push_back({{"what", a.what},
                           {"residuals", a.residuals},
                           {"refitted_residuals", a.refitted_residuals},
                           {"refitted", a.refitted},
                           {"fits", a.fits}});
  return {{"rows", rows},
          {"ways", ways},
          {"assumptions", assumptions},
          {"least_unpack_bytes_per_second", tables.least_unpack_bytes_s},
          {"fitted_constants", constants},
          {"unexplained", tables.unexplained}};
}

}  // namespace voxshard
