// A video file opened for reading: its container, the one video stream that is used, and that stream's packets in file
// order. It does not decode; io/video/decoder.h turns packets into images.
//
//   VideoInput input("clip.mp4");
//   while (input.read(*packet)) ...          // of the video stream only
//   if (!input.ending().empty()) ...         // why reading stopped before the end of the file
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/video/av.h"
#include "io/video/video_index.h"

struct AVStream;

namespace voxshard {

class VideoInput {
 public:
  /// Opens the file and picks the video stream that ffmpeg and ffplay pick: the default one, with the largest image;
  /// cover images of music do not count. Only plain files are opened: no network, no playlists that name other files,
  /// no devices.
  /// Errors: kInput names the file, what is wrong (missing, a folder, empty, not a video, truncated before its index,
  /// no video stream, only sound) and what to do.
  explicit VideoInput(const std::filesystem::path& path);

  /// Reads the next packet of the video stream; false at the end of the file, or where it cannot be read further.
  bool read(AVPacket& packet);

  /// Starts over at the first packet: by seeking where that gives the very same packet, else by opening the file again.
  /// Errors: kInput as the constructor.
  void rewind();
  /// Seeks to the last keyframe at or before `pts_ticks`; the caller has to check the position reached. Returns false
  /// when the container cannot seek; then the position is undefined until rewind().
  bool seek(std::int64_t pts_ticks);

  const std::filesystem::path& path() const { return path_; }
  /// The reason why reading stopped before the end of the file; empty when it did not.
  const std::string& ending() const { return ending_; }
  AVFormatContext& format() const { return *format_; }
  AVStream& stream() const { return *stream_; }
  Rational time_base() const;

 private:
  /// Position and times of a packet, which identify it.
  struct PacketPlace {
    std::int64_t position_bytes = 0, size_bytes = 0, dts_ticks = 0, pts_ticks = 0;
    bool operator==(const PacketPlace&) const = default;
  };
  static PacketPlace place_of(const AVPacket& packet);
  void open();
  bool seek_to_first_packet();

  std::filesystem::path path_;
  AvFormatPtr format_;
  AVStream* stream_ = nullptr;  // owned by format_
  std::string ending_;
  std::optional<PacketPlace> first_;  // first packet of the video stream, once it was read
  AvPacketPtr pending_;               // already read, returned by the next read(); null when there is none
};

}  // namespace voxshard
