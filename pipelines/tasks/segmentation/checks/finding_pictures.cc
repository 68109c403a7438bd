#include "pipelines/tasks/segmentation/checks/finding_pictures.h"

#include <algorithm>
#include <cstdio>

#include "io/datasets/case_label.h"
#include "io/image/overlay.h"
#include "io/image/sheet_file.h"
#include "io/resampling/resample.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"

namespace voxshard {
namespace {

/// The volumes of a case, which an overlay points to.
struct Drawn {
  Volume image, labels, outlined;
  bool fills = false, outlines = false;  // true: the labels are drawn so
};

const Case* case_of(const std::vector<Case>& cases, const std::string& id) {
  const auto at = std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.id == id; });
  return at == cases.end() ? nullptr : &*at;
}

/// Reads a case. The labels are laid on the grid of the image, if they have its size, as training would do; the
/// outlined ones also where their own header places them.
Drawn drawn_case(const Case& item, const Finding& finding, const VolumeFormats& formats) {
  const std::vector<int>& classes = finding.classes;
  Drawn drawn{.image = read_image(item.images.at(0), formats)};
  if (!item.has_label()) return drawn;
  drawn.labels = read_case_label(item, drawn.image.geometry, formats).volume;
  if (finding.shown == Picture::kInTheWorld) {
    drawn.outlined = resample_label_to(drawn.labels, drawn.image.geometry);
    drawn.outlines = true;
  }
  if (drawn.labels.geometry.size != drawn.image.geometry.size) return drawn;
  drawn.labels.geometry = drawn.image.geometry;
  drawn.fills = finding.shown == Picture::kInTheWorld || !classes.empty();
  if (drawn.outlines) return drawn;
  drawn.outlined = drawn.labels;
  drawn.outlines = true;
  auto* v = drawn.outlined.voxels.as<std::int32_t>();
  for (std::int64_t i = 0; i < drawn.outlined.voxels.count(); ++i)
    if (!classes.empty() && std::find(classes.begin(), classes.end(), v[i]) == classes.end()) v[i] = 0;
  return drawn;
}

std::string marks_of(const Finding& finding) {
  if (finding.shown == Picture::kInTheWorld) return "filled: labels voxel by voxel   outlined: by their own header";
  return finding.classes.empty() ? "outlined: labels" : "filled: labels   outlined: what the finding is about";
}

void draw(const Finding& finding, const std::vector<const Case*>& items, const CheckedSet& set,
          const std::filesystem::path& file, const PicturePlace& place) {
  std::vector<Evaluated> files;
  for (const Case* item : items) {
    files.push_back({.reference = item->images.at(0)});
    if (finding.shown == Picture::kInTheWorld && item->label) files.push_back({.reference = *item->label});
  }
  const auto hold = place.gate.enter(image_plan(files, place.formats));
  std::vector<Drawn> drawn;
  for (const Case* item : items)
    drawn.push_back(hiding_paths(*item, [&] { return drawn_case(*item, finding, place.formats); }));
  std::vector<OverlayCase> shown;
  for (std::size_t i = 0; i < items.size(); ++i)
    shown.push_back({.image = &drawn[i].image,
                     .reference = drawn[i].outlines ? &drawn[i].outlined : nullptr,
                     .prediction = drawn[i].fills ? &drawn[i].labels : nullptr,
                     .caption = items[i]->id + " " + finding.code});
  write_sheet(file, overlay_sheet(shown, {.label_names = set.class_names, .marks = marks_of(finding)}));
}

}  // namespace

std::vector<PlannedPicture> plan_pictures(const std::vector<Finding>& findings) {
  std::vector<PlannedPicture> pictures;
  for (std::size_t i = 0; i < findings.size() && pictures.size() < kMostPictures; ++i) {
    if (findings[i].shown == Picture::kNone) continue;
    char number[16];
    std::snprintf(number, sizeof number, "%03zu_", pictures.size() + 1);
    pictures.push_back({i, number + findings[i].code + ".png"});
  }
  return pictures;
}

void draw_findings(const std::vector<PlannedPicture>& pictures, const std::vector<Case>& cases, const CheckedSet& set,
                   const PicturePlace& place, std::vector<Finding>& findings) {
  for (const PlannedPicture& one : pictures) {
    throw_if_stopped(place.progress);
    Finding& finding = findings[one.finding];
    std::vector<const Case*> items;
    for (const std::string& id : {finding.id, finding.other})
      if (const Case* item = case_of(cases, id); item != nullptr) items.push_back(item);
    if (items.empty()) continue;
    const auto failure = failure_of(finding.id, {ErrorKind::kInput, ErrorKind::kConfig, ErrorKind::kBudget}, [&] {
      hiding_paths(*items.front(), [&] { draw(finding, items, set, place.folder / one.file, place); });
    });
    if (failure)
      place.progress.log("no picture of " + finding.id + " " + finding.code + ": " + failure->message);
    else
      finding.picture = one.file;
  }
}

}  // namespace voxshard
