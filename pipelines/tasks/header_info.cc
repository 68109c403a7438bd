#include "pipelines/tasks/header_info.h"

#include <algorithm>
#include <map>
#include <optional>

#include "io/files/file_name.h"
#include "io/files/private_folder.h"
#include "io/image/image.h"
#include "libcore/base/parallel.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
void widen(std::array<T, 3>& low, std::array<T, 3>& high, const std::array<T, 3>& value, bool first) {
  for (int a = 0; a < 3; ++a) {
    low[a] = first ? value[a] : std::min(low[a], value[a]);
    high[a] = first ? value[a] : std::max(high[a], value[a]);
  }
}

std::string size_text(const Geometry& g) { return joined_text(g.size.data(), 3); }
std::string spacing_text(const Geometry& g) { return joined_text(g.spacing.data(), 3, 4); }

}  // namespace

VolumeFile read_volume_file(const std::filesystem::path& path, const InfoOptions& options,
                            std::vector<CaseFailure>& failures) {
  VolumeFile file{path, options.quick ? read_volume_info(path, options.formats) : check_volume(path, options.formats)};
  const VolumeInfo& h = file.header;
  for (const auto& part : files_of_volume(path, options.formats)) file.files.push_back(path_outside(part).string());
  if (!h.readable)
    failures.push_back(
        {volume_id(path, options.formats).value_or(path.filename().string()), h.problem_code, h.problem});
  return file;
}

ImageFile read_image_file(const std::filesystem::path& path, const InfoOptions& options) {
  if (!options.quick) static_cast<void>(read_rgb(path));
  return {path, read_image_header(path)};
}

void add_volumes(FolderInfo& folder, const std::vector<std::filesystem::path>& files, const InfoOptions& options,
                 std::vector<CaseFailure>& failures) {
  std::vector<std::optional<VolumeFile>> read(files.size());
  std::vector<std::vector<CaseFailure>> failed(files.size());
  WorkerPool pool(options.threads);
  pool.run(static_cast<std::int64_t>(files.size()), [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    const std::string id = volume_id(files[at], options.formats).value_or(files[at].filename().string());
    in_case_boundary(id, failed[at], [&] { read[at] = read_volume_file(files[at], options, failed[at]); });
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (read[i]) folder.images.push_back(std::move(*read[i]));
    failures.insert(failures.end(), failed[i].begin(), failed[i].end());
  }
}

Json to_json(const VolumeFile& file) {
  const VolumeInfo& h = file.header;
  Json labels = Json::object();
  for (const auto& [number, name] : h.labels) labels[std::to_string(number)] = name;
  Json json = {{"path", file.path.string()},
               {"size", h.geometry.size},
               {"spacing_mm", h.geometry.spacing},
               {"origin_mm", h.geometry.origin},
               {"direction", h.geometry.direction},
               {"orientation", h.orientation},
               {"dimensions", h.dimensions},
               {"scalar_type", h.scalar_type},
               {"components", h.components},
               {"slope", h.slope},
               {"intercept", h.intercept},
               {"qform_code", h.qform_code},
               {"sform_code", h.sform_code},
               {"form_used", h.form_used},
               {"forms_agree", h.forms_agree},
               {"forms_gap_mm", h.forms_gap_mm},
               {"shear_degrees", h.shear_degrees},
               {"shear_shift_mm", h.shear_shift_mm},
               {"nifti_version", h.nifti_version},
               {"big_endian", h.big_endian},
               {"voxel_bytes", h.voxel_bytes},
               {"file_bytes", h.file_bytes},
               {"readable", h.readable},
               {"problem", h.problem},
               {"warning", h.warning},
               {"unit", h.unit},
               {"labels", labels},
               {"files", file.files}};
  if (!file.better.empty()) json["better"] = file.better;
  return json;
}

Json to_json(const ImageFile& info) {
  const ImageHeader& h = info.header;
  return {{"path", info.path.string()},   {"format", format_name(h.format)}, {"width", h.width},
          {"height", h.height},           {"channels", h.channels},          {"bits", h.bits},
          {"orientation", h.orientation}, {"file_bytes", h.file_bytes}};
}

Json to_json(const FolderInfo& folder) {
  Json json = {{"path", folder.path.string()}, {"images", folder.images.size()}};
  if (!folder.dataset.is_null()) json["dataset"] = folder.dataset;
  if (!folder.left_out.empty()) json["left_out"] = folder.left_out;
  std::array<std::int64_t, 3> size_low{}, size_high{};
  std::array<double, 3> spacing_low{}, spacing_high{};
  std::map<std::string, int> orientations;
  std::int64_t bytes = 0, unreadable = 0;
  bool first = true;
  for (const auto& image : folder.images) {
    const auto& h = image.header;
    widen(size_low, size_high, h.geometry.size, first);
    widen(spacing_low, spacing_high, h.geometry.spacing, first);
    ++orientations[h.orientation];
    bytes += h.voxel_bytes;
    unreadable += !h.readable;
    first = false;
  }
  json["size"] = {{"min", size_low}, {"max", size_high}};
  json["spacing_mm"] = {{"min", spacing_low}, {"max", spacing_high}};
  json["orientations"] = orientations;
  json["voxel_bytes"] = bytes;
  json["unreadable"] = unreadable;
  json["files"] = Json::array();
  for (const auto& image : folder.images) json["files"].push_back(to_json(image));
  json["videos"] = Json::array();
  for (const auto& video : folder.videos) json["videos"].push_back(to_json(video));
  return json;
}

std::string to_text(const VolumeFile& file) {
  const VolumeInfo& h = file.header;
  std::string text = plain_text(file.path.string()) + "\n";
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
  if (!h.unit.empty()) line("values", h.unit);
  line("placed by",
       h.form_used + (h.forms_agree ? "" : "; qform and sform differ by " + fixed_text(h.forms_gap_mm, 2) + " mm"));
  if (h.shear_degrees > 0.01)
    line("shear", fixed_text(h.shear_degrees, 3) + " degrees" +
                      (h.shear_shift_mm > 0 && h.readable
                           ? "; its repair moves a corner by " + fixed_text(h.shear_shift_mm, 2) + " mm"
                           : ""));
  for (const auto& [number, name] : h.labels) line("label " + std::to_string(number), name);
  if (!h.warning.empty()) line("warning", h.warning);
  if (!h.readable) line("problem", h.problem);
  return text;
}

std::string to_text(const FolderInfo& folder) {
  std::string text = plain_text(folder.path.string()) + "\n" + folder.dataset_text;
  for (const auto& video : folder.videos) text += to_text(video);
  if (!folder.left_out.empty()) text += "  left out: " + folder.left_out + "\n";
  if (folder.images.empty()) return text;
  std::vector<std::vector<std::string>> rows = {{"file", "size", "spacing mm", "orientation", "type", ""}};
  constexpr std::size_t kMostRows = 40;
  for (const auto& image : folder.images) {
    if (rows.size() > kMostRows) break;
    const auto& h = image.header;
    rows.push_back({shown_name(image.path.filename().string()), size_text(h.geometry), spacing_text(h.geometry),
                    h.orientation, h.scalar_type, h.problem.empty() ? h.warning : h.problem});
    if (!image.better.empty()) {
      std::string& last = rows.back().back();
      last += (last.empty() ? "" : "; ") + ("another reconstruction of the scan of " + image.better);
    }
  }
  text += text_table(rows);
  if (folder.images.size() >= kMostRows + 1)
    text += "... and " + std::to_string(folder.images.size() - kMostRows) + " more; all of them with {json}\n";
  return text;
}

std::string to_text(const ImageFile& info) {
  const ImageHeader& h = info.header;
  return plain_text(info.path.string()) + "\n  size         " + std::to_string(h.width) + "x" +
         std::to_string(h.height) + " pixels, " + format_name(h.format) + ", " + std::to_string(h.channels) +
         (h.channels == 1 ? " channel of " : " channels of ") + std::to_string(h.bits) + " bits" +
         (h.orientation > 1 ? ", EXIF orientation " + std::to_string(h.orientation) : "") + "\n";
}

}  // namespace voxshard
