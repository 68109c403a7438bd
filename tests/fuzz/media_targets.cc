// Readers of tensors, images and frames: our checks of headers with OpenCV, libtiff, libexif and FFmpeg behind them.

#include "io/datasets/idx.h"
#include "io/files/safetensors.h"
#include "io/image/image_reader.h"
#include "io/video/select.h"
#include "io/video/video_reader.h"
#include "io/video/video_writer.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

/// Returns the bytes that `write` puts into a file of this name.
template <class Write>
std::string written(const std::string& name, Write write) {
  const fs::path path = scratch_file(name, "");
  fs::remove(path);
  write(path);
  return read_bytes(path);
}

void append(Seeds& seeds, Seeds more) {
  for (std::string& seed : more) seeds.push_back(std::move(seed));
}

/// The input serves as a file of images and as one of labels, plain or gzipped.
void idx(std::string_view bytes) {
  const auto images = scratch_file("idx/train-images-idx3-ubyte.gz", bytes);
  const auto labels = scratch_file("idx/train-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x02\x07\x01", 10));
  ensure(find_idx(images.parent_path(), IdxPart::kTrain).has_value(), "files are found by their names");
  try {
    read_idx(images, 1);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kInternal) throw;
  }
  read_idx_images({images, labels});
}
Seeds idx_seeds() {
  const std::string plain = written("seed-idx3-ubyte", [](const fs::path& path) {
    write_idx(path, Tensor(DType::kU8, {2, 3, 4}));
  });
  return {plain, std::string("\0\0\x08\x01\0\0\0\x02\x07\x01", 10)};
}

void safetensors(std::string_view bytes) { load_safetensors(scratch_file("tensors.safetensors", bytes)); }
void checkpoint(std::string_view bytes) { load_checkpoint(scratch_file("last.safetensors", bytes)); }

/// Returns a file without hashes, as other tools write it, so that damage reaches the parser.
std::string without_hashes(std::string header, std::size_t data) {
  std::string length(8, '\0');
  header.resize((header.size() + 7) / 8 * 8, ' ');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> 8 * i & 255);
  return length + header + std::string(data, '\1');
}
Seeds safetensors_seeds() {
  Tensor tensor(DType::kF32, {2, 3});
  return {
      without_hashes(R"({"__metadata__":{"a":"b"},"c":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})", 12),
      written("seed.safetensors", [&](const fs::path& path) {
        save_safetensors(path, std::vector<NamedView>{{"a", tensor.view()}, {"b", tensor.view()}}, {{"key", "text"}});
      })};
}
Seeds checkpoint_seeds() {
  Parameters parameters;
  parameters.emplace("conv/kernel", Tensor(DType::kF32, {2, 3}));
  return {
      without_hashes(
          R"({"__metadata__":{"voxshard":"{\"format\":\"voxshard 2\",\"model\":{},\"prepare\":{},\"training\":{},\"content\":{},\"trained_on\":{},\"machine\":{},\"step\":3,\"best_score\":0}"},)"
          R"("model/a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8),
      written("seed.safetensors", [&](const fs::path& path) {
        save_checkpoint(path, {.model = {{"base_filters", 4}}, .step = 3}, parameters, parameters);
      })};
}

void image(std::string_view bytes) {
  const fs::path path = scratch_file("picture.png", bytes);  // the bytes give the format, not the name
  const ImageReader reader({.most_pixels = std::int64_t{1} << 22});
  reader.size(path);
  reader.read(path, {.dtype = DType::kF32, .most_pixels = std::int64_t{1} << 22});
}
Seeds image_seeds() {
  Tensor rgb(DType::kU8, {12, 16, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7);
  Seeds seeds;
  for (const char* name : {"seed.png", "seed.jpg", "seed.tif"})
    seeds.push_back(written(name, [&](const fs::path& path) { write_rgb(path, rgb); }));
  append(seeds, data_seeds("detection", {".jpg"}, 20'000));
  return seeds;
}

/// Reads headers, the index, the first frames in order and one frame by its number.
void video(std::string_view bytes) {
  VideoReader reader(scratch_file("clip.mp4", bytes));
  if (reader.stream().width * reader.stream().height > (std::int64_t{1} << 22)) return;
  VideoFrame frame;
  for (int i = 0; i < 4 && reader.next(frame);) ++i;
  reader.read(reader.index().size() / 2, frame);
  reader.notes();
  frame_rate(reader.index());
  select_frames(reader.index(), {.per_second = Rational{5, 1}, .range = frame_range_from_text("0.1s:2s")});
}
/// Reads frames of a video by their addresses, as data sets name them; the second read is served from the cache.
void video_frames(std::string_view bytes) {
  const std::string path = scratch_file("frames.mp4", bytes).string();
  const ImageReader reader({.most_pixels = std::int64_t{1} << 20});
  for (const char* frame : {"#frame=1", "#frame=1", "#frame=0"}) {
    reader.size(path + frame);
    reader.read(path + frame, {.dtype = DType::kF32});
  }
}

/// Returns two frames of 4 x 4 in a pixel format of YUV4MPEG2, each of `frame_bytes`.
std::string y4m(const std::string& format, std::size_t frame_bytes) {
  std::string video = "YUV4MPEG2 W4 H4 F25:1 Ip A1:1 C" + format + "\n";
  for (const char value : {'@', '`'}) video += "FRAME\n" + std::string(frame_bytes, value);
  return video;
}

/// Returns the MP4 with a matrix in its track that makes players turn it by 90 degrees.
std::string turned(std::string mp4) {
  const std::size_t track = mp4.find("tkhd");
  if (track == std::string::npos) return mp4;
  constexpr unsigned char kMatrix[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0};
  std::copy(std::begin(kMatrix), std::end(kMatrix), mp4.begin() + static_cast<std::ptrdiff_t>(track) + 44);
  return mp4;
}

Seeds video_seeds() {
  Seeds seeds = {y4m("420jpeg", 24), y4m("422", 32), y4m("444", 48), y4m("420p10", 48), y4m("mono", 16)};
  for (const char* name : {"seed.mp4", "seed.mkv"})
    seeds.push_back(written(name, [&](const fs::path& path) {
      VideoWriter out(path, {.width = 32, .height = 16});
      Tensor rgb(DType::kU8, {16, 32, 3});
      for (std::int64_t tick = 0; tick < 6; ++tick) {
        for (std::int64_t i = 0; i < rgb.count(); ++i)
          rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * (tick + 1));
        out.write(rgb, tick);
      }
      out.close();
    }));
  seeds.push_back(turned(seeds[5]));
  append(seeds, data_seeds("video", {".mp4", ".avi", ".mov", ".mkv"}, 150'000));
  return seeds;
}

}  // namespace

std::vector<FuzzTarget> media_targets() {
  return {{"idx", idx_seeds, idx},
          {"safetensors", safetensors_seeds, safetensors},
          {"checkpoint", checkpoint_seeds, checkpoint},
          {"picture", image_seeds, image},
          {"video", video_seeds, video},
          {"video_frames", video_seeds, video_frames}};
}

}  // namespace voxshard
