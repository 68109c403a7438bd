// The rules of the house as functions from a file's path and text to complaints, so that the tests can run them on the
// tree and on small wrong examples.
//
//   auto complaints = include_complaints({"io/a.h", "#include \"libcore/graph/graph.h\"\n"});   // one complaint
#pragma once

#include <string>
#include <vector>

namespace voxshard {

struct SourceFile {
  std::string path;  // from the root: "libcore/graph/graph.h"
  std::string text;
};

/// Every .h, .cc of apps, io, libcore, pipelines and, when asked, tests; sorted by path.
std::vector<SourceFile> read_sources(bool with_tests);

std::vector<std::string> include_complaints(const SourceFile& file);      // arrows of the design, written from the root
std::vector<std::string> size_complaints(const SourceFile& file);         // at most 500 lines
std::vector<std::string> printing_complaints(const SourceFile& file);     // only apps prints
std::vector<std::string> file_access_complaints(const SourceFile& file);  // only io opens files
std::vector<std::string> thread_complaints(const SourceFile& file);       // only libcore/base and runtime start threads
std::vector<std::string> heavy_header_complaints(
    const SourceFile& file);                                          // ITK, OpenCV, FFmpeg, CLI11, oneDNN stay out
std::vector<std::string> flag_complaints(const SourceFile& file);        // only apps names command-line flags
std::vector<std::string> error_text_complaints(const SourceFile& file);  // nobody branches on an error's text
std::vector<std::string> opening_complaints(const SourceFile& file);  // a header opens with a comment and #pragma once

}  // namespace voxshard
