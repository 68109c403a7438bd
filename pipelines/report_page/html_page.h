// A page of HTML in one file: its head, which lets it load nothing, its style sheet and script, and the data that the
// script reads.
//
//   write_page("report.html", to_html(HtmlPage{.title = "Run 7", .body = "<h1>Run 7</h1>", .data = {{"runs", ...}}}));
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "io/output/output_file.h"

namespace voxshard {

/// The name of the page in the folder that it is about; the most bytes of a page.
inline constexpr const char* kReportPage = "report.html";
inline constexpr std::size_t kMostPageBytes = std::size_t{20} << 20;

/// The kind of file that a page is, for require_output_file().
OutputKind report_page_file();

struct HtmlPage {
  std::string title;            // raw
  std::string body;             // HTML
  nlohmann::ordered_json data;  // in the element with the id report-data
};

std::string to_html(const HtmlPage& page);

/// Writes a page, whole or not at all. Errors: kOutput, also for one above kMostPageBytes: "give fewer runs" is what to
/// do then.
void write_page(const std::filesystem::path& file, const std::string& html, const std::string& what_to_do);

}  // namespace voxshard
