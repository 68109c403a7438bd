#include "pipelines/report_page/html_page.h"

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_parts.h"
#include "pipelines/report_page/page_script.h"

namespace voxshard {
namespace {

/// The first bytes of every page, by which a page is known when it is written again.
constexpr const char* kBegin = "<!DOCTYPE html>\n<html lang=\"en\" class=\"voxshard_report\">\n";

}  // namespace

OutputKind report_page_file() {
  return {"a report of voxshard",
          {".html", ".htm"},
          begins_with({R"(<!DOCTYPEhtml><htmllang="en"class="voxshard_report">)"})};
}

std::string to_html(const HtmlPage& page) {
  std::string html = kBegin;
  html +=
      "<head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"><title>" +
      html_text(page.title) + "</title><style>" + kPageStyle + "</style></head><body>\n";
  html += page.body + "<div id=\"read\"></div>\n";
  html += "<script type=\"application/json\" id=\"report-data\">" + script_json(page.data) + "</script>\n";
  return html + "<script>" + kChartScript + kViewerScript + "</script>\n</body></html>\n";
}

void write_page(const std::filesystem::path& file, const std::string& html, const std::string& what_to_do) {
  if (html.size() > kMostPageBytes)
    throw output_error(file,
                       "the page would have " + bytes_text(static_cast<std::int64_t>(html.size())) + ", more than " +
                           bytes_text(static_cast<std::int64_t>(kMostPageBytes)),
                       what_to_do);
  write_text_atomically(file, html);
}

}  // namespace voxshard
