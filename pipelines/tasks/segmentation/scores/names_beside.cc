#include "pipelines/tasks/segmentation/scores/names_beside.h"

#include "io/datasets/class_names.h"
#include "libcore/base/error.h"

namespace voxshard {

namespace fs = std::filesystem;

std::vector<std::string> names_beside(const fs::path& references, const std::vector<fs::path>& predictions,
                                      Progress& progress) {
  std::error_code error;
  const auto folder_of = [&](const fs::path& path) {
    const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
    return fs::is_directory(path, error) ? whole : whole.parent_path();
  };
  std::vector<fs::path> files = {folder_of(references).parent_path() / "dataset.json",
                                 folder_of(references) / "dataset.json"};
  for (const fs::path& one : predictions) files.push_back(folder_of(one) / kClassNamesFile);
  for (const fs::path& file : files) {
    if (!fs::is_regular_file(file, error)) continue;
    try {
      return read_class_names(file);
    } catch (const Error& e) {
      progress.warn(std::string("names of classes are not taken: ") + e.what());
    }
  }
  return {};
}

}  // namespace voxshard
