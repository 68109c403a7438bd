#include "io/video/stream.h"

#include <algorithm>
#include <array>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

#include "io/video/video_endings.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

std::string name_or_unknown(const char* name) { return name == nullptr ? "unknown" : name; }

VideoOrientation stored_orientation(const AVStream& stream) {
  std::size_t bytes = 0;
#if LIBAVFORMAT_VERSION_MAJOR >= 61  // FFmpeg 7: side data moved to the codec's parameters
  const AVPacketSideData* side = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  const std::uint8_t* data = side == nullptr ? nullptr : side->data;
  if (side != nullptr) bytes = side->size;
#else
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
#endif
  std::array<std::int32_t, 9> matrix{};
  if (data == nullptr || bytes < sizeof matrix) return {};
  std::copy_n(data, sizeof matrix, reinterpret_cast<std::uint8_t*>(matrix.data()));
  return orientation_from_matrix(matrix);
}

}  // namespace

VideoStream describe_stream(const VideoInput& input) {
  const AVStream& stream = input.stream();
  const AVCodecParameters& p = *stream.codecpar;
  const auto format = static_cast<AVPixelFormat>(p.format);
  const int matrix = number_in(p.color_space), range = number_in(p.color_range);
  const bool has_matrix = matrix >= 0 && matrix < AVCOL_SPC_NB, has_range = range >= 0 && range < AVCOL_RANGE_NB;
  VideoStream s{
      .stream_index = stream.index,
      .container = input.format().iformat->name,
      .codec = avcodec_get_name(p.codec_id),
      .pixel_format = name_or_unknown(av_get_pix_fmt_name(format)),
      .colour_matrix = name_or_unknown(has_matrix ? av_color_space_name(static_cast<AVColorSpace>(matrix)) : nullptr),
      .colour_range = name_or_unknown(has_range ? av_color_range_name(static_cast<AVColorRange>(range)) : nullptr),
      .stored_width = p.width,
      .stored_height = p.height,
      .orientation = stored_orientation(stream),
      .time_base = input.time_base(),
      .header_frames = std::max<std::int64_t>(stream.nb_frames, 0)};
  if (const AVPixFmtDescriptor* pixel = av_pix_fmt_desc_get(format)) s.bits = pixel->comp[0].depth;
  s.width = s.orientation.transpose ? s.stored_height : s.stored_width;
  s.height = s.orientation.transpose ? s.stored_width : s.stored_height;
  const AVRational aspect = av_guess_sample_aspect_ratio(&input.format(), &input.stream(), nullptr);
  if (aspect.num > 0 && aspect.den > 0)
    s.sample_aspect = s.orientation.transpose ? reduced(aspect.den, aspect.num) : reduced(aspect.num, aspect.den);
  const AVFormatContext& file = input.format();
  if (stream.duration != AV_NOPTS_VALUE && stream.duration > 0)
    s.header_duration_s = static_cast<double>(stream.duration) * s.time_base.value();
  else if (file.nb_streams == 1 && file.duration > 0 && file.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE)
    s.header_duration_s = static_cast<double>(file.duration) / AV_TIME_BASE;
  return s;
}

bool is_video_name(const std::filesystem::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return !path.filename().string().starts_with(".") && std::ranges::find(kVideoEndings, ending) != kVideoEndings.end();
}

}  // namespace voxshard
