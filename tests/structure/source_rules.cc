#include "tests/structure/source_rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Inside libcore a folder may include itself and the folders before it.
const std::vector<std::string> kLibcoreOrder = {"base",      "tensor",  "kernels", "graph",   "ops",
                                                "partition", "memory",  "schedule", "lower", "device",  "planner", "runtime",
                                                "models",    "metrics", "train"};

/// The rooms of io and those that each may include beside itself.
const std::map<std::string, std::set<std::string>> kIoRooms = {{"files", {}},
                                                               {"volume", {"files"}},
                                                               {"video", {"files"}},
                                                               {"image", {"files", "volume", "video"}},
                                                               {"boxes", {"files", "image", "video"}},
                                                               {"datasets", {"files"}},
                                                               {"system", {}}};

/// "libcore/graph" for libcore/graph/x.h, "io/volume" for io/volume/x.h, "apps" for apps/x.h.
std::string folder_of(const std::string& path) {
  const std::size_t first = path.find('/');
  if (first == std::string::npos) return "";
  const std::string top = path.substr(0, first);
  if (top != "libcore" && top != "io") return top;
  return path.substr(0, path.find('/', first + 1));
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const auto& s) { return text.starts_with(s); });
}

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (from == "apps") return to == "pipelines" || to.starts_with("io/") || to.starts_with("libcore/");
  if (from == "pipelines") return to.starts_with("io/") || to.starts_with("libcore/");
  if (from.starts_with("io/")) {
    const auto room = kIoRooms.find(from.substr(3));
    if (room == kIoRooms.end()) return false;
    return to == "libcore/base" || to == "libcore/tensor" || (to.starts_with("io/") && room->second.contains(to.substr(3)));
  }
  if (!from.starts_with("libcore/") || !to.starts_with("libcore/")) return false;
  const auto rank = [](const std::string& folder) {
    return std::find(kLibcoreOrder.begin(), kLibcoreOrder.end(), folder.substr(8)) - kLibcoreOrder.begin();
  };
  const auto end = static_cast<std::ptrdiff_t>(kLibcoreOrder.size());
  return rank(from) < end && rank(to) < end && rank(to) < rank(from);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The line without strings and comments, so that rules do not trip over what is only written about.
std::string code_of(std::string line) {
  line = std::regex_replace(line, std::regex(R"rx("(\\.|[^"\\])*")rx"), "\"\"");
  return line.substr(0, line.find("//"));
}

std::vector<std::string> pattern_complaints(const SourceFile& file, const std::string& pattern,
                                            const std::string& rule) {
  std::vector<std::string> complaints;
  const std::regex expression(pattern);
  int number = 0;
  for (const auto& line : lines_of(file.text)) {
    ++number;
    if (std::regex_search(code_of(line), expression))
      complaints.push_back(file.path + ":" + std::to_string(number) + ": " + rule + ": " + line);
  }
  return complaints;
}

}  // namespace

std::vector<SourceFile> read_sources(bool with_tests) {
  std::vector<SourceFile> files;
  const fs::path root = VOXSHARD_SOURCE_DIR;
  std::vector<std::string> folders = {"apps", "io", "libcore", "pipelines"};
  if (with_tests) folders.push_back("tests");
  for (const auto& folder : folders)
    for (const auto& entry :
         fs::recursive_directory_iterator(root / folder, fs::directory_options::follow_directory_symlink)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".h" && ending != ".cc")) continue;
      std::ifstream in(entry.path());
      files.push_back({entry.path().lexically_relative(root).string(), {std::istreambuf_iterator<char>(in), {}}});
    }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> include_complaints(const SourceFile& file) {
  static const std::regex kInclude(R"rx(^\s*#\s*include\s*"([^"]+)")rx");
  const std::vector<std::string> roots = {"apps/", "io/", "libcore/", "pipelines/", "tests/"};
  std::vector<std::string> complaints;
  const std::string from = folder_of(file.path);
  for (const auto& line : lines_of(file.text)) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    const std::string target = match[1];
    if (!starts_with_any(target, roots))
      complaints.push_back(file.path + ": include \"" + target + "\" is not written from the root");
    else if (!may_include(from, folder_of(target)) && from != "tests")
      complaints.push_back(file.path + ": " + from + " may not include " + target);
  }
  return complaints;
}

std::vector<std::string> size_complaints(const SourceFile& file) {
  constexpr std::size_t kMostLines = 500;
  std::vector<std::string> complaints;
  const std::size_t lines = lines_of(file.text).size();
  if (lines > kMostLines) complaints.push_back(file.path + ": " + std::to_string(lines) + " lines, at most 500");
  return complaints;
}

std::vector<std::string> printing_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"apps/", "tests/"})) return {};
  return pattern_complaints(
      file, R"rx(std::(cout|cerr|clog)\b|(^|[^a-zA-Z_])(printf|puts|putchar|perror)\s*\(|\b(stdout|stderr)\b)rx",
      "only apps prints");
}

std::vector<std::string> file_access_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"io/", "tests/"})) return {};
  return pattern_complaints(file, R"rx(#\s*include\s*<fstream>|std::(i|o)?fstream\b|(^|[^a-zA-Z_.>])(fopen)\s*\()rx",
                            "only io opens files");
}

std::vector<std::string> thread_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"libcore/base/", "libcore/runtime/", "tests/"})) return {};
  return pattern_complaints(file, R"rx(std::(thread|jthread|async)\b(?!::)|#\s*pragma\s+omp|pthread_create)rx",
                            "only libcore/base and libcore/runtime start threads");
}

std::vector<std::string> heavy_header_complaints(const SourceFile& file) {
  if (!file.path.ends_with(".h")) return {};
  return pattern_complaints(file, R"rx(#\s*include\s*<(itk|opencv2|CLI/|oneapi/|dnnl|toml\+\+|libav|libsw))rx",
                            "heavy libraries stay out of headers");
}

std::vector<std::string> flag_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"apps/", "tests/"})) return {};
  static const std::regex kLiteral(R"rx("(\\.|[^"\\])*"|//.*)rx"), kFlag(R"rx(^".*(--[a-z]|[" `]-[oq]\b))rx");
  std::vector<std::string> complaints;
  for (const auto& line : lines_of(file.text))
    for (std::sregex_iterator it(line.begin(), line.end(), kLiteral), end; it != end; ++it)
      if (std::regex_search(it->str(), kFlag))
        complaints.push_back(file.path + ": only apps names flags; write {name}: " + line);
  return complaints;
}

std::vector<std::string> error_text_complaints(const SourceFile& file) {
  if (file.path.starts_with("tests/")) return {};
  return pattern_complaints(file, R"rx(what\(\)\)?\.(find|substr|starts_with|ends_with|compare|contains)\b)rx",
                            "ask an error's code, not its text");
}

std::vector<std::string> opening_complaints(const SourceFile& file) {
  if (!file.path.ends_with(".h")) return {};
  std::vector<std::string> complaints;
  if (!file.text.starts_with("// ")) complaints.push_back(file.path + ": does not open with a comment");
  if (file.text.find("\n#pragma once\n") == std::string::npos) complaints.push_back(file.path + ": no #pragma once");
  return complaints;
}

}  // namespace voxshard
