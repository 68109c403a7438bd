// The drawn images of detail_sections.h.
#include <algorithm>

#include "pipelines/report_page/detail_sections.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"
#include "pipelines/report_page/validation_detail.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kColours = 8, kMostTexts = 12;

/// Returns the boxes of a list as SVG, each with its class and score as a title and the score as text: the colour tells
/// the class, and short texts cover little. Above kMostTexts boxes they would cover each other, and are left out.
///   width  of the image, in its pixels
std::string boxes_svg(const Json& boxes, const Json& detail, const char* kind, double width, double letter_px) {
  const Json& classes = part_of(detail, "/classes");
  std::string svg = std::string("<g class=\"") + kind + "\">";
  for (const Json& one : boxes) {
    const auto number = one.at("class").get<std::size_t>();
    const std::string colour = std::to_string(number % kColours),
                      name =
                          number < classes.size() ? fact(classes[number], "/class") : "class " + std::to_string(number),
                      score = one.at("score").is_number() ? number_cell(one.at("score").get<double>(), 2).text : "";
    const auto edge = [&](std::size_t i) { return one.at("box").at(i).get<double>(); };
    svg += "<rect class=\"r" + colour + "\" x=\"" + svg_number(edge(0)) + "\" y=\"" + svg_number(edge(1)) +
           "\" width=\"" + svg_number(edge(2)) + "\" height=\"" + svg_number(edge(3)) + "\"><title>" +
           html_text(name + (score.empty() ? "" : " " + score)) + "</title></rect>";
    if (score.empty() || boxes.size() > kMostTexts) continue;
    const double above = edge(1) - letter_px / 4, x = std::clamp(edge(0), 0.0, std::max(0.0, width - 2.5 * letter_px));
    svg += "<text class=\"t" + colour + "\" x=\"" + svg_number(x) + "\" y=\"" +
           svg_number(above > letter_px ? above : edge(1) + letter_px) + "\" font-size=\"" + svg_number(letter_px) +
           "\">" + html_text(score) + "</text>";
  }
  return svg + "</g>";
}

}  // namespace

std::string drawn_section(const RunData& run) {
  const Json& images = part_of(run.last_detail, "/images");
  if (images.empty()) return "";
  std::string html =
      "<section id=\"show-images\"><h2>Images</h2>\n<p>The worst images and the best one at " +
      html_text(title_of(*run.last())) +
      ", with the detections of at least the score of the operating point, or the best five where nothing is found. "
      "Where images show people, a page with them is no anonymous one.</p>\n<p class=\"legend\"><label><input "
      "type=\"checkbox\" data-toggles=\".found\" checked> detections</label> <label><input type=\"checkbox\" "
      "data-toggles=\".wanted\" checked> objects of the reference, dashed</label><br>";
  const Json& classes = part_of(run.last_detail, "/classes");
  for (std::size_t c = 0; c < std::min(classes.size(), kMostShownClasses); ++c)
    html += "<span><i class=\"key k" + std::to_string(c % kColours) + "\"></i>" +
            html_text(fact(classes[c], "/class")) + "</span>";
  html += "</p>\n<div class=\"drawn\">\n";
  for (const Json& one : images) {
    const double width = one.at("width").get<double>(), height = one.at("height").get<double>(),
                 letter_px = std::max(width, height) / 28;
    const std::string name = fact(one, "/item"),
                      size = "width=\"" + svg_number(width) + "\" height=\"" + svg_number(height) + "\"";
    html += "<figure><svg role=\"img\" aria-label=\"" + html_text(name) + "\" viewBox=\"0 0 " + svg_number(width) +
            " " + svg_number(height) + "\"><image " + size + " href=\"data:image/jpeg;base64," + fact(one, "/jpeg") +
            "\"/>" + boxes_svg(one.at("reference"), run.last_detail, "wanted", width, letter_px) +
            boxes_svg(one.at("prediction"), run.last_detail, "found", width, letter_px) + "</svg><figcaption>" +
            html_text(name) + ": AP50 " +
            (one.at("ap50").is_number() ? number_cell(one.at("ap50").get<double>()).text : "-") + ", " +
            std::to_string(one.at("reference").size()) + " objects, " + std::to_string(one.at("prediction").size()) +
            " detections</figcaption></figure>\n";
  }
  return html + "</div>\n</section>\n";
}

}  // namespace voxshard
