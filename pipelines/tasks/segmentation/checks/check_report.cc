// The report of a check for people, as JSON and as CSV.
//
//   csv_of(report)      // case,code,classes,what,next,other,picture
#include <map>
#include <nlohmann/json.hpp>

#include "io/files/csv.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/checks/check_dataset.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::string classes_text(const Finding& f) {
  return joined(f.classes, " ", [](int label_class) { return std::to_string(label_class); });
}

}  // namespace

Json to_json(const CheckReport& report) {
  Json json = {{"dataset", report.dataset.string()},
               {"kind", report.kind},
               {"training", report.training},
               {"test", report.test},
               {"deep", report.deep},
               {"odd_cases", report.odd_cases},
               {"findings", Json::array()},
               {"rules", Json::array()}};
  for (const Finding& f : report.findings)
    json["findings"].push_back({{"case", f.id},
                                {"code", f.code},
                                {"severity", excludes(f) ? "error" : "warning"},
                                {"classes", f.classes},
                                {"what", f.what},
                                {"next", f.next},
                                {"other", f.other.empty() ? Json(nullptr) : Json(f.other)},
                                {"picture", f.picture.empty() ? Json(nullptr) : Json(f.picture)}});
  const std::map<std::string, bool> skipped = [&] {
    std::map<std::string, bool> codes;
    for (const std::string& code : report.skipped) codes[code] = true;
    return codes;
  }();
  for (const CheckRule& rule : check_rules())
    json["rules"].push_back({{"code", rule.code}, {"finds", rule.finds}, {"ran", !skipped.contains(rule.code)}});
  return json;
}

std::string to_text(const CheckReport& report) {
  std::string text, last;
  std::map<std::string, std::string> next;
  for (const Finding& f : report.findings) {
    if (f.id != last) text += plain_text(f.id) + "\n";
    last = f.id;
    text += "  " + f.code + " " + plain_text(f.what) + (f.picture.empty() ? "" : " (" + f.picture + ")") + "\n";
    next.emplace(f.code, f.next);
  }
  if (!next.empty()) text += "what to do\n";
  for (const auto& [code, words] : next) text += "  " + code + ": " + words + "\n";
  if (!report.skipped.empty())
    text += "not checked" + std::string(report.is_ct ? " without {deep}" : ", as the first channel is not called CT") +
            ": " + joined(report.skipped, " ") + "\n";
  text += counted(std::ssize(report.findings), "finding") + " in " + counted(report.odd_cases, "case") + " of " +
          std::to_string(report.training) + " training and " + std::to_string(report.test) + " test cases";
  if (!report.output.empty()) text += "; pictures and lists are in " + report.output.string();
  return text + "\n";
}

std::string csv_of(const CheckReport& report) {
  std::string text = "case,code,classes,what,next,other,picture\n";
  for (const Finding& f : report.findings) {
    const std::string fields[] = {f.id, f.code, classes_text(f), f.what, f.next, f.other, f.picture};
    text += joined(fields, ",", [](const std::string& field) { return csv_text(field); }) + "\n";
  }
  return text;
}

}  // namespace voxshard
