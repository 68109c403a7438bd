// The independent reader and writer of TFRecord files (tfrecord_by_hand.py) as functions; and a scene's folder as
// files.
//
//   const auto json = by_hand("read", {scene.path("records/instance-case_0-0.tfrecords")});
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "io/files/config_file.h"
#include "io/image/image.h"
#include "pipelines/commands/run_convert.h"
#include "pipelines/records/image_record.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {

/// Runs tfrecord_by_hand.py. Returns what it prints, as JSON; null when it prints nothing.
inline nlohmann::json by_hand(const std::string& command, const std::vector<std::filesystem::path>& paths) {
  const ScratchFolder folder("by_hand");
  const std::filesystem::path out = folder / "out.json";
  std::string words = "python3 " VOXSHARD_SOURCE_DIR "/tests/pipelines/records/tfrecord_by_hand.py " + command;
  for (const auto& path : paths) words += " " + path.string();
  const int status = std::system((words + " > " + out.string()).c_str());
  EXPECT_EQ(status, 0) << words;
  nlohmann::json json;
  if (status == 0 && std::filesystem::file_size(out) > 0) json = read_json(out);
  return json;
}

inline void flip_bit(const std::filesystem::path& path, std::size_t byte) {
  std::string bytes = read_bytes(path);
  bytes.at(byte) = static_cast<char>(bytes.at(byte) ^ 4);
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Writes `count` records of one image with a box, with ids from 1.
inline void write_records(const std::filesystem::path& path, int count,
                          RecordCompression compression = RecordCompression::kNone) {
  RecordWriter writer(path, compression);
  const std::string png = encoded_rgb(Tensor(DType::kU8, {2, 2, 3}), ".png");
  for (int i = 1; i <= count; ++i)
    writer.write(serialized(image_example(
        png,
        {.file = "p", .id = i, .width = 2, .height = 2, .boxes = {{.category = 0, .box = {0, 0, 1, 1}, .area = 1}}},
        {{"cat", 17}})));
  writer.commit();
}

}  // namespace voxshard
