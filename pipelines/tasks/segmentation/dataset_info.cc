#include "pipelines/tasks/segmentation/dataset_info.h"

#include "io/files/channel_address.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

std::vector<std::filesystem::path> images_of(const Dataset& set) {
  std::vector<std::filesystem::path> images;
  for (const auto* cases : {&set.training, &set.test})
    for (const auto& c : *cases) images.insert(images.end(), c.images.begin(), c.images.end());
  return images;
}

void describe_dataset(const Dataset& set, FolderInfo& folder) {
  folder.dataset = {{"name", set.name},
                    {"kind", set.kind},
                    {"channels", set.channels},
                    {"labels", set.label_names},
                    {"training", set.training.size()},
                    {"test", set.test.size()},
                    {"problems", nlohmann::ordered_json::array()}};
  for (const auto& p : set.problems) folder.dataset["problems"].push_back({{"case", p.id}, {"reason", p.reason}});
  std::string& text = folder.dataset_text;
  text = "  " + set.kind + " data set \"" + set.name + "\": " + std::to_string(set.training.size()) + " training, " +
         std::to_string(set.test.size()) + " test cases\n  classes:";
  for (std::size_t c = 0; c < set.label_names.size(); ++c) text += " " + std::to_string(c) + " " + set.label_names[c];
  if (set.ignore_label) {
    folder.dataset["ignore_label"] = *set.ignore_label;
    text += ", " + std::to_string(*set.ignore_label) + " is ignored";
  }
  if (!set.regions.empty()) text += "; regions:";
  for (const LabelRegion& region : set.regions) {
    folder.dataset["regions"][region.name] = region.labels;
    text += " " + region.name + " = " + joined(region.labels, "+", [](int label) { return std::to_string(label); });
  }
  text += "\n";
  if (set.channels.size() <= 1) return;
  const auto images = images_of(set);
  text += "  channels: " + channels_text(set.channels) +
          (!images.empty() && channel_in(images.front()) ? ", along the 4th axis of each file" : "") + "\n";
}

}  // namespace voxshard
