// Decodes the packets of one video stream into images (still in the stream's own pixel format), in the order in which
// they are shown. Damaged frames are lost; they are counted and cause no exception.
//
//   VideoDecoder decoder(input, 2);
//   while (decoder.next(input, *frame)) use(shown_at(*frame));
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/video/av.h"
#include "io/video/input.h"

namespace voxshard {

/// Counts of the damage found so far; a part of the video that was decoded twice counts twice.
struct DecodeDamage {
  std::int64_t lost = 0;       // errors instead of an image
  std::int64_t concealed = 0;  // images that the decoder marked as damaged
  std::string first_error;
};

/// 11585 x 11585: a damaged header must not ask for all memory. 8K video is a quarter of it.
inline constexpr std::int64_t kMostFramePixels = std::int64_t{1} << 27;

class VideoDecoder {
 public:
  /// `threads` >= 1: number of threads that the codec may start. Errors: kInput when FFmpeg has no decoder for the
  /// codec. Frames of more than `most_pixels` count as lost.
  VideoDecoder(const VideoInput& input, int threads, std::int64_t most_pixels = kMostFramePixels);

  /// Decodes the next image, reading from `input` as needed; false when there is no more. Memory: the codec's reference
  /// images and one image per thread.
  bool next(VideoInput& input, AVFrame& frame);

  enum class From { kStart, kKeyframe };
  /// Discards all packets read so far; to be called after a seek of `input`. kKeyframe skips packets before a keyframe.
  void restart(From from);

  const DecodeDamage& damage() const { return damage_; }

 private:
  void feed(VideoInput& input);
  void count_error(int code);

  AvCodecPtr context_;
  AvPacketPtr packet_;
  DecodeDamage damage_;
  bool wait_for_key_ = false, draining_ = false;
  int errors_in_a_row_ = 0;  // since the last packet or image
};

/// Returns the image's timestamp in ticks: its own, else FFmpeg's best guess from decoding times, else none.
std::optional<std::int64_t> shown_at(const AVFrame& frame);
/// The same for a packet: none when the file has no timestamp. Timestamps beyond 2^60 count as damage, not as times.
std::optional<std::int64_t> shown_at(const AVPacket& packet);

/// Returns true when shown_at(frame) is stored in the file, not derived from neighbouring frames.
bool has_own_timestamp(const AVFrame& frame);

}  // namespace voxshard
