#include "io/video/video_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <opencv2/core.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/open_file.h"
#include "io/video/av.h"
#include "io/video/video_endings.h"
#include "libcore/base/error.h"
#include "libcore/base/thread_shortage.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
}

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Error output_error(const fs::path& path, const std::string& what) {
  return Error(ErrorKind::kOutput, "[output] cannot write " + path.string() + ": " + what);
}

/// The comment metadata of every file.
constexpr const char* kMark = "made by voxshard";
/// Time base of the encoder, which only counts frames. The container stores the times, so that no encoder's limits on
/// time bases matter.
constexpr AVRational kEncoderTimeBase{1, 25};
/// Constant rate factor of libx264: hardly distinguishable from the source.
constexpr const char* kQuality = "18";
/// The same for MPEG-4 (quantiser 1 to 31).
constexpr int kMpeg4Quantiser = 3;

/// Returns an encoder with its settings, not yet open.
AvCodecPtr make_encoder(const AVCodec* codec, bool x264, const VideoWriteOptions& options, int threads,
                        bool global_header) {
  AvCodecPtr context(avcodec_alloc_context3(codec));
  if (!context) throw std::bad_alloc();
  context->width = static_cast<int>(options.width + options.width % 2);
  context->height = static_cast<int>(options.height + options.height % 2);
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->time_base = kEncoderTimeBase;
  context->max_b_frames = 0;  // packets leave in the order of the frames
  context->thread_count = threads;
  context->colorspace = AVCOL_SPC_BT709;
  context->color_range = AVCOL_RANGE_MPEG;
  context->sample_aspect_ratio = {static_cast<int>(options.sample_aspect.num),
                                  static_cast<int>(options.sample_aspect.den)};
  if (global_header) context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  if (x264) {
    av_opt_set(context->priv_data, "crf", kQuality, 0);
    av_opt_set(context->priv_data, "preset", "veryfast", 0);
    // With mbtree the bytes of a small video depend on earlier work of the encoder's thread (x264 164, AVX-512).
    av_opt_set_int(context->priv_data, "mbtree", 0, 0);
  } else {
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = kMpeg4Quantiser * FF_QP2LAMBDA;
  }
  return context;
}

AvCodecPtr open_encoder(const fs::path& path, const VideoWriteOptions& options, bool global_header) {
  const AVCodec* codec = avcodec_find_encoder_by_name("libx264");
  const bool x264 = codec != nullptr;
  if (!x264) codec = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
  if (codec == nullptr)
    throw output_error(path, "this FFmpeg has neither an H.264 nor an MPEG-4 encoder; install Debian's libavcodec");
  AvCodecPtr context;
  const auto start = [&](int threads) {
    context = make_encoder(codec, x264, options, threads, global_header);
    return avcodec_open2(context.get(), codec, nullptr);
  };
  int code = start(options.threads);
  if (code < 0 && options.threads > 1 && (code = start(1)) >= 0)
    say_single_thread("the video encoder", options.threads);
  if (code < 0)
    throw output_error(path, std::string("the encoder ") + codec->name + " refuses " + std::to_string(options.width) +
                                 " x " + std::to_string(options.height) + " (" + av_error_text(code) +
                                 "); write smaller pictures");
  return context;
}

SwsPtr rgb_to_yuv(const AVCodecContext& encoder) {
  SwsPtr context(sws_getContext(encoder.width, encoder.height, AV_PIX_FMT_RGB24, encoder.width, encoder.height,
                                AV_PIX_FMT_YUV420P, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nullptr,
                                nullptr, nullptr));
  if (!context) throw std::bad_alloc();
  const int* matrix = sws_getCoefficients(SWS_CS_ITU709);
  sws_setColorspaceDetails(context.get(), matrix, 0, matrix, 0, 0, 1 << 16, 1 << 16);
  return context;
}

}  // namespace

struct VideoWriter::Impl {
  fs::path path, temporary;
  Descriptor file;  // the temporary file
  VideoWriteOptions options;
  AVFormatContext* format = nullptr;  // not an AvFormatPtr: a muxer's context is freed in another way
  AVStream* stream = nullptr;
  AvCodecPtr encoder;
  SwsPtr to_yuv;
  AvFramePtr rgb, yuv;
  AvPacketPtr packet, held;  // held: waits for the next packet, which determines its duration
  std::vector<std::int64_t> pts_ticks;
  bool done = false;

  ~Impl() {
    if (format != nullptr) {
      avio_closep(&format->pb);
      avformat_free_context(format);
    }
    if (!done && !temporary.empty()) discard_file(temporary);
  }

  void check(int code, const char* doing) const {
    if (code < 0)
      throw output_error(path,
                         std::string(doing) + " failed (" + av_error_text(code) + "); check that the disk has space");
  }

  void open_muxer() {
    avformat_alloc_output_context2(&format, nullptr, nullptr, temporary.c_str());
    if (format == nullptr) throw std::bad_alloc();
    encoder = open_encoder(path, options, format->oformat->flags & AVFMT_GLOBALHEADER);
    stream = avformat_new_stream(format, nullptr);
    if (stream == nullptr) throw std::bad_alloc();
    check(avcodec_parameters_from_context(stream->codecpar, encoder.get()), "describing the video");
    stream->sample_aspect_ratio = encoder->sample_aspect_ratio;
    stream->time_base = {static_cast<int>(options.time_base.num), static_cast<int>(options.time_base.den)};
    if (const int code = avio_open(&format->pb, ("file:" + file.path()).c_str(), AVIO_FLAG_WRITE); code < 0)
      throw output_error(path, av_error_text(code) + "; check that the folder exists, is writable and has space");
    av_dict_set(&format->metadata, "comment", kMark, 0);
    AVDictionary* settings = nullptr;
    // The time before the first frame is stored in the movie's ticks: with the stream's time base it stays exact.
    av_dict_set_int(&settings, "movie_timescale", options.time_base.den, 0);
    const int code = avformat_write_header(format, &settings);
    av_dict_free(&settings);
    check(code, "writing the header");
  }

  void encode(const AVFrame* frame) {
    check(avcodec_send_frame(encoder.get(), frame), "encoding");
    for (;;) {
      const int code = avcodec_receive_packet(encoder.get(), packet.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return;
      check(code, "encoding");
      const std::int64_t ticks = pts_ticks.at(packet->pts);
      packet->pts = packet->dts = ticks;
      packet->stream_index = stream->index;
      flush_held(ticks);
      std::swap(packet, held);
    }
  }

  /// Writes the held packet; it lasts until `end_ticks`.
  void flush_held(std::int64_t end_ticks) {
    if (held->data == nullptr) return;
    held->duration = end_ticks - held->pts;
    av_packet_rescale_ts(held.get(), {static_cast<int>(options.time_base.num), static_cast<int>(options.time_base.den)},
                         stream->time_base);
    check(av_interleaved_write_frame(format, held.get()), "writing");
  }
};

OutputKind written_video() {
  return {"a video of voxshard predict",
          {kWrittenVideoEndings.begin(), kWrittenVideoEndings.end()},
          [](const fs::path& path) {
            silence_av();
            AVFormatContext* opened = nullptr;
            const std::string name = "file:" + path.string();
            if (!reading_problem(path).empty() || avformat_open_input(&opened, name.c_str(), nullptr, nullptr) < 0)
              return false;
            const AvFormatPtr format(opened);
            const AVDictionaryEntry* comment = av_dict_get(format->metadata, "comment", nullptr, 0);
            return comment != nullptr && std::string_view(comment->value) == kMark;
          }};
}

VideoWriter::VideoWriter(const fs::path& path, const VideoWriteOptions& options) : impl_(std::make_unique<Impl>()) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  silence_av();
  ensure(options.width > 0 && options.height > 0 && options.threads > 0, "a video has a size and an encoder a thread");
  ensure(options.time_base.num > 0 && options.time_base.num <= kMost && options.time_base.den > 0 &&
             options.time_base.den <= kMost,
         "a time base has 31 bits");
  if (std::ranges::find(kWrittenVideoEndings, path.extension().string()) == kWrittenVideoEndings.end())
    throw output_error(path, "expected a name that ends in .mp4, .mov or .mkv");
  impl_->path = path;
  TemporaryFile temporary = make_temporary_file(path);
  impl_->temporary = std::move(temporary.path), impl_->file = std::move(temporary.file);
  impl_->options = options;
  impl_->open_muxer();
  impl_->to_yuv = rgb_to_yuv(*impl_->encoder);
  impl_->packet = make_packet(), impl_->held = make_packet();
  impl_->rgb = make_av_frame(impl_->encoder->width, impl_->encoder->height, AV_PIX_FMT_RGB24);
  impl_->yuv = make_av_frame(impl_->encoder->width, impl_->encoder->height, AV_PIX_FMT_YUV420P);
}

VideoWriter::~VideoWriter() = default;

void VideoWriter::write(const Tensor& rgb, std::int64_t pts_ticks) {
  Impl& w = *impl_;
  const VideoWriteOptions& o = w.options;
  ensure(!w.done, "nothing is written behind the end of a video");
  ensure(rgb.dtype() == DType::kU8 && rgb.shape() == Shape{o.height, o.width, 3}, "a frame has the size of its video");
  ensure(pts_ticks > (w.pts_ticks.empty() ? -1 : w.pts_ticks.back()), "timestamps grow and are not negative");
  const cv::Mat given(static_cast<int>(o.height), static_cast<int>(o.width), CV_8UC3, rgb.data());
  cv::Mat even(w.rgb->height, w.rgb->width, CV_8UC3, w.rgb->data[0], static_cast<std::size_t>(w.rgb->linesize[0]));
  cv::copyMakeBorder(given, even, 0, even.rows - given.rows, 0, even.cols - given.cols, cv::BORDER_REPLICATE);
  ensure(even.data == w.rgb->data[0], "the border is made in the frame itself");
  if (av_frame_make_writable(w.yuv.get()) < 0) throw std::bad_alloc();
  sws_scale(w.to_yuv.get(), w.rgb->data, w.rgb->linesize, 0, even.rows, w.yuv->data, w.yuv->linesize);
  w.yuv->pts = static_cast<std::int64_t>(w.pts_ticks.size());
  w.pts_ticks.push_back(pts_ticks);
  w.encode(w.yuv.get());
}

void VideoWriter::close(bool complete) {
  Impl& w = *impl_;
  ensure(!w.pts_ticks.empty(), "a video has a frame");
  w.encode(nullptr);
  const std::size_t frames = w.pts_ticks.size();
  const std::int64_t last = w.pts_ticks.back(), before = frames > 1 ? w.pts_ticks[frames - 2] : last - 1;
  w.flush_held(last + (last - before));
  w.check(av_write_trailer(w.format), "writing the index");
  const int code = avio_closep(&w.format->pb);
  w.check(code, "closing the file");
  commit_file(w.temporary, complete ? w.path : incomplete_path(w.path));
  w.done = true;
}

}  // namespace voxshard
