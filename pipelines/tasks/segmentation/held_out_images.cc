#include "pipelines/tasks/segmentation/held_out_images.h"

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

HeldOut none(const std::string& why) { return {.data = {}, .why_not = why}; }

}  // namespace

HeldOut held_out_images(const fs::path& work) {
  HeldOut held;
  try {
    const nlohmann::json record = read_json(work / "run.json"), plans = read_json(work / "plans.json");
    if (record.at("report").at("ids") == "salted")
      return none(
          "prepare named the cases by {id-salt}, and label maps that are named after the images would undo that");
    if (!record.at("dataset").is_string())
      return none("prepare took the cases of two plain folders, whose files are named otherwise than the cases");
    const fs::path data = record.at("dataset").get<std::string>();
    std::error_code error;
    if (fs::is_directory(data / "imagesTr", error))
      held.data = data / "imagesTr";
    else if (fs::is_directory(data, error) && is_study_tree(data))
      held.data = data;
    else
      return none("prepare read the cases from " + data.string() + ", which does not have their images now");
    held.task.of<VolumeReading>().best_series = false;  // found by content, whichever series prepare took
    if (plans.at("request").contains("irregular_slices"))
      held.task.of<VolumeReading>().irregular = IrregularSlices::kResample;
  } catch (const nlohmann::json::exception&) {
    return none((work / "run.json").string() + " does not say where prepare read the cases");
  } catch (const Error& e) {
    return none(e.what());
  }
  return held;
}

}  // namespace voxshard
