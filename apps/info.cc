// voxshard info: what the headers of volumes, pictures, data sets and videos say.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/detection_text.h"
#include "apps/exit_code.h"
#include "apps/text_table.h"
#include "apps/video_text.h"
#include "pipelines/commands/run_info.h"

namespace voxshard {
namespace {

std::string size_text(const Geometry& g) { return joined_text(g.size.data(), 3); }
std::string spacing_text(const Geometry& g) { return joined_text(g.spacing.data(), 3, 4); }

std::string file_text(const FileInfo& file) {
  const VolumeInfo& h = file.header;
  std::string text = file.path.string() + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    text += "  " + name + std::string(name.size() < 13 ? 13 - name.size() : 1, ' ') + value + "\n";
  };
  line("size", size_text(h.geometry) + " voxels (x, y, z)" +
                   (h.dimensions.size() > 3 ? "; " + std::to_string(h.dimensions.size()) + " dimensions" : ""));
  line("spacing", spacing_text(h.geometry) + " mm");
  line("orientation", h.orientation + " (where x, y, z grow)");
  line("origin", joined_text(h.geometry.origin.data(), 3, 6) + " mm (LPS)");
  line("type", h.scalar_type + (h.components > 1 ? " x " + std::to_string(h.components) : "") + ", slope " +
                   fixed_text(h.slope, 6) + ", intercept " + fixed_text(h.intercept, 3));
  line("placed by",
       h.form_used + (h.forms_agree ? "" : "; qform and sform differ by " + fixed_text(h.forms_gap_mm, 2) + " mm"));
  if (h.shear_degrees > 0.01) line("shear", fixed_text(h.shear_degrees, 3) + " degrees");
  if (!h.readable) line("problem", h.problem);
  return text;
}

std::string folder_text(const FolderInfo& folder) {
  std::string text = folder.path.string() + "\n";
  if (folder.dataset) {
    const Dataset& d = *folder.dataset;
    text += "  " + d.kind + " data set \"" + d.name + "\": " + std::to_string(d.training.size()) + " training, " +
            std::to_string(d.test.size()) + " test cases\n  classes:";
    for (std::size_t c = 0; c < d.label_names.size(); ++c) text += " " + std::to_string(c) + " " + d.label_names[c];
    text += "\n";
  }
  for (const auto& video : folder.videos) text += video_text(video);
  if (folder.images.empty()) return text;
  std::vector<std::vector<std::string>> rows = {{"file", "size", "spacing mm", "orientation", "type", ""}};
  constexpr std::size_t kMostRows = 40;
  for (const auto& image : folder.images) {
    if (rows.size() > kMostRows) break;
    const auto& h = image.header;
    rows.push_back({image.path.filename().string(), size_text(h.geometry), spacing_text(h.geometry), h.orientation,
                    h.scalar_type, h.problem});
  }
  text += text_table(rows);
  if (folder.images.size() >= kMostRows + 1)
    text += "... and " + std::to_string(folder.images.size() - kMostRows) + " more; all of them with --json\n";
  return text;
}

RunCommand add(CLI::App& app) {
  auto paths = std::make_shared<std::vector<std::filesystem::path>>();
  app.add_option("path", *paths,
                 "NIfTI files, videos, pictures, COCO JSON, data set folders (nnU-Net, Decathlon, COCO, Pascal VOC), "
                 "folders of NIfTI files or videos")
      ->required();
  auto quick = std::make_shared<bool>(false);
  app.add_flag("--quick", *quick, "Count the frames of videos by their packets instead of decoding every one");
  return [paths, quick](const Context& context) {
    const InfoReport report = run_info(*paths, {.quick = *quick, .threads = context.threads});
    Outcome outcome{.json = to_json(report), .text = "", .exit_code = report.failures.empty() ? kExitOk : kExitPartial};
    for (const auto& f : report.files) outcome.text += file_text(f);
    for (const auto& v : report.videos) outcome.text += video_text(v);
    for (const auto& p : report.pictures) outcome.text += picture_text(p);
    for (const auto& s : report.detection_sets) outcome.text += detection_set_text(s);
    for (const auto& f : report.folders) outcome.text += folder_text(f);
    for (const auto& f : report.failures) outcome.text += f.id + ": " + f.code + " " + f.message + "\n";
    return outcome;
  };
}

}  // namespace

Command info_command() {
  return {"info", "Shows what volumes, data sets and videos hold: size, spacing or timestamps, orientation, type, problems.",
          "voxshard info data/imagesTr/phantom_000_0000.nii.gz data --json", add};
}

}  // namespace voxshard
