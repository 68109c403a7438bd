// The rules of the source tree as functions from a file's path and text to complaints, so that the tests can run them
// on the tree and on small wrong examples.
//
//   auto complaints = size_complaints({"io/a.h", text});   // one complaint per broken rule
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace voxshard {

struct SourceFile {
  std::string path;  // from the root: "libcore/graph/graph.h"
  std::string text;
};

/// Returns every .h and .cc of apps, io, libcore, pipelines and, when asked, tests; sorted by path.
std::vector<SourceFile> read_sources(bool with_tests);

/// The folders that each folder may include beside itself, from its CMakeLists.txt: voxshard_folder(io/image
/// MAY_INCLUDE io/files).
using Arrows = std::map<std::string, std::set<std::string>>;
Arrows arrows_of(const std::string& cmake);
Arrows read_arrows();
std::vector<std::string> circle_complaints(const Arrows& arrows);

/// Complains of folders with more than 25 sources, of which x.h and x.cc are one, and of those with more than 20 .cc,
/// but in apps and tests.
std::vector<std::string> folder_complaints(const std::vector<SourceFile>& files);

std::vector<std::string> include_complaints(const SourceFile& file,
                                            const Arrows& arrows);            // as listed, written from the root
std::vector<std::string> size_complaints(const SourceFile& file);             // at most 320 lines
std::vector<std::string> printing_complaints(const SourceFile& file);         // only apps prints
std::vector<std::string> file_access_complaints(const SourceFile& file);      // only io/files opens files
std::vector<std::string> opening_by_name_complaints(const SourceFile& file);  // checks precede what libraries open
std::vector<std::string> parser_complaints(
    const SourceFile& file);  // only io/files/structured_text.cc parses JSON, TOML, XML
std::vector<std::string> thread_complaints(const SourceFile& file);  // only libcore/base starts threads
std::vector<std::string> rank_complaints(const SourceFile& file);    // tasks know no ranks
std::vector<std::string> heavy_header_complaints(
    const SourceFile& file);                                             // ITK, OpenCV, FFmpeg, CLI11, oneDNN stay out
std::vector<std::string> flag_complaints(const SourceFile& file);        // only apps names command-line flags
std::vector<std::string> error_text_complaints(const SourceFile& file);  // no code branches on an error's text
std::vector<std::string> opening_complaints(const SourceFile& file);  // a header opens with a comment and #pragma once

}  // namespace voxshard
