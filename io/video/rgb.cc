#include "io/video/rgb.h"

#include <array>
#include <new>
#include <opencv2/core.hpp>
#include <optional>

#include "io/video/yuv.h"
#include "libcore/base/error.h"
#include "libcore/base/thread_shortage.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace voxshard {
namespace {

/// The properties of an image that the conversion depends on.
struct ImageKind {
  int width = 0, height = 0, format = AV_PIX_FMT_NONE, matrix = AVCOL_SPC_UNSPECIFIED, range = AVCOL_RANGE_UNSPECIFIED;
  bool operator==(const ImageKind&) const = default;
};

ImageKind kind_of(const AVFrame& f) {
  return {.width = f.width,
          .height = f.height,
          .format = f.format,
          .matrix = number_in(f.colorspace),
          .range = number_in(f.color_range)};
}

Error unreadable(const ImageKind& kind) {
  const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(kind.format));
  return Error(ErrorKind::kInput, std::string("[video] pictures of pixel format ") + (name ? name : "unknown") + ", " +
                                      std::to_string(kind.width) + " x " + std::to_string(kind.height) +
                                      ", cannot be converted to RGB; convert the file with ffmpeg -pix_fmt yuv444p");
}

/// Returns the image for our own conversion when it is 8-bit planar YUV and its size is a multiple of the chroma step;
/// none otherwise.
std::optional<YuvImage> plain_yuv(const AVFrame& f) {
  YuvImage p{.width = f.width, .height = f.height};
  const int range = number_in(f.color_range);
  bool full_range = range == AVCOL_RANGE_JPEG;
  switch (f.format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUV420P:
      p.halve_x = p.halve_y = true;
      break;
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUV422P:
      p.halve_x = true;
      break;
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUV444P:
      break;
    default:
      return std::nullopt;
  }
  if ((p.halve_x && p.width % 2) || (p.halve_y && p.height % 2)) return std::nullopt;
  if (range == AVCOL_RANGE_UNSPECIFIED)
    full_range = f.format == AV_PIX_FMT_YUVJ420P || f.format == AV_PIX_FMT_YUVJ422P || f.format == AV_PIX_FMT_YUVJ444P;
  for (std::size_t i = 0; i < 3; ++i) p.planes[i] = f.data[i], p.strides[i] = f.linesize[i];
  p.colours = yuv_colours(sws_getCoefficients(number_in(f.colorspace)), full_range);
  return p;
}

/// Returns the format that libswscale converts to fastest: planes for YUV (vector code); RGB is only rearranged.
AVPixelFormat target_of(const ImageKind& kind) {
  const AVPixFmtDescriptor* from = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(kind.format));
  if (from == nullptr || (from->flags & AV_PIX_FMT_FLAG_HWACCEL)) throw unreadable(kind);
  return from->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GBRP;
}

/// Sets the stream's matrix and range; where the stream does not specify them, libswscale's defaults for the pixel
/// format stay.
void set_colours(SwsContext& context, const ImageKind& kind) {
  int *from = nullptr, *to = nullptr;
  int from_full = 0, to_full = 0, brightness = 0, contrast = 0, saturation = 0;
  sws_getColorspaceDetails(&context, &from, &from_full, &to, &to_full, &brightness, &contrast, &saturation);
  if (kind.range != AVCOL_RANGE_UNSPECIFIED) from_full = kind.range == AVCOL_RANGE_JPEG;
  const int* matrix = sws_getCoefficients(kind.matrix);
  sws_setColorspaceDetails(&context, matrix, from_full, matrix, to_full, brightness, contrast, saturation);
}

/// Returns a conversion context; none when it cannot be made.
SwsPtr try_context(const ImageKind& kind, AVPixelFormat target, int threads) {
  SwsPtr context(sws_alloc_context());
  if (!context) throw std::bad_alloc();
  const auto set = [&](const char* name, std::int64_t value) { av_opt_set_int(context.get(), name, value, 0); };
  set("srcw", kind.width), set("srch", kind.height), set("src_format", kind.format);
  set("dstw", kind.width), set("dsth", kind.height), set("dst_format", target);
  set("sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT);
  set("threads", threads);
  if (sws_init_context(context.get(), nullptr, nullptr) < 0) return nullptr;
  set_colours(*context, kind);
  return context;
}

SwsPtr make_context(const ImageKind& kind, AVPixelFormat target, int threads) {
  SwsPtr context = try_context(kind, target, threads);
  if (!context && threads > 1 && (context = try_context(kind, target, 1))) say_single_thread("libswscale", threads);
  if (!context) throw unreadable(kind);
  return context;
}

cv::Mat plane(const AVFrame& image, int index, int type) {
  return {image.height, image.width, type, image.data[index], static_cast<std::size_t>(image.linesize[index])};
}

}  // namespace

struct RgbConverter::Impl {
  int threads = 1;
  ImageKind kind;
  SwsPtr context;
  AvFramePtr converted;
};

RgbConverter::RgbConverter(int threads) : impl_(std::make_unique<Impl>()) { impl_->threads = threads; }
RgbConverter::~RgbConverter() = default;
RgbConverter::RgbConverter(RgbConverter&&) noexcept = default;
RgbConverter& RgbConverter::operator=(RgbConverter&&) noexcept = default;

void RgbConverter::convert(const AVFrame& frame, Tensor& rgb) {
  const ImageKind kind = kind_of(frame);
  const Shape shape{kind.height, kind.width, 3};
  if (rgb.empty() || rgb.dtype() != DType::kU8 || rgb.shape() != shape) rgb = Tensor(DType::kU8, shape);
  if (const auto yuv = plain_yuv(frame)) {
    yuv_to_rgb(*yuv, rgb.as<std::uint8_t>(), 3 * kind.width);
    return;
  }
  if (!impl_->context || kind != impl_->kind) {
    impl_->context.reset();
    const AVPixelFormat target = target_of(kind);
    impl_->converted = make_av_frame(kind.width, kind.height, target);
    impl_->context = make_context(kind, target, impl_->threads);
    impl_->kind = kind;
  }
  const AVFrame& converted = *impl_->converted;
  if (sws_scale_frame(impl_->context.get(), impl_->converted.get(), &frame) < 0) throw unreadable(kind);
  cv::Mat out(kind.height, kind.width, CV_8UC3, rgb.data());
  if (converted.format == AV_PIX_FMT_RGB24) {
    plane(converted, 0, CV_8UC3).copyTo(out);
    return;
  }
  const std::array<cv::Mat, 3> planes = {plane(converted, 2, CV_8UC1), plane(converted, 0, CV_8UC1),
                                         plane(converted, 1, CV_8UC1)};  // stored green, blue, red
  cv::merge(planes.data(), planes.size(), out);
}

}  // namespace voxshard
