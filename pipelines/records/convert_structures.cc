#include "pipelines/records/convert_structures.h"

#include <algorithm>

#include "io/datasets/class_map.h"
#include "io/dicom/structures.h"
#include "io/structures/structure_labels.h"
#include "io/volume/archive.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kMostLabel = 65535;  // of a written label map

/// A class of the label map, and the structures that it is made of.
struct MadeClass {
  std::string name;
  std::vector<std::string> structures;
  std::int64_t voxels = 0;
};

struct Choice {
  std::map<int, int> class_of_structure;
  std::map<int, MadeClass> classes;
  UnmatchedStructures unmatched;
};

/// Chooses the classes by the names of the map.
Choice choose_by_map(const StructureFile& file, const fs::path& path) {
  const ClassMap map = read_class_map(path);
  Choice choice;
  std::vector<std::string> unmatched;
  for (const NamedStructure& structure : file.structures) {
    const auto k = class_of(map, structure.name);
    if (!k) {
      unmatched.push_back(structure.name);
      continue;
    }
    choice.class_of_structure[structure.number] = *k;
    MadeClass& made = choice.classes[*k];
    made.name = map.classes[static_cast<std::size_t>(*k) - 1].name;
    made.structures.push_back(structure.name);
  }
  choice.unmatched.add(unmatched);
  return choice;
}

/// Takes the numbers of the file. Errors: kInput for one that is no label.
Choice choose_by_number(const StructureFile& file, const fs::path& path) {
  Choice choice;
  for (const NamedStructure& structure : file.structures) {
    if (structure.number < 1 || structure.number > kMostLabel)
      throw input_error(path, "numbers a structure " + std::to_string(structure.number) + ", which is no label",
                        "number its structures by names: {classes}", "E_CLASS");
    choice.class_of_structure[structure.number] = structure.number;
    choice.classes[structure.number] = {.name = structure.name, .structures = {structure.name}};
  }
  return choice;
}

/// Returns the grid that the label map gets.
Geometry grid_for(const ConvertRequest& request, const StructureFile& file, const VolumeFormats& formats) {
  if (request.like.empty() && file.kind == StructureKind::kContours)
    throw Error(ErrorKind::kUsage,
                "[usage] " + request.input.string() +
                    " is an RT structure set: its contours need the voxels of an image; give the image by {like}");
  const fs::path& path = request.like.empty() ? request.input : request.like;
  return grid_of_image(path, formats);
}

void count_voxels(const Volume& volume, std::map<int, MadeClass>& classes) {
  const auto* labels = volume.voxels.as<std::int32_t>();
  std::vector<std::int64_t> counts(kMostLabel + 1);
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i) ++counts[labels[i]];
  for (auto& [number, made] : classes) made.voxels = counts[number];
}

std::string table_of(const std::map<int, MadeClass>& classes) {
  std::vector<std::vector<std::string>> rows{{"class", "number", "voxels", "structures"}};
  for (const auto& [number, made] : classes)
    rows.push_back({plain_text(made.name), std::to_string(number), std::to_string(made.voxels),
                    joined(made.structures, ", ", [](const auto& name) { return plain_text(name); })});
  return text_table(rows);
}

Json json_of(const std::map<int, MadeClass>& classes) {
  Json list = Json::array();
  for (const auto& [number, made] : classes)
    list.push_back(
        {{"class", made.name}, {"number", number}, {"voxels", made.voxels}, {"structures", made.structures}});
  return list;
}

}  // namespace

TaskReport convert_structures(const ConvertRequest& request) {
  const VolumeFormats formats =
      formats_within(volume_formats_with(request.irregular), {.least_fraction = request.least_fraction});
  const StructureFile file = read_structure_file(request.input);
  const Geometry grid = grid_for(request, file, formats);
  Choice choice =
      request.classes.empty() ? choose_by_number(file, request.input) : choose_by_map(file, request.classes);
  if (choice.classes.empty())
    throw input_error(
        request.input,
        "has no structure of a class" + std::string(choice.unmatched.empty() ? "" : "; ") + choice.unmatched.text(),
        "add the names to {classes}", "E_CLASS");
  StructureLabels made = read_structures_on(
      request.input, grid, choice.class_of_structure,
      {.image = request.like.empty() ? ImageReference{} : reference_of_image(request.like), .limits = formats.limits});
  if (!choice.unmatched.empty()) made.notes.push_back(choice.unmatched.text());
  count_voxels(made.volume, choice.classes);
  const bool small = choice.classes.rbegin()->first < 256;
  write_volume(request.output, made.volume, small ? DiskType::kU8 : DiskType::kU16);
  TaskReport report;
  report.json = {{"output", request.output.string()},
                 {"size", grid.size},
                 {"spacing_mm", grid.spacing},
                 {"orientation", orientation_code(grid)},
                 {"scalar_type", small ? "uint8" : "uint16"},
                 {"classes", json_of(choice.classes)},
                 {"notes", made.notes}};
  report.text = plain_text(request.output.string()) + ": " + joined_text(grid.size.data(), 3) + " voxels of " +
                joined_text(grid.spacing.data(), 3, 4) + " mm, " + orientation_code(grid) + ", " +
                (small ? "uint8" : "uint16") + "\n" + table_of(choice.classes);
  for (const std::string& note : made.notes) report.text += note + "\n";
  report.next = {"info", request.output.string()};
  return report;
}

}  // namespace voxshard
