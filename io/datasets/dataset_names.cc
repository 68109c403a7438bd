#include "io/datasets/dataset_names.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/datasets/regions.h"
#include "io/files/channel_address.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

int number_of(const json& value, const fs::path& file) {
  if (value.is_number_integer() && value >= 0 && value <= 99999) return value.get<int>();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string::npos)
    refuse_dataset(
        file,
        "has a label or channel number that is not a whole number (regions of several labels are for nnU-Net v2)");
  return std::stoi(text);
}

/// Names by number 0, 1, 2 ... without gaps.
std::vector<std::string> in_order(const std::map<int, std::string>& names, const fs::path& file,
                                  const std::string& what) {
  std::vector<std::string> list;
  for (const auto& [number, name] : names) {
    if (const std::string problem = text_problem(name); !problem.empty())
      refuse_dataset(file, "names one of its " + what + " \"" + shown_name(name) + "\", which " + problem);
    if (number != static_cast<int>(list.size()))
      refuse_dataset(file, what + " are not numbered 0, 1, 2 … without gaps");
    list.push_back(name);
  }
  if (list.empty()) refuse_dataset(file, "has no " + what);
  return list;
}

/// {"0": "CT"}: number to name.
std::map<int, std::string> by_number(const json& object, const fs::path& file) {
  std::map<int, std::string> names;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) refuse_dataset(file, "has a channel or label name that is not a text");
    names[number_of(key, file)] = value.get<std::string>();
  }
  return names;
}

/// {"liver": 1}: name to number.
std::map<int, std::string> by_name(const json& object, const fs::path& file) {
  std::map<int, std::string> names;
  for (const auto& [key, value] : object.items())
    if (!names.emplace(number_of(value, file), key).second) refuse_dataset(file, "gives two labels the same number");
  return names;
}

/// Throws when a label other than 0 is named "background": label 0 is always the background, whatever its name, so the
/// list is probably in reverse order.
void require_background_first(const std::vector<std::string>& labels, const fs::path& file) {
  for (std::size_t k = 1; k < labels.size(); ++k)
    if (lower_case(labels[k]) == "background")
      refuse_dataset(file, "gives the background the number " + std::to_string(k) + " and \"" + labels[0] +
                               "\" 0; the background is 0");
}

/// Takes nnU-Net's label for voxels without annotation out of the classes: its number is the one after the last class.
void take_ignore_label(Dataset& d, const fs::path& file) {
  for (const std::string& name : d.label_names)
    if (name != "ignore" && lower_case(name) == "ignore")
      refuse_dataset(file, "has the label \"" + name +
                               "\"; write \"ignore\" for voxels that nobody annotated, as nnU-Net does, or "
                               "give a class another name");
  const auto at = std::find(d.label_names.begin(), d.label_names.end(), "ignore");
  if (at == d.label_names.end()) return;
  if (at + 1 != d.label_names.end() || d.label_names.size() < 3)
    refuse_dataset(
        file, "has an \"ignore\" label that is not the highest behind the background and a class, as nnU-Net wants it");
  d.label_names.pop_back();
  d.ignore_label = static_cast<int>(d.label_names.size());
}

}  // namespace

void refuse_dataset(const fs::path& file, const std::string& what) {
  throw input_error(file, what,
                    "expected nnU-Net (channel_names, labels, file_ending) or Decathlon (modality, labels, training)");
}

std::vector<std::string> channels_of(const json& object, const fs::path& file) {
  if (object.size() > static_cast<std::size_t>(kMostChannels))
    refuse_dataset(file, "has more than " + std::to_string(kMostChannels) + " channels");
  return in_order(by_number(object, file), file, "channels");
}

void read_label_names(const json& root, const fs::path& file, Dataset& d) {
  const json& labels = root.at("labels");
  if (!root.contains("channel_names"))
    d.label_names = in_order(by_number(labels, file), file, "labels");
  else
    d.label_names = in_order(has_regions(labels) ? take_regions(root, file, d) : by_name(labels, file), file, "labels");
  if (std::set(d.label_names.begin(), d.label_names.end()).size() < d.label_names.size())
    refuse_dataset(file, "gives several of its labels one name, by which files name classes");
  require_background_first(d.label_names, file);
  take_ignore_label(d, file);
}

}  // namespace voxshard
