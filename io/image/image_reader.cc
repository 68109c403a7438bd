#include "io/image/image_reader.h"

#include <algorithm>
#include <charconv>
#include <list>
#include <mutex>
#include <string>
#include <string_view>

#include "io/video/video_reader.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFrameMark = "#frame=";

struct OpenVideo {
  fs::path file;
  VideoReader reader;
};

struct KeptFrame {
  fs::path image;
  Tensor rgb;
};

}  // namespace

ImageAddress image_address(const fs::path& image) {
  const std::string text = image.string();
  const std::size_t mark = text.rfind(kFrameMark);
  if (mark == std::string::npos || mark == 0) return {image, std::nullopt};
  std::int64_t frame = 0;
  const char *begin = text.data() + mark + kFrameMark.size(), *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, frame);
  if (error != std::errc() || stop != end || frame < 0) return {image, std::nullopt};
  return {fs::path(text.substr(0, mark)), frame};
}

fs::path frame_path(const fs::path& video, std::int64_t frame) {
  return fs::path(video.string() + std::string(kFrameMark) + std::to_string(frame));
}

Tensor unit_range(const Tensor& u8) {
  Tensor made(DType::kF32, u8.shape());
  const auto* from = u8.as<std::uint8_t>();
  std::transform(from, from + u8.count(), made.as<float>(),
                 [](std::uint8_t v) { return static_cast<float>(v) / 255.0f; });
  return made;
}

/// Both lists have the most recently used item in front.
struct ImageReader::Impl {
  ImageReaderOptions options;
  std::mutex mutex;
  std::list<OpenVideo> videos;
  std::list<KeptFrame> frames;
  std::int64_t kept_bytes = 0;

  VideoReader& video(const fs::path& file) {
    const auto open = std::find_if(videos.begin(), videos.end(), [&](const OpenVideo& v) { return v.file == file; });
    if (open != videos.end()) {
      videos.splice(videos.begin(), videos, open);
    } else {
      videos.push_front({file, VideoReader(file, {.threads = options.threads, .most_pixels = options.most_pixels})});
      while (videos.size() > std::max<std::size_t>(1, options.most_videos)) videos.pop_back();
    }
    return videos.front().reader;
  }

  Tensor frame(const fs::path& image, const ImageAddress& address) {
    const auto kept = std::find_if(frames.begin(), frames.end(), [&](const KeptFrame& f) { return f.image == image; });
    if (kept != frames.end()) {
      frames.splice(frames.begin(), frames, kept);
      return frames.front().rgb;
    }
    VideoReader& reader = video(address.file);
    const std::int64_t count = reader.index().size();
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorKind::kInput, "[input] " + image.string() + ": " + what);
    };
    if (*address.frame >= count)
      fail("the video has " + std::to_string(count) + " frames; expected a frame from 0 to " +
           std::to_string(count - 1));
    VideoFrame frame;
    if (!reader.read(*address.frame, frame))
      fail("the frame is too damaged to decode; leave it out, or copy the video again");
    keep(image, frame.rgb);
    return std::move(frame.rgb);
  }

  void keep(const fs::path& image, const Tensor& rgb) {
    if (rgb.bytes() > options.cache_bytes) return;
    frames.push_front({image, rgb});
    kept_bytes += rgb.bytes();
    while (kept_bytes > options.cache_bytes) {
      kept_bytes -= frames.back().rgb.bytes();
      frames.pop_back();
    }
  }
};

ImageReader::ImageReader(const ImageReaderOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}
ImageReader::~ImageReader() = default;
ImageReader::ImageReader(ImageReader&&) noexcept = default;
ImageReader& ImageReader::operator=(ImageReader&&) noexcept = default;

Tensor ImageReader::read(const fs::path& image, const ImageReadOptions& options) const {
  const ImageAddress address = image_address(image);
  if (!address.frame)
    return read_rgb(image,
                    {.dtype = options.dtype, .most_pixels = std::min(options.most_pixels, impl_->options.most_pixels)});
  Tensor rgb;
  {
    const std::lock_guard lock(impl_->mutex);
    rgb = impl_->frame(image, address);
  }
  return options.dtype == DType::kF32 ? unit_range(rgb) : rgb;
}

ImageSize ImageReader::size(const fs::path& image) const {
  const ImageAddress address = image_address(image);
  if (!address.frame) {
    const ImageHeader header = read_image_header(image);
    require_pixels_within(impl_->options.most_pixels, header.width, header.height, image);
    return {header.width, header.height};
  }
  const std::lock_guard lock(impl_->mutex);
  const VideoStream& stream = impl_->video(address.file).stream();
  return {stream.width, stream.height};
}

}  // namespace voxshard
