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

/// Returns "libcore/graph" for libcore/graph/x.h; "tests" for all of the tests.
std::string folder_of(const std::string& path) {
  return path.starts_with("tests/") ? "tests" : fs::path(path).parent_path().string();
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const auto& s) { return text.starts_with(s); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns the line without strings and comments, so that rules do not apply to what is only written about.
std::string code_of(std::string line) {
  static const std::regex kString(R"rx("(\\.|[^"\\])*")rx");
  if (line.find('"') != std::string::npos) line = std::regex_replace(line, kString, "\"\"");
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

Arrows arrows_of(const std::string& cmake) {
  static const std::regex kFolder(R"rx(voxshard_(?:folder|program)\((\S+)([^)]*)\))rx");
  Arrows arrows;
  for (std::sregex_iterator it(cmake.begin(), cmake.end(), kFolder), end; it != end; ++it) {
    std::istringstream words((*it)[2].str());
    auto& folders = arrows[(*it)[1].str()];
    bool listed = false;
    for (std::string word; words >> word;) {
      if (word == "MAY_INCLUDE" || word == "LINKS")
        listed = word == "MAY_INCLUDE";
      else if (listed)
        folders.insert(word);
    }
  }
  return arrows;
}

Arrows read_arrows() {
  std::string all;
  for (const char* top : {"apps", "io", "libcore", "pipelines"}) {
    std::ifstream in(fs::path(VOXSHARD_SOURCE_DIR) / top / "CMakeLists.txt");
    all.append(std::istreambuf_iterator<char>(in), {});
  }
  return arrows_of(all);
}

std::vector<std::string> circle_complaints(const Arrows& arrows) {
  std::vector<std::string> complaints;
  std::set<std::string> done;
  while (done.size() < arrows.size()) {
    const std::size_t before = done.size();
    for (const auto& [folder, may] : arrows)
      if (std::all_of(may.begin(), may.end(), [&](const auto& f) { return done.contains(f); })) done.insert(folder);
    if (done.size() > before) continue;
    for (const auto& [folder, may] : arrows)
      if (!done.contains(folder))
        complaints.push_back(folder + " is in a circle, or may include a folder that is not listed");
    break;
  }
  return complaints;
}

std::vector<std::string> folder_complaints(const std::vector<SourceFile>& files) {
  constexpr std::size_t kMostStems = 25, kMostCompiled = 20;
  std::map<std::string, std::set<std::string>> stems, compiled;
  for (const SourceFile& file : files) {
    const fs::path path = file.path;
    const std::string folder = path.parent_path().string();
    stems[folder].insert(path.stem().string());
    if (path.extension() == ".cc" && !starts_with_any(folder, {"apps", "tests"}))
      compiled[folder].insert(path.stem().string());
  }
  std::vector<std::string> complaints;
  const auto complain = [&](const auto& of_folders, std::size_t most, const std::string& what) {
    for (const auto& [folder, names] : of_folders)
      if (names.size() > most)
        complaints.push_back(folder + ": " + std::to_string(names.size()) + what + std::to_string(most));
  };
  complain(stems, kMostStems, " sources, at most ");
  complain(compiled, kMostCompiled, " files .cc, at most ");
  return complaints;
}

std::vector<std::string> include_complaints(const SourceFile& file, const Arrows& arrows) {
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
    else if (const std::string to = folder_of(target);
             from != "tests" && from != to && !(arrows.contains(from) && arrows.at(from).contains(to)))
      complaints.push_back(file.path + ": " + from + " may not include " + target);
  }
  return complaints;
}

std::vector<std::string> size_complaints(const SourceFile& file) {
  constexpr std::size_t kMostLines = 320;
  std::vector<std::string> complaints;
  const std::size_t lines = lines_of(file.text).size();
  if (lines > kMostLines) complaints.push_back(file.path + ": " + std::to_string(lines) + " lines, at most 320");
  return complaints;
}

std::vector<std::string> printing_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"apps/", "tests/"})) return {};
  return pattern_complaints(
      file, R"rx(std::(cout|cerr|clog)\b|(^|[^a-zA-Z_])(printf|puts|putchar|perror)\s*\(|\b(stdout|stderr)\b)rx",
      "only apps prints");
}

std::vector<std::string> file_access_complaints(const SourceFile& file) {
  // io/system reads the kernel's files about this process and this machine, whose names nobody else can give.
  const std::vector<std::string> openers = {"io/files/open_file.",
                                            "io/files/atomic_file.cc",
                                            "io/files/standard_streams.cc",
                                            "io/output/folder_lock.cc",
                                            "io/files/private_folder.cc",
                                            "io/system/",
                                            "tests/"};
  if (starts_with_any(file.path, openers)) return {};
  return pattern_complaints(
      file,
      R"rx(#\s*include\s*<(fstream|ext/stdio_filebuf\.h)>|std::(basic_)?(i|o)?f(stream|ilebuf)\b|(^|[^\w.>])(::)?(fopen|gzopen|TIFFOpen|openat|creat|mkstemp|imread|imwrite)\s*\(|(^|[^\w])::open\s*\(|copy_options::(overwrite|update)_existing)rx",
      "files are opened by io/files/open_file.h, and no copy writes through a link");
}

std::vector<std::string> opening_by_name_complaints(const SourceFile& file) {
  constexpr const char* kCalls[] = {"avio_open(", "avio_open2(", "avformat_open_input(", "SetFileName("};
  constexpr const char* kChecks[] = {"open_file.h", "nifti_header.h"};
  const auto mentioned = [&](const char* word) { return file.text.find(word) != std::string::npos; };
  if (file.path.starts_with("tests/") || std::none_of(std::begin(kCalls), std::end(kCalls), mentioned) ||
      std::any_of(std::begin(kChecks), std::end(kChecks), mentioned))
    return {};
  return {file.path + ": a library opens a file by its name, which nobody has looked at before"};
}

std::vector<std::string> parser_complaints(const SourceFile& file) {
  if (file.path == "io/files/structured_text.cc" || file.path.starts_with("tests/")) return {};
  constexpr const char* kWords[] = {"son::parse(", "son::accept", "son::sax",    "son::from_", "toml::parse",
                                    "load_file",   "load_buffer", "load_string", ">> json",    "YAML::"};
  const auto mentioned = [&](const char* word) { return file.text.find(word) != std::string::npos; };
  if (std::none_of(std::begin(kWords), std::end(kWords), mentioned)) return {};  // the search below is slow
  return pattern_complaints(
      file,
      R"rx(\b[Jj]son::(parse|accept|sax_parse|from_(cbor|bson|msgpack|ubjson|bjdata))\s*\(|\btoml::parse|\bload_(file|buffer|string)\w*\s*\(|>>\s*json\b|\bYAML::(Parser\b|Load))rx",
      "only io/files/structured_text.cc parses, within bounds");
}

std::vector<std::string> thread_complaints(const SourceFile& file) {
  if (starts_with_any(file.path, {"libcore/base/", "tests/"})) return {};
  return pattern_complaints(file, R"rx(std::(thread|jthread|async)\b(?!::)|#\s*pragma\s+omp|pthread_create)rx",
                            "only libcore/base starts threads");
}

std::vector<std::string> rank_complaints(const SourceFile& file) {
  if (!file.path.starts_with("pipelines/tasks/")) return {};
  static const std::regex kWord(R"rx(\b(ranks?|[Tt]ransport)\b)rx");  // comments too
  std::vector<std::string> complaints;
  for (const auto& line : lines_of(file.text))
    if (std::regex_search(line, kWord))
      complaints.push_back(file.path +
                           ": tasks know no ranks, pipelines/engine runs them in one process or several: " + line);
  return complaints;
}

std::vector<std::string> heavy_header_complaints(const SourceFile& file) {
  if (!file.path.ends_with(".h")) return {};
  return pattern_complaints(
      file,
      R"rx(#\s*include\s*<(itk|gdcm|dcmtk|opencv2|CLI/|oneapi/|dnnl|toml\+\+|libav|libsw|yaml-cpp/yaml|google/protobuf|tf_example))rx",
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
  // Highway includes some headers once per instruction set: their guard is a toggle.
  const bool guarded =
      file.text.find("\n#pragma once\n") != std::string::npos ||
      (file.path.ends_with("-inl.h") && file.text.find("defined(HWY_TARGET_TOGGLE)\n") != std::string::npos);
  if (!guarded) complaints.push_back(file.path + ": no #pragma once");
  return complaints;
}

}  // namespace voxshard
