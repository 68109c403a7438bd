#include "pipelines/report_page/slices_section.h"

#include "io/files/config_file.h"
#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/validation_detail.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShownCases = 8, kPlanes = 3;

/// Returns a plane of which every image has a byte for each sample; null for anything else.
Json plane_of(const Json& from) {
  constexpr std::int64_t kMostSide = 4096;
  Json plane = {{"plane", fact(from, "/plane")}};
  for (const char* key : {"rows", "columns"}) {
    const Json& value = part_of(from, std::string("/") + key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > kMostSide) return {};
    plane[key] = value;
  }
  for (const char* key : {"row_mm", "column_mm"}) {
    const auto value = number_fact(from, std::string("/") + key);
    if (!value || *value <= 0) return {};
    plane[key] = *value;
  }
  const Json& at = part_of(from, "/at");
  if (!at.is_array() || at.empty()) return {};
  for (const Json& one : at)
    if (!one.is_number_integer()) return {};
  plane["at"] = at;
  const auto samples = plane["rows"].get<std::size_t>() * plane["columns"].get<std::size_t>() * at.size();
  for (const char* key : {"image", "reference", "prediction"}) {
    const Json& text = part_of(from, std::string("/") + key);
    if (!is_base64(text) || text.get_ref<const std::string&>().size() != (samples + 2) / 3 * 4) return {};
    plane[key] = text;
  }
  return plane;
}

}  // namespace

Json read_slices(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kSlicesFile;
  if (std::error_code unseen; !std::filesystem::exists(file, unseen)) return nullptr;
  const Json from = read_json(file);
  Json slices = {{"step", part_of(from, "/step")}, {"cases", Json::array()}};
  for (const Json& item : part_of(from, "/cases")) {
    Json one = {{"case", fact(item, "/case")}, {"planes", Json::array()}};
    for (const char* key : {"low", "high"}) one[key] = number_fact(item, std::string("/") + key).value_or(0);
    for (const Json& plane : part_of(item, "/planes"))
      if (Json whole = plane_of(plane); !whole.is_null()) one["planes"].push_back(std::move(whole));
    if (one["planes"].size() == kPlanes && slices["cases"].size() < kMostShownCases)
      slices["cases"].push_back(std::move(one));
  }
  return slices["cases"].empty() ? Json(nullptr) : slices;
}

std::string slices_section(const RunData& run) {
  if (run.slices.is_null()) return "";
  std::string html =
      "<section id=\"show-slices\"><h2>Slices</h2>\n<p>The worst cases and the best one at step " +
      html_text(fact(run.slices, "/step")) +
      ". Dragging an image to the side changes the width of the window, up and down its centre. Slices of a head "
      "show a face: a page with them is no anonymous one.</p>\n<p class=\"legend\"><label><input type=\"checkbox\" "
      "id=\"show-prediction\" checked> prediction, filled</label> <label><input type=\"checkbox\" "
      "id=\"show-reference\" checked> reference, outlined</label><br>";
  html +=
      classes_legend(run.classes) + "</p>\n<noscript><p>A browser without scripts shows no slices.</p></noscript>\n";
  const Json& cases = run.slices.at("cases");
  for (std::size_t i = 0; i < cases.size(); ++i)
    html += "<h3>" + html_text(fact(cases[i], "/case")) + "</h3>\n" + plane_figures(i, cases[i].at("planes"));
  return html + "</section>\n";
}

std::string classes_legend(const std::vector<std::string>& classes) {
  std::string html;
  for (std::size_t c = 0; c < classes.size(); ++c)
    html +=
        "<span><i class=\"key\" data-label=\"" + std::to_string(c + 1) + "\"></i>" + html_text(classes[c]) + "</span>";
  return html;
}

std::string plane_figures(std::size_t item, const Json& planes) {
  std::string html = "<div class=\"slices\">\n";
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const std::size_t count = planes[p].at("at").size(), start = planes[p].value("start", count / 2);
    html += "<figure data-item=\"" + std::to_string(item) + "\" data-plane=\"" + std::to_string(p) +
            "\"><canvas></canvas><input type=\"range\" min=\"0\" max=\"" + std::to_string(count - 1) + "\" value=\"" +
            std::to_string(start) + "\" aria-label=\"slice\"" + (count == 1 ? " hidden" : "") +
            "><figcaption><output></output></figcaption></figure>\n";
  }
  return html + "</div>\n";
}

}  // namespace voxshard
