#include "io/boxes/voc.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <system_error>

#include "io/files/file_name.h"
#include "io/files/structured_text.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr TextLimits kVocLimits{.bytes = 16 << 20, .depth = 64, .values = 1'000'000};  // VOC has four levels

/// An object whose class is known by name only, until all files were read.
struct NamedBox {
  std::string name;
  TrueBox box;
};

struct VocPage {
  DetectionImage image;
  std::vector<NamedBox> objects;
};

double number(const pugi::xml_node& node, const char* field) {
  const std::string text = node.child(field).text().as_string();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  constexpr double kMostSize = 1e9;
  while (std::isspace(static_cast<unsigned char>(*end))) ++end;
  if (text.empty() || *end != '\0' || !(std::abs(value) <= kMostSize))
    throw EntryProblem(std::string("has <") + field + "> \"" + shown_name(text.substr(0, 40)) +
                       "\"; expected a number");
  return value;
}

NamedBox object_of(const pugi::xml_node& node) {
  const std::string name = node.child("name").text().as_string();
  if (name.empty()) throw EntryProblem("has no <name>");
  if (const std::string problem = text_problem(name); !problem.empty())
    throw EntryProblem("has the class \"" + shown_name(name) + "\", which " + problem, "E_NAME");
  const pugi::xml_node edges = node.child("bndbox");
  const double x0 = number(edges, "xmin") - 1, y0 = number(edges, "ymin") - 1;
  const double x1 = number(edges, "xmax"), y1 = number(edges, "ymax");
  if (!(x1 > x0 && y1 > y0))
    throw EntryProblem("has a <bndbox> without area; expected xmin <= xmax, ymin <= ymax", "E_BOX");
  NamedBox object{.name = name, .box = {.box = {.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0}}};
  object.box.area = object.box.box.area();
  object.box.ignore = node.child("difficult").text().as_int() != 0;
  return object;
}

std::int64_t side(const pugi::xml_node& size, const char* field) {
  if (!size.child(field)) return 0;
  const double pixels = number(size, field);
  return pixels >= 1 ? static_cast<std::int64_t>(pixels) : 0;
}

/// Errors: EntryProblem.
void parse_page(pugi::xml_document& xml, const fs::path& file) {
  TextSource source{.path = file, .limits = kVocLimits};
  try {
    const std::string text = read_text(source);
    source.path.clear();  // a note names the file
    parse_xml(xml, text, source);
  } catch (const Error& e) {
    throw EntryProblem(e.what(), source.path.empty() ? "E_ENTRY" : "E_READ");
  }
}

VocPage read_voc_page(const fs::path& file, const fs::path& image_folder, BoundedNotes& notes) {
  pugi::xml_document xml;
  parse_page(xml, file);
  const pugi::xml_node root = xml.child("annotation");
  if (!root) throw EntryProblem("has no <annotation>; expected Pascal VOC");
  VocPage page;
  std::string name = root.child("filename").text().as_string();
  if (name.empty()) name = file.stem().string() + ".jpg";
  if (const std::string problem = relative_path_problem(name); !problem.empty())
    throw EntryProblem("names the picture \"" + shown_name(name) + "\", which " + problem, "E_NAME");
  page.image.file = image_folder / name;
  page.image.width = side(root.child("size"), "width");
  page.image.height = side(root.child("size"), "height");
  int count = 0;
  for (const auto& node : root.children("object"))
    notes.in(shown_name(file.filename().string()) + " object " + std::to_string(++count),
             [&] { page.objects.push_back(object_of(node)); });
  return page;
}

}  // namespace

bool is_voc_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "Annotations", error) && fs::is_directory(folder / "JPEGImages", error);
}

DetectionDataset read_voc(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (auto it = fs::directory_iterator(folder / "Annotations", error); !error && it != fs::directory_iterator();
       it.increment(error))
    if (it->path().extension() == ".xml") files.push_back(it->path());
  if (error)
    throw Error(ErrorKind::kInput, "[input] " + (folder / "Annotations").string() +
                                       ": cannot be read: " + error.message() + "; expected a Pascal VOC folder");
  std::sort(files.begin(), files.end());
  DetectionDataset set{.source = folder, .classes = {}, .images = {}, .notes = {}};
  std::vector<VocPage> pages;
  BoundedNotes notes;
  for (const auto& file : files)
    notes.in(shown_name(file.filename().string()),
             [&] { pages.push_back(read_voc_page(file, folder / "JPEGImages", notes)); });
  set.notes = notes.all();
  std::map<std::string, std::size_t> class_of;
  for (const auto& page : pages)
    for (const auto& object : page.objects) class_of[object.name] = 0;
  for (auto& [name, index] : class_of) {
    index = set.classes.size();
    set.classes.push_back({.name = name, .id = static_cast<std::int64_t>(index) + 1});
  }
  for (auto& page : pages) {
    page.image.id = static_cast<std::int64_t>(set.images.size()) + 1;
    for (auto& object : page.objects) {
      object.box.category = class_of.at(object.name);
      page.image.boxes.push_back(object.box);
    }
    set.images.push_back(std::move(page.image));
  }
  return set;
}

std::vector<std::string> read_voc_set(const fs::path& folder, const std::string& set) {
  std::istringstream in(read_text_if_there(folder / "ImageSets" / "Main" / (set + ".txt")));
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name) names.push_back(name);
  }
  return names;
}

BoxFormat voc_format() {
  return {.name = "Pascal VOC",
          .expected = "Annotations/*.xml with JPEGImages",
          .is_known = is_voc_folder,
          .is_taken = is_voc_folder,
          .is_like = [](const fs::path& f) { return exists_in(f, "Annotations") || exists_in(f, "JPEGImages"); },
          .read = read_voc,
          .listed = read_voc_set};
}

}  // namespace voxshard
