// A file of annotations may name hundreds of thousands of missing images: therefore each folder is listed only once.
//
//   place_images(set);
#include "pipelines/tasks/detection/dataset/image_places.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/files/file_name.h"
#include "io/image/image_reader.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the folders in which the images of FILE.json may lie, the likeliest first.
std::vector<fs::path> image_roots(const fs::path& json) {
  constexpr std::string_view kInstances = "instances_";
  std::string stem = json.stem().string();
  if (stem.starts_with(kInstances)) stem = stem.substr(kInstances.size());
  const fs::path folder = fs::absolute(json).parent_path();
  std::vector<fs::path> roots;
  for (const fs::path& base : {folder, folder.parent_path()})
    for (const fs::path& part :
         {fs::path(), fs::path(stem), fs::path("images"), fs::path("JPEGImages"), "images" / fs::path(stem)})
      roots.push_back(base / part);
  std::error_code error;
  std::erase_if(roots, [&](const fs::path& root) { return !fs::is_directory(root, error); });
  return roots;
}

/// Tests for files by listings of their folders, each of which is made once.
class Listings {
 public:
  bool holds(const fs::path& folder, const fs::path& file) {
    const fs::path place = file.has_parent_path() ? folder / file.parent_path() : folder;
    const auto [at, is_new] = folders_.try_emplace(place.string());
    if (is_new) at->second = names_in(place);
    if (at->second) return at->second->contains(file.filename().string());
    std::error_code error;  // for a folder that can be entered, but not listed
    return fs::is_regular_file(folder / file, error);
  }

 private:
  using Names = std::unordered_set<std::string>;

  static std::optional<Names> names_in(const fs::path& folder) {
    Names names;
    std::error_code error, unseen;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(unseen)) names.insert(it->path().filename().string());
    return error == std::errc::permission_denied ? std::nullopt : std::optional(std::move(names));
  }

  std::unordered_map<std::string, std::optional<Names>> folders_;
};

}  // namespace

void place_images(DetectionDataset& set) {
  const std::vector<fs::path> roots = image_roots(set.source);
  Listings listings;
  std::size_t likely = 0;  // the root of the previous image
  const auto refuse = [&](const DetectionImage& image, const char* code, const std::string& why) {
    set.notes.push_back(
        {"image " + std::to_string(image.id), code, "its picture \"" + shown_name(image.file.string()) + "\" " + why});
    return true;
  };
  std::erase_if(set.images, [&](DetectionImage& image) {
    const std::string problem = image.file.empty() ? "" : relative_path_problem(image.file.string());
    if (!problem.empty())
      return refuse(image, "E_NAME",
                    problem + "; expected a name, or names of folders below: move the pictures beside " +
                        set.source.filename().string());
    const fs::path file = image_address(image.file).file;
    std::size_t root = likely;
    if (root == roots.size() || !listings.holds(roots[root], file))
      root = static_cast<std::size_t>(
          std::find_if(roots.begin(), roots.end(), [&](const auto& r) { return listings.holds(r, file); }) -
          roots.begin());
    if (root == roots.size())
      return refuse(image, "E_MISSING",
                    "is not there; looked beside " + set.source.filename().string() +
                        ", in images, JPEGImages and the folder above");
    likely = root;
    image.file = roots[root] / image.file;
    return false;
  });
}

std::pair<fs::path, std::int64_t> ImageKeys::key_of(const DetectionImage& image) {
  const ImageAddress address = image_address(image.file);
  const auto [place, is_new] = places_.try_emplace(address.file);
  if (is_new) {
    std::error_code error;
    place->second = fs::canonical(address.file, error);
    if (error) place->second = address.file;  // the missing file is reported when it is read
  }
  return {place->second, address.frame.value_or(-1)};
}

std::string part_of(const fs::path& address) {
  const auto frame = image_address(address).frame;
  return frame ? "#frame=" + std::to_string(*frame) : std::string();
}

void leave_out_seen(DetectionDataset& set, ImageKeys& seen, const std::string& why) {
  std::erase_if(set.images, [&](const DetectionImage& image) {
    if (seen.insert(image)) return false;
    set.notes.push_back(
        {"image " + std::to_string(image.id), "E_DUPLICATE",
         "its picture \"" + shown_name(image.file.filename().string()) + "\" " + why + "; it is left out"});
    return true;
  });
}

}  // namespace voxshard
