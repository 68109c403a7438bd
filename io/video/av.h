// FFmpeg's objects as owners that free themselves, and its error codes as text. FFmpeg's own headers are included in
// io/video_*.cc only; these forward declarations are all that headers see.
//
//   AvPacketPtr packet = make_packet();
//   if (const int code = av_read_frame(format.get(), packet.get()); code < 0) note(av_error_text(code));
#pragma once

#include <cstring>
#include <memory>
#include <string>

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;

namespace voxshard {

struct AvFree {
  void operator()(AVCodecContext* p) const;
  void operator()(AVFormatContext* p) const;  // one that avformat_open_input opened
  void operator()(AVFrame* p) const;
  void operator()(AVPacket* p) const;
  void operator()(SwsContext* p) const;
};

using AvCodecPtr = std::unique_ptr<AVCodecContext, AvFree>;
using AvFormatPtr = std::unique_ptr<AVFormatContext, AvFree>;
using AvFramePtr = std::unique_ptr<AVFrame, AvFree>;
using AvPacketPtr = std::unique_ptr<AVPacket, AvFree>;
using SwsPtr = std::unique_ptr<SwsContext, AvFree>;

/// Returns the number in an enumeration that FFmpeg fills with a byte of the file: it may be none of the enumeration's
/// values, and to read it as one is undefined then.
template <class Enum>
int number_in(const Enum& value) {
  int number = 0;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// Return an empty frame or packet. Errors: std::bad_alloc.
AvFramePtr make_frame();
AvPacketPtr make_packet();
/// Returns an image of this size with padding after its rows, because libswscale reads and writes beyond their end.
/// `format`: an AVPixelFormat. Errors: std::bad_alloc.
AvFramePtr make_av_frame(int width, int height, int format);

/// "Invalid data found when processing input"
std::string av_error_text(int code);

/// Stops FFmpeg from printing to standard error, for the rest of the process.
void silence_av();

}  // namespace voxshard
