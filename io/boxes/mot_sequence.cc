#include "io/boxes/mot_sequence.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "io/boxes/mot.h"
#include "io/files/file_name.h"
#include "io/files/structured_text.h"
#include "io/image/image_header.h"
#include "io/image/image_reader.h"
#include "io/video/video_reader.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& action) {
  throw Error(ErrorKind::kInput, "[data] " + path.string() + ": " + what + "; " + action);
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
    if (it->is_regular_file(error)) files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Returns the value of imDir in FOLDER/seqinfo.ini; img1 when it is not set.
fs::path image_folder(const fs::path& folder) {
  std::istringstream in(read_text_if_there(folder / "seqinfo.ini"));
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && trimmed(line.substr(0, equals)) == "imDir")
      return named_path(folder, trimmed(line.substr(equals + 1)));
  }
  return folder / "img1";
}

/// Images by the number that their name ends with: 17 for 000017.jpg and frame_017.png.
std::map<std::int64_t, fs::path> numbered_images(const fs::path& folder) {
  std::map<std::int64_t, fs::path> frame_files;
  for (const fs::path& file : files_of(folder)) {
    if (!is_image_name(file)) continue;
    const std::string stem = file.stem().string();
    const std::size_t digits = stem.find_last_not_of("0123456789") + 1;  // 0 when all are digits: npos + 1
    std::int64_t number = 0;
    if (std::from_chars(stem.data() + digits, stem.data() + stem.size(), number).ec == std::errc() &&
        digits < stem.size())
      frame_files.emplace(number, file);
  }
  return frame_files;
}

std::vector<fs::path> videos_of(const fs::path& folder) {
  std::vector<fs::path> videos = files_of(folder);
  std::erase_if(videos, [](const fs::path& file) { return !is_video_name(file); });
  return videos;
}

/// The video beside FILE.txt that it is named after; empty when there is none.
fs::path video_named_like(const fs::path& text) {
  const std::string name = text.filename().string();
  fs::path longest;
  for (const fs::path& video : videos_of(text.parent_path())) {
    const std::string stem = video.stem().string();
    if (name.starts_with(stem + ".") && stem.size() > longest.stem().string().size()) longest = video;
  }
  return longest;
}

std::vector<DetectionImage> frames_of_video(const fs::path& video) {
  const VideoReader reader(video);
  std::vector<DetectionImage> images;
  for (std::int64_t frame = 0; frame < reader.index().size(); ++frame)
    images.push_back({.file = frame_path(video, frame),
                      .id = frame,
                      .width = reader.stream().width,
                      .height = reader.stream().height,
                      .boxes = {}});
  return images;
}

std::vector<DetectionImage> frames_of_folder(const fs::path& folder) {
  std::vector<DetectionImage> images;
  for (const auto& [number, file] : numbered_images(image_folder(folder)))
    if (number > 0)
      images.push_back({.file = file,
                        .id = number - 1,
                        .width = 0,
                        .height = 0,
                        .boxes = {},
                        .place = SequencePlace{folder.lexically_normal().generic_string(), number - 1}});
  if (!images.empty()) return images;
  const auto videos = videos_of(folder);
  if (videos.size() == 1) return frames_of_video(videos[0]);
  fail(folder, videos.empty() ? "holds neither numbered pictures nor a video" : "holds several videos",
       "expected img1/000001.jpg and so on, or one video");
}

struct Sequence {
  fs::path rows, labels;
  std::vector<DetectionImage> images;
};

Sequence sequence_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return {path / "gt" / "gt.txt", path / "gt" / "labels.txt", frames_of_folder(path)};
  const fs::path file = fs::absolute(path), video = video_named_like(file), folder = file.parent_path();
  const bool in_gt = folder.filename() == "gt" || folder.filename() == "det";
  return {path, folder / "labels.txt",
          video.empty() ? frames_of_folder(in_gt ? folder.parent_path() : folder) : frames_of_video(video)};
}

/// Line i names class i; without such a file the classes that occur.
std::vector<DetectionClass> classes_of(const fs::path& labels, const std::vector<MotRow>& rows) {
  std::vector<DetectionClass> classes;
  std::istringstream in(read_text_if_there(labels));
  for (std::string line; std::getline(in, line);)
    classes.push_back({.name = plain_text(trimmed(line)), .id = static_cast<std::int64_t>(classes.size()) + 1});
  std::erase_if(classes, [](const DetectionClass& c) { return c.name.empty(); });
  if (!classes.empty()) return classes;
  std::set<std::int64_t> ids;
  for (const MotRow& row : rows) ids.insert(std::max<std::int64_t>(1, row.class_id));
  for (const std::int64_t id : ids) classes.push_back({.name = "class " + std::to_string(id), .id = id});
  return classes;
}

/// Returns the index of the item with an id in a list of ascending ids.
template <class Item>
std::size_t place_of(const std::vector<Item>& items, std::int64_t id, const std::string& problem, const char* code) {
  const auto at =
      std::lower_bound(items.begin(), items.end(), id, [](const Item& item, std::int64_t i) { return item.id < i; });
  if (at == items.end() || at->id != id) throw EntryProblem(problem, code);
  return static_cast<std::size_t>(at - items.begin());
}

}  // namespace

bool is_mot_sequence(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return fs::is_regular_file(path / "gt" / "gt.txt", error);
  return path.extension() == ".txt";
}

BoxFormat mot_format() {
  const auto is_known = [](const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return is_mot_sequence(path);
    const std::string name = path.filename().string();
    const bool is_mot = name == "gt.txt" || name == "det.txt" || name.ends_with(".mot.txt");
    return is_mot && fs::is_regular_file(path, error);
  };
  return {.name = "MOT",
          .file = "MOT text",
          .expected = "gt/gt.txt",
          .is_sequence = true,
          .is_known = is_known,
          .is_taken = is_mot_sequence,
          .is_like = [](const fs::path& folder) { return exists_in(folder, "gt"); },
          .read = read_mot_sequence};
}

DetectionDataset read_mot_sequence(const fs::path& path) {
  Sequence sequence = sequence_of(path);
  MotFile file = read_mot(sequence.rows);
  DetectionDataset set{.source = path,
                       .classes = classes_of(sequence.labels, file.rows),
                       .images = std::move(sequence.images),
                       .notes = std::move(file.notes)};
  for (const MotRow& row : file.rows)
    in_entry("line " + std::to_string(row.line), set.notes, [&] {
      const std::size_t image = place_of(
          set.images, row.frame - 1, "is of frame " + std::to_string(row.frame) + ", which does not exist", "E_IMAGE");
      const std::int64_t id = std::max<std::int64_t>(1, row.class_id);
      const std::int64_t index =
          place_of(set.classes, id, "has the class " + std::to_string(id) + ", which has no name", "E_CLASS");
      set.images[image].boxes.push_back(
          {.category = index, .box = row.box, .area = row.box.area(), .crowd = false, .ignore = row.confidence == 0});
    });
  return set;
}

}  // namespace voxshard
