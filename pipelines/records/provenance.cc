#include "pipelines/records/provenance.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "libcore/base/coded_text.h"
#include "libcore/base/plain_text.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Returns the number of files and one hash of the contents of all, in the order of the hashes: names do not count.
Json source_content(const fs::path& source, const VolumeFormats& formats) {
  std::vector<std::string> hashes;
  const VolumeFiles known = known_files_of_volume(source, formats);
  for (const fs::path& file : known.files) hashes.push_back(known.hash_of(file));
  std::sort(hashes.begin(), hashes.end());
  ContentHash all;
  for (const std::string& hash : hashes) all.add(hash);
  return {{"files", hashes.size()}, {"xxh128", hashes.size() == 1 ? hashes.front() : all.text()}};
}

}  // namespace

OutputKind provenance_kind() {
  return {"a source of voxshard convert", {".json"}, begins_with({R"({"program":"voxshard")"})};
}

fs::path provenance_file(const fs::path& volume) {
  return volume.parent_path() / (volume_stem(volume).value_or(volume.filename().string()) + ".json");
}

Json provenance_of(const fs::path& source, const VolumeInfo& info, DiskType written, Provenance kind,
                   const VolumeFormats& formats) {
  Json from = {{"format", volume_format_name(source, formats)}};
  from.update(source_content(source, formats));
  if (kind == Provenance::kWithNames) from["path"] = source.string();
  Json warnings = Json::array();
  for (const CodedText& one : coded_texts(info.warning)) warnings.push_back(plain_text(one.code + " " + one.text));
  return {{"program", "voxshard"},
          {"version", VOXSHARD_VERSION},
          {"source", from},
          {"geometry",
           {{"size", info.geometry.size},
            {"spacing_mm", info.geometry.spacing},
            {"orientation", orientation_code(info.geometry)},
            {"placed_by", info.form_used}}},
          {"repaired",
           {{"shear_degrees", info.shear_degrees},
            {"shear_moves_corner_mm", info.shear_shift_mm},
            {"qform_and_sform_apart_mm", info.forms_gap_mm},
            {"resampled", info.warning.starts_with("W_RESAMPLED")}}},
          {"values",
           {{"scalar_type", info.scalar_type},
            {"slope", info.slope},
            {"intercept", info.intercept},
            {"written_as", disk_type_name(written)}}},
          {"warnings", warnings}};
}

void write_provenance(const fs::path& volume, const fs::path& source, const VolumeInfo& info, DiskType written,
                      Provenance kind, const VolumeFormats& formats) {
  if (kind == Provenance::kNone) return;
  write_text_atomically(
      provenance_file(volume),
      provenance_of(source, info, written, kind, formats).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace voxshard
