#include "io/video/decoder.h"

#include <cstdlib>
#include <new>

#include "libcore/base/error.h"
#include "libcore/base/thread_shortage.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace voxshard {
namespace {

/// Decoding ends after this many errors in a row during which the decoder accepts no new packet.
constexpr int kMostErrorsInARow = 256;

std::optional<std::int64_t> sane(std::int64_t ticks) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  if (ticks == AV_NOPTS_VALUE || ticks > kMost || ticks < -kMost) return std::nullopt;
  return ticks;
}

}  // namespace

VideoDecoder::VideoDecoder(const VideoInput& input, int threads, std::int64_t most_pixels) : packet_(make_packet()) {
  const AVCodecParameters& parameters = *input.stream().codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  const auto fail = [&](const std::string& what) {
    return Error(ErrorKind::kInput, "[input] " + input.path().string() + ": its codec " +
                                        avcodec_get_name(parameters.codec_id) + " " + what +
                                        "; convert the file with ffmpeg on a machine that can read it");
  };
  if (codec == nullptr) throw fail("has no decoder in this FFmpeg");
  const auto start = [&](int own_threads) {
    context_.reset(avcodec_alloc_context3(codec));
    if (!context_) throw std::bad_alloc();
    if (avcodec_parameters_to_context(context_.get(), &parameters) < 0) throw fail("has parameters that make no sense");
    context_->pkt_timebase = input.stream().time_base;
    context_->thread_count = own_threads;
    context_->max_pixels = most_pixels;
    return avcodec_open2(context_.get(), codec, nullptr);
  };
  int code = start(threads);
  if (code < 0 && threads > 1 && (code = start(1)) >= 0) say_single_thread("FFmpeg's decoder", threads);
  if (code < 0) throw fail("cannot be started (" + av_error_text(code) + ")");
}

void VideoDecoder::count_error(int code) {
  ++damage_.lost;
  ++errors_in_a_row_;
  if (damage_.first_error.empty()) damage_.first_error = av_error_text(code);
}

void VideoDecoder::feed(VideoInput& input) {
  errors_in_a_row_ = 0;
  while (input.read(*packet_)) {
    if (wait_for_key_) {
      if (!(packet_->flags & AV_PKT_FLAG_KEY)) continue;
      wait_for_key_ = false;
    }
    const int code = avcodec_send_packet(context_.get(), packet_.get());
    av_packet_unref(packet_.get());
    if (code < 0) count_error(code);
    return;
  }
  draining_ = true;
  avcodec_send_packet(context_.get(), nullptr);
}

bool VideoDecoder::next(VideoInput& input, AVFrame& frame) {
  for (;;) {
    const int code = avcodec_receive_frame(context_.get(), &frame);
    if (code >= 0) {
      errors_in_a_row_ = 0;
      if ((frame.flags & AV_FRAME_FLAG_CORRUPT) || frame.decode_error_flags != 0) ++damage_.concealed;
      return true;
    }
    if (code == AVERROR_EOF) return false;
    if (code != AVERROR(EAGAIN)) {
      count_error(code);
      if (errors_in_a_row_ > kMostErrorsInARow) return false;
      continue;
    }
    if (draining_) return false;
    feed(input);
  }
}

void VideoDecoder::restart(From from) {
  avcodec_flush_buffers(context_.get());
  draining_ = false;
  wait_for_key_ = from == From::kKeyframe;
  errors_in_a_row_ = 0;
}

std::optional<std::int64_t> shown_at(const AVFrame& frame) { return sane(frame.best_effort_timestamp); }

std::optional<std::int64_t> shown_at(const AVPacket& packet) { return sane(packet.pts); }

bool has_own_timestamp(const AVFrame& frame) {
  return frame.pts != AV_NOPTS_VALUE && frame.pts == frame.best_effort_timestamp;
}

}  // namespace voxshard
