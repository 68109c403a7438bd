#include "pipelines/model_runs/report.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/csv.h"
#include "libcore/base/flag_text.h"
#include "libcore/base/plain_text.h"
#include "libcore/planner/budget.h"
#include "libcore/ranks/transport.h"

namespace voxshard {

std::optional<CaseFailure> failure_of(const std::string& id, std::initializer_list<ErrorKind> kinds,
                                      const std::function<void()>& body) {
  try {
    body();
    return std::nullopt;
  } catch (const EndsBatch&) {
    throw;
  } catch (const RankFailed&) {
    throw;
  } catch (const Error& e) {
    if (std::find(kinds.begin(), kinds.end(), e.kind()) == kinds.end()) throw;
    return CaseFailure{plain_text(id), e.code(), without_allocations(e.what())};
  } catch (const std::bad_alloc&) {
    return CaseFailure{plain_text(id), kRefusedMemory,
                       "[memory] the system refused memory for this case; use fewer threads, give the process more, or "
                       "make the case smaller"};
  }
}

bool in_case_boundary(const std::string& id, std::vector<CaseFailure>& failures, const std::function<void()>& body) {
  auto failure = failure_of(id, {ErrorKind::kInput, ErrorKind::kConfig, ErrorKind::kNoCase}, body);
  if (failure) failures.push_back(std::move(*failure));
  return !failure;
}

std::string quarantine_row(const CaseFailure& f) {
  return csv_text(f.id) + "," + csv_text(f.code) + "," + csv_text(plain_text(with_flags(f.message), "\n\t")) + "\n";
}

void write_quarantine(const std::filesystem::path& folder, const std::vector<CaseFailure>& failures,
                      const std::string& name) {
  std::string text = "case,code,message\n";
  for (const CaseFailure& failure : failures) text += quarantine_row(failure);
  write_text_atomically(folder / name, text);
}

nlohmann::ordered_json to_json(const std::vector<CaseFailure>& failures) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& f : failures) list.push_back({{"case", f.id}, {"code", f.code}, {"message", with_flags(f.message)}});
  return list;
}

std::vector<CaseFailure> failures_from_json(const nlohmann::ordered_json& list) {
  std::vector<CaseFailure> failures;
  for (const auto& f : list)
    failures.push_back(
        {f.at("case").get<std::string>(), f.at("code").get<std::string>(), f.at("message").get<std::string>()});
  return failures;
}

nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& value) {
  write_text_atomically(path, value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace voxshard
