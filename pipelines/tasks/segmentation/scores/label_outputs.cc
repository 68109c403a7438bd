#include "pipelines/tasks/segmentation/scores/label_outputs.h"

#include <algorithm>
#include <array>

#include "io/image/overlay.h"
#include "io/image/sheet_file.h"
#include "io/output/output_folder.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostCasesInImage = 6;

void write_image(const EvaluateLabelsOptions& options, const std::vector<LabelPair>& pairs, const LabelScores& report,
                 const std::vector<std::string>& names, MemoryGate& gate) {
  std::vector<const LabelPair*> chosen;
  std::vector<Evaluated> files;
  for (const auto& pair : pairs) {
    const bool scored =
        std::any_of(report.cases.begin(), report.cases.end(), [&](const auto& c) { return c.id == pair.id; });
    if (!scored || pair.image.empty() || chosen.size() == kMostCasesInImage) continue;
    chosen.push_back(&pair), files.push_back(pair.files(true));
  }
  const auto hold = gate.enter(image_plan(files, options.formats));
  std::vector<std::array<Volume, 3>> volumes;
  std::vector<OverlayCase> shown;
  volumes.reserve(kMostCasesInImage);
  for (const LabelPair* one : chosen) {
    const LabelPair& pair = *one;
    std::vector<std::string> said;  // when the case was scored
    volumes.push_back({read_image(pair.image, options.formats), read_reference(pair, options.formats, said),
                       read_label(pair.prediction, options.formats)});
    const auto& [image, reference, prediction] = volumes.back();
    shown.push_back({.image = &image, .reference = &reference, .prediction = &prediction, .caption = pair.id});
  }
  if (shown.empty())
    throw Error(ErrorKind::kInput,
                "[evaluate] {png} needs images, and " + options.dataset.string() + " holds none of these cases");
  OverlayOptions look;
  look.label_names = names;
  if (options.png.has_parent_path()) make_output_folder(options.png.parent_path());
  write_sheet(options.png, overlay_sheet(shown, look));
}

}  // namespace

void write_label_outputs(const EvaluateLabelsOptions& options, const std::vector<LabelPair>& pairs,
                         const LabelScores& report, const std::vector<std::string>& names, MemoryGate& gate) {
  if (!options.summary.empty()) {
    std::vector<CaseScores> all;
    for (const auto& c : report.cases) all.push_back(c.scores);
    if (options.summary.has_parent_path()) make_output_folder(options.summary.parent_path());
    write_summary(options.summary, all, summary_classes(report.scored));
  }
  if (!options.png.empty()) write_image(options, pairs, report, names, gate);
}

}  // namespace voxshard
