// A video file opened for reading: its container, the one video stream that is used, and that stream's packets in file
// order. Knows nothing of images; io/video/decoder.h turns packets into them.
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
  /// Opens the file and picks the default video stream of the largest image, as ffmpeg and ffplay do; cover images
  /// of music do not count. Only plain files are opened: no network, no playlists that name other files, no devices.
  /// Errors: kInput names the file, what is wrong (missing, a folder, empty, not a video, cut before its index, no
  /// video stream, only sound) and what to do.
  explicit VideoInput(const std::filesystem::path& path);

  /// The next packet of the video stream; false at the end of the file, or where it cannot be read further.
  bool read(AVPacket& packet);

  /// Starts over at the first packet: by seeking where that gives the very same packet, else by opening the file again.
  /// Errors: kInput as the constructor.
  void rewind();
  /// Asks the container to go to the last keyframe at or before `pts_ticks`; where it lands is for the caller to check.
  /// False when the container cannot; then the position is undefined until rewind().
  bool seek(std::int64_t pts_ticks);

  const std::filesystem::path& path() const { return path_; }
  /// Why reading stopped before the end of the file; empty when it did not.
  const std::string& ending() const { return ending_; }
  AVFormatContext& format() const { return *format_; }
  AVStream& stream() const { return *stream_; }
  Rational time_base() const;

 private:
  /// Where a packet lies and when it is decoded and shown; enough to know it again.
  struct PacketPlace {
    std::int64_t position_bytes = 0, size_bytes = 0, dts_ticks = 0, pts_ticks = 0;
    bool operator==(const PacketPlace&) const = default;
  };
  static PacketPlace place_of(const AVPacket& packet);
  void open();
  bool seek_to_first_packet();

  std::filesystem::path path_;
  AvFormatPtr format_;
  AVStream* stream_ = nullptr;  // of format_
  std::string ending_;
  std::optional<PacketPlace> first_;  // of the video stream, once it was read
  AvPacketPtr pending_;               // read already, to be handed out next; null when there is none
};

}  // namespace voxshard
