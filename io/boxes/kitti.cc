#include "io/boxes/kitti.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <system_error>

#include "io/boxes/number_fields.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/structured_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr TextLimits kKittiLimits{.bytes = 1 << 20};  // real label files have some hundred bytes
constexpr std::size_t kMostRows = 1000, kMostClasses = 100;
constexpr std::size_t kLongestKittiLine = 1024, kFields = 15;
constexpr const char* kLabels = "label_2";
constexpr const char* kImages = "image_2";
constexpr const char* kDontCare = "DontCare";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::vector<std::string_view> kitti_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at < line.size() && fields.size() <= kFields;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > begin) fields.push_back(line.substr(begin, at - begin));
  }
  return fields;
}

struct KittiPage {
  DetectionImage image;
  std::vector<KittiRow> rows;
};

/// Errors: EntryProblem.
std::string kitti_text(const fs::path& file) {
  try {
    return read_text({.path = file, .limits = kKittiLimits});
  } catch (const Error& e) {
    throw EntryProblem(e.what(), "E_READ");
  }
}

fs::path kitti_image(const fs::path& image_folder, const std::string& name) {
  std::error_code error;
  for (const char* ending : {".png", ".jpg", ".jpeg"})
    if (fs::exists(image_folder / (name + ending), error)) return image_folder / (name + ending);
  return image_folder / (name + ".png");
}

/// Errors: EntryProblem.
KittiPage read_kitti_page(const fs::path& file, const fs::path& image_folder, BoundedNotes& notes) {
  const std::string name = file.stem().string();
  if (const std::string problem = name_problem(name); !problem.empty())
    throw EntryProblem("has a name that " + problem, "E_NAME");
  KittiPage page{.image = {.file = kitti_image(image_folder, name)}, .rows = {}};
  std::istringstream in(kitti_text(file));
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (std::all_of(line.begin(), line.end(), is_blank)) continue;
    if (page.rows.size() == kMostRows)
      throw EntryProblem("has more than " + std::to_string(kMostRows) +
                         " objects; expected KITTI labels of one picture");
    notes.in(shown_name(file.filename().string()) + " line " + std::to_string(number),
             [&] { page.rows.push_back(parse_kitti_line(line)); });
  }
  return page;
}

std::vector<fs::path> label_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder / kLabels, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".txt") files.push_back(it->path());
  if (error)
    throw input_error(folder / kLabels, "cannot be read: " + error.message(),
                      "expected a KITTI folder with image_2 and label_2");
  std::sort(files.begin(), files.end());
  return files;
}

/// The types that occur, with their places by name.
std::map<std::string, std::size_t> kitti_classes(const std::vector<KittiPage>& pages, const fs::path& folder) {
  std::map<std::string, std::size_t> classes;
  for (const KittiPage& page : pages)
    for (const KittiRow& row : page.rows)
      if (row.type != kDontCare && classes.insert({row.type, 0}).second && classes.size() > kMostClasses)
        throw Error(ErrorKind::kInput, "E_LIMIT",
                    "[input] " + (folder / kLabels).string() + ": names more than " + std::to_string(kMostClasses) +
                        " types of objects; expected KITTI labels, whose first column is the type");
  std::size_t next = 0;
  for (auto& [name, index] : classes) index = next++;
  return classes;
}

}  // namespace

KittiRow parse_kitti_line(std::string_view line) {
  if (line.size() > kLongestKittiLine)
    throw EntryProblem("has " + std::to_string(line.size()) + " characters; expected an object");
  const auto fields = kitti_fields(line);
  if (fields.size() != kFields)
    throw EntryProblem("has " + (fields.size() > kFields ? "more than 15" : std::to_string(fields.size())) +
                       " fields; expected type, truncated, occluded, alpha, left, top, right, bottom, height, width, "
                       "length, x, y, z, rotation_y");
  KittiRow row{.type = std::string(fields[0]), .box = {}};
  if (const std::string problem = text_problem(row.type); !problem.empty())
    throw EntryProblem("has the type " + quoted_field(row.type) + ", which " + problem, "E_NAME");
  const double truncated = number_field(fields[1], "truncation");
  if (truncated != -1 && !(truncated >= 0 && truncated <= 1))
    throw EntryProblem("has the truncation " + quoted_field(fields[1]) + "; expected 0 to 1, or -1");
  const std::int64_t occluded = whole_field(fields[2], "occlusion");
  if (occluded < -1 || occluded > 3)
    throw EntryProblem("has the occlusion " + quoted_field(fields[2]) + "; expected 0 to 3, or -1");
  constexpr std::array<const char*, kFields> kNames = {"type",   "truncation", "occlusion", "alpha",  "left",
                                                       "top",    "right",      "bottom",    "height", "width",
                                                       "length", "x",          "y",         "z",      "rotation_y"};
  std::array<double, kFields> values{};
  for (std::size_t i = 3; i < kFields; ++i) values[i] = number_field(fields[i], kNames[i]);
  row.box = {.x = values[4], .y = values[5], .width = values[6] - values[4], .height = values[7] - values[5]};
  if (!(row.box.width > 0 && row.box.height > 0))
    throw EntryProblem("has a box without area; expected left < right, top < bottom", "E_BOX");
  return row;
}

bool is_kitti_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / kLabels, error) && fs::is_directory(folder / kImages, error);
}

DetectionDataset read_kitti(const fs::path& folder) {
  DetectionDataset set{.source = folder, .classes = {}, .images = {}, .notes = {}};
  std::vector<KittiPage> pages;
  BoundedNotes notes;
  for (const fs::path& file : label_files(folder))
    notes.in(shown_name(file.filename().string()),
             [&] { pages.push_back(read_kitti_page(file, folder / kImages, notes)); });
  set.notes = notes.all();
  const auto classes = kitti_classes(pages, folder);
  for (const auto& [name, index] : classes)
    set.classes.push_back({.name = name, .id = static_cast<std::int64_t>(index) + 1});
  for (KittiPage& page : pages) {
    page.image.id = static_cast<std::int64_t>(set.images.size()) + 1;
    for (const KittiRow& row : page.rows) {
      TrueBox box{.box = row.box, .area = row.box.area()};
      if (row.type != kDontCare) {
        box.category = static_cast<std::int64_t>(classes.at(row.type));
        page.image.boxes.push_back(box);
        continue;
      }
      box.crowd = true;
      for (const auto& [name, index] : classes) {
        box.category = static_cast<std::int64_t>(index);
        page.image.boxes.push_back(box);
      }
    }
    set.images.push_back(std::move(page.image));
  }
  return set;
}

std::vector<std::string> read_kitti_set(const fs::path& folder, const std::string& set) {
  for (const fs::path& place : {folder, fs::absolute(folder).lexically_normal().parent_path()}) {
    std::istringstream in(read_text_if_there(place / "ImageSets" / (set + ".txt")));
    std::vector<std::string> names;
    for (std::string name; in >> name;) names.push_back(name);
    if (!names.empty()) return names;
  }
  return {};
}

BoxFormat kitti_format() {
  return {.name = "KITTI",
          .expected = "label_2/*.txt with image_2",
          .is_known = is_kitti_folder,
          .is_taken = is_kitti_folder,
          .is_like = [](const fs::path& folder) { return exists_in(folder, kImages); },
          .below = "training",  // beside testing
          .read = read_kitti,
          .listed = read_kitti_set};
}

}  // namespace voxshard
