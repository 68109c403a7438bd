#include "pipelines/tasks/segmentation/prediction_sheet.h"

#include <map>

#include "io/datasets/case_ids.h"
#include "io/datasets/class_names.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/report_page/html_page.h"
#include "pipelines/tasks/segmentation/inputs/find_images.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/sheet/sheet_page.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Returns the image of each case by its id: the first channel. Those of the given folder win.
std::map<std::string, fs::path> images_by_case(const SheetRequest& request, const VolumeFormats& formats,
                                               Progress& progress) {
  std::map<std::string, fs::path> images;
  for (const auto& [id, files] : read_case_files(request.predictions))
    if (!files.empty()) images[id] = files.front();
  if (request.images.empty()) return images;
  if (std::error_code unseen; !fs::exists(request.images, unseen) && !is_volume_address(request.images, formats))
    throw Error(ErrorKind::kInput, "E_MISSING", "[report] {images} " + request.images.string() + " does not exist");
  const std::vector<fs::path> found = find_images(request.images, formats, {.best_only = false}, progress).images;
  for (const Case& item : cases_of_images(found, {"image"}, formats).cases) images[item.id] = item.images.front();
  return images;
}

std::vector<std::string> class_names_beside(const fs::path& predictions) {
  const fs::path file = predictions / kClassNamesFile;
  std::error_code unseen;
  return fs::exists(file, unseen) ? read_class_names(file) : std::vector<std::string>{"background"};
}

std::string name_of_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return shown_name((whole.has_filename() ? whole : whole.parent_path()).filename().string());
}

/// Returns the sizes of the label maps by their headers; nothing of one that cannot be read.
std::vector<Shape> sizes_of(const VolumeList& list, const VolumeFormats& formats) {
  std::vector<Shape> sizes;
  for (const FoundVolume& volume : list.volumes) {
    sizes.push_back({0, 0, 0});
    static_cast<void>(failure_of(volume.id, {ErrorKind::kInput},
                                 [&] { sizes.back() = read_volume_info(volume.path, formats).geometry.shape(); }));
  }
  return sizes;
}

/// Returns the rows of the report: each volume of each case.
Json volume_rows(const Json& cases) {
  Json rows = Json::array();
  for (const Json& one : cases)
    for (const Json& volume : one.at("volumes"))
      rows.push_back({{"case", one.at("case")},
                      {"class", volume.at("class")},
                      {"voxels", volume.at("voxels")},
                      {"ml", volume.at("ml")}});
  return rows;
}

}  // namespace

TaskReport prediction_sheet(const SheetRequest& request, Progress& progress) {
  const VolumeFormats formats = volume_formats_with(IrregularSlices::kResample);  // as predict may have read them
  const VolumeList list = list_volumes(request.predictions, formats);
  const std::map<std::string, fs::path> images = images_by_case(request, formats, progress);
  Sheet sheet{.name = name_of_folder(request.predictions),
              .classes = class_names_beside(request.predictions),
              .found = list.volumes.size(),
              .cases = Json::array(),
              .left_out = Json::object(),
              .budget = {}};
  sheet.budget = sheet_budget(sizes_of(list, formats), sheet.classes.size());
  std::vector<CaseFailure> failures;
  std::int64_t with_image = 0;
  for (std::size_t i = 0; i < sheet.budget.listed; ++i) {
    throw_if_stopped(progress);
    const FoundVolume& volume = list.volumes[i];
    const auto image = images.find(volume.id);
    const SheetCase item{
        .id = volume.id, .labels = volume.path, .image = image == images.end() ? fs::path() : image->second};
    const SheetLimits limits =
        sheet.cases.size() < sheet.budget.sliced ? sheet.budget.limits : SheetLimits{.planes = 0};
    in_case_boundary(item.id, failures, [&] {
      sheet.cases.push_back(sheet_case(item, sheet.classes, limits, formats));
      const Json& one = sheet.cases.back();
      with_image += !item.image.empty() && one.contains("image") && one["image"].is_null();
      if (one.contains("image") && !one["image"].is_null())
        progress.warn(shown_name(item.id) + ": its image is not shown (" + one["image"].get<std::string>() + ")");
    });
    progress.update("report", static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(sheet.budget.listed),
                    shown_name(item.id));
  }
  for (const CaseFailure& failure : failures) {
    progress.warn(shown_name(failure.id) + ": " + failure.message);
    sheet.left_out[failure.code] = sheet.left_out.value(failure.code, 0) + 1;
  }
  if (sheet.cases.empty())
    throw Error(ErrorKind::kNoCase,
                "[report] none of the label maps in " + request.predictions.string() + " can be read");
  write_page(request.file, sheet_page(sheet), "give a folder with fewer label maps");
  TaskReport report{.json = {{"report", request.file.string()},
                             {"predictions", sheet.name},
                             {"cases", sheet.cases.size()},
                             {"with_image", with_image},
                             {"thinned", sheet.budget.thinned() || sheet.budget.sliced < sheet.found},
                             {"volumes", volume_rows(sheet.cases)},
                             {"missed", empty_classes(sheet.cases)},
                             {"failures", to_json(failures)}},
                    .text = {},
                    .partial = !failures.empty()};
  report.text = std::to_string(sheet.cases.size()) + " of " + std::to_string(sheet.found) + " label maps, " +
                std::to_string(with_image) + " with their image\n";
  for (const std::string& line : empty_classes(sheet.cases)) report.text += "  " + line + "\n";
  report.text += "written: " + request.file.string() + ", which shows patients\n";
  if (with_image == 0 && request.images.empty())
    report.text += "the folder does not say where its images are: {images} names their folder\n";
  return report;
}

}  // namespace voxshard
