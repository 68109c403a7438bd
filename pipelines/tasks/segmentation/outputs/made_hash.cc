#include "pipelines/tasks/segmentation/outputs/made_hash.h"

#include <algorithm>
#include <string_view>

#include "io/files/content_hash.h"

namespace voxshard {

std::vector<std::string> hashes_of(const VolumeFiles& files) {
  std::vector<std::string> hashes;
  for (const std::filesystem::path& file : files.files) hashes.push_back(files.hash_of(file));
  return hashes;
}

std::string made_hash(const PredictionBatch& batch, const Case& item, const PredictionTurn& turn,
                      const std::vector<std::string>& hashes) {
  std::string text = batch.version_and_cut(turn);
  for (const std::filesystem::path& image : item.images)
    if (read_volume_info(image, batch.options.formats).warning.starts_with("W_RESAMPLED")) text += " resampled";
  for (const std::string& hash : hashes) text += " " + hash;
  return content_hash(text);
}

ObjectKeys object_keys(const std::string& run, std::vector<std::string> hashes) {
  std::sort(hashes.begin(), hashes.end());
  std::string files;
  for (const std::string& hash : hashes) files += " " + hash;
  return {.input = content_hash("input 1" + files),
          .object = content_hash(std::string("object 1 ") + VOXSHARD_VERSION + " " + run + files)};
}

std::string uid_key(const std::string& object, const std::string& series, const Tensor& labels) {
  const std::string_view bytes(reinterpret_cast<const char*>(labels.data()), static_cast<std::size_t>(labels.bytes()));
  return content_hash("labels 1 " + object + " " + series + " " + to_string(labels.shape()) + " " +
                      content_hash(bytes));
}

}  // namespace voxshard
