// Holds the pages about the unusual files (tests/io/volume/tricky_files.md, tests/io/dicom/tricky_files.md) against
// what the program does with each of them: the header, what is used of it, and the reason where a file is refused.
// Another reader, nibabel, is asked for voxels and affines where it is installed (nibabel_judge.py).
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "io/dicom/structures.h"
#include "io/structures/structure_labels.h"
#include "io/volume/volume.h"
#include "libcore/base/text.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// Returns the files of the collection that are no texts about it, sorted; the orientations of one image are one entry.
std::vector<fs::path> tricky_files(const fs::path& root, bool every_orientation) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root).string();
    const bool about = name.find("LICENSE") != std::string::npos || name.ends_with(".md") || name.ends_with("COPYING");
    const bool twin = name.starts_with("niivue_space/") && name != "niivue_space/LPS.nii.gz";
    if (entry.is_regular_file() && !about && (every_orientation || !twin)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the text of an error or problem without the folder of the data.
std::string without_folder(std::string text, const fs::path& root) {
  for (const std::string& part : {"[input] " + root.string() + "/", root.string() + "/"})
    for (std::size_t at = 0; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
  return text;
}

/// Returns what the header says: "int16, 53x63x46, RAS, NIfTI-1, big-endian, sform".
std::string header_text(const fs::path& path) {
  const VolumeInfo h = read_volume_info(path);
  std::string text = h.scalar_type + ", " + joined_text(h.dimensions.data(), static_cast<int>(h.dimensions.size()));
  if (h.readable) text += ", " + h.orientation;
  text += h.nifti_version > 0 ? ", NIfTI-" + std::to_string(h.nifti_version) : "";
  if (h.big_endian) text += ", big-endian";
  if (h.slope != 1 || h.intercept != 0)
    text += ", slope " + number_text(h.slope) + ", intercept " + number_text(h.intercept);
  text += ", " + h.form_used;
  if (!h.forms_agree) text += ", forms " + fixed_text(h.forms_gap_mm, 1) + " mm apart";
  if (h.shear_degrees > 0.01) text += ", shear " + fixed_text(h.shear_degrees, 2) + " degrees";
  return text;
}

std::string row_of(const fs::path& path, const fs::path& root) {
  std::string name = path.lexically_relative(root).string(), header = "-", done = "read";
  if (name.starts_with("niivue_space/")) name = "niivue_space/*.nii.gz";
  try {
    header = header_text(path);
    const VolumeInfo info = check_volume(path);
    static_cast<void>(read_image(path));
    if (!info.warning.empty()) done = "read, " + info.warning;
  } catch (const Error& e) {
    done = without_folder(e.what(), root);
    const std::string own = path.lexically_relative(root).string() + ": ";
    done = "refused (" + std::string(e.code()) + "): " + (done.starts_with(own) ? done.substr(own.size()) : done);
  }
  return "| " + name + " | " + header + " | " + done + " |\n";
}

/// Expects the table of a page, from "| file |" to its end, to be this one.
void expect_on_page(const std::string& page, const std::string& table) {
  const std::string text = read_bytes(fs::path(VOXSHARD_SOURCE_DIR) / page);
  const std::size_t begin = text.find("| file |");
  if ((begin == std::string::npos ? "" : text.substr(begin)) == table) return;
  const fs::path made = fs::temp_directory_path() / ("voxshard_" + fs::path(page).parent_path().filename().string() +
                                                     "_" + fs::path(page).filename().string());
  write_bytes(made, table);
  FAIL() << page << " is not what the program does; the table as it would be is in " << made;
}

TEST(TrickyVolumes, ThePageSaysWhatIsDoneWithEach) {
  const fs::path root = test_data() / "nifti_tricky";
  REQUIRE_TEST_DATA(root);
  std::string table = "| file | header | what is done |\n|---|---|---|\n";
  for (const fs::path& path : tricky_files(root, false)) table += row_of(path, root);
  expect_on_page("tests/io/volume/tricky_files.md", table);
}

/// Returns what becomes of a structure set beside an image when its structures are drawn on that: "; as labels on
/// ct_1.dcm: ..."; empty for other files.
std::string drawn_text(const fs::path& path, const fs::path& root) {
  const fs::path image = path.parent_path() / "ct_1.dcm";
  if (!fs::exists(image) || !is_structure_set_file(path)) return "";
  std::string text = "; as labels on " + image.filename().string() + ": ";
  try {
    std::map<int, int> classes;
    for (const NamedStructure& one : read_structure_file(path).structures)
      classes.emplace(one.number, static_cast<int>(classes.size()) + 1);
    const StructureLabels made =
        read_structures_on(path, grid_of_image(image), classes, {.image = image_reference(image)});
    const auto* label = made.volume.voxels.as<std::int32_t>();
    text += std::to_string(classes.size()) + (classes.size() == 1 ? " structure of " : " structures of ") +
            std::to_string(made.volume.voxels.count() - std::count(label, label + made.volume.voxels.count(), 0)) +
            " voxels";
    for (const std::string& note : made.notes) text += ", " + note;
  } catch (const Error& e) {
    text += "refused (" + std::string(e.code()) + "): " + without_folder(e.what(), root);
  }
  return text;
}

/// Returns the row of a DICOM file or series: the ids of its series, which hold its path, are left out.
std::string dicom_row(const fs::path& path, const fs::path& root) {
  static const std::regex kId("#series=[a-z]+_[0-9a-f]{12}");
  std::string row = std::regex_replace(row_of(path, root), kId, "#series=ID");
  return row.insert(row.size() - 3, drawn_text(path, root));
}

TEST(TrickyDicom, ThePageSaysWhatIsDoneWithEach) {
  const fs::path root = test_data() / "dicom_tricky";
  REQUIRE_TEST_DATA(root);
  std::string table = "| file | header | what is done |\n|---|---|---|\n";
  std::set<fs::path> folders;  // of more than 10 files with one series: a row for all of them
  for (const fs::path& path : tricky_files(root, true)) {
    const fs::path folder = path.parent_path();
    const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    const bool is_series = files > 10 && find_volumes(folder).volumes.size() == 1;
    if (!is_series)
      table += dicom_row(path, root);
    else if (folders.insert(folder).second)
      table += dicom_row(folder, root);
  }
  expect_on_page("tests/io/dicom/tricky_files.md", table);
}

TEST(TrickyVolumes, VoxelsAndAffinesAreThoseOfNibabel) {
  const fs::path root = test_data() / "nifti_tricky";
  REQUIRE_TEST_DATA(root);
  const char* chosen = std::getenv("VOXSHARD_TEST_PYTHON");  // Debian's has python3-nibabel
  const std::string python = chosen == nullptr ? "/usr/bin/python3" : chosen;
  if (std::system((python + " -c 'import nibabel' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no nibabel in " << python << " (Debian: python3-nibabel)";
  ScratchFolder dir;
  nlohmann::json list = nlohmann::json::array();
  for (const fs::path& path : tricky_files(root, true)) try {
      const Volume v = read_image(path);
      const std::string voxels = std::to_string(list.size()) + ".f32";
      write_bytes(dir.path() / voxels,
                  {reinterpret_cast<const char*>(v.voxels.data()), static_cast<std::size_t>(v.voxels.bytes())});
      list.push_back({{"file", path.string()},
                      {"voxels", voxels},
                      {"size", v.geometry.size},
                      {"origin", v.geometry.origin},
                      {"spacing", v.geometry.spacing},
                      {"direction", v.geometry.direction},
                      {"form_used", read_volume_info(path).form_used},
                      {"shear_shift_mm", read_volume_info(path).shear_shift_mm}});
    } catch (const Error&) {  // the page says why
    }
  ASSERT_GE(list.size(), 60u);
  write_bytes(dir.path() / "list.json", list.dump());
  const std::string judge = VOXSHARD_SOURCE_DIR "/tests/io/volume/nibabel_judge.py";
  const fs::path said = dir.path() / "said";
  const int status =
      std::system((python + " " + judge + " " + dir.path().string() + " >" + said.string() + " 2>&1").c_str());
  EXPECT_EQ(status, 0) << read_bytes(said);
  EXPECT_THAT(read_bytes(said), testing::HasSubstr("volumes alike"));
}

}  // namespace
}  // namespace voxshard
