#include "pipelines/tasks/segmentation/next_of_prediction.h"

#include "io/datasets/case_ids.h"
#include "pipelines/engine/predicted_file.h"

namespace voxshard {

namespace fs = std::filesystem;

std::vector<std::string> next_of_prediction(const PredictOptions& o) {
  const fs::path input = o.input.has_filename() ? o.input : o.input.parent_path();  // without a trailing slash
  const std::string images = input.filename().string(), output = o.output.string();
  const fs::path data = input.parent_path();
  if (!images.starts_with("images") || !fs::is_directory(data / ("labels" + images.substr(6))))
    return fs::exists(o.output / kCaseNamesFile)
               ? std::vector<std::string>{"report", output}  // it leads to the images
               : std::vector<std::string>{"report", output, "{images}", input.string()};
  std::vector<std::string> words = {"evaluate", output, (data / ("labels" + images.substr(6))).string()};
  if (fs::exists(data / "dataset.json")) words.insert(words.end(), {"{dataset}", data.empty() ? "." : data.string()});
  const fs::path summary = beside_output(o, "summary.json");
  const fs::path from_data =
      fs::absolute(summary).lexically_normal().lexically_relative(fs::absolute(data / ".").lexically_normal());
  if (from_data.begin() != from_data.end() &&
      *from_data.begin() == "..")  // evaluate writes nothing into its input folders
    words.insert(words.end(), {"{output}", summary.string()});
  return words;
}

}  // namespace voxshard
