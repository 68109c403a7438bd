#include "io/video/av.h"

#include <array>
#include <new>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

namespace voxshard {

void AvFree::operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
void AvFree::operator()(AVFormatContext* p) const { avformat_close_input(&p); }
void AvFree::operator()(AVFrame* p) const { av_frame_free(&p); }
void AvFree::operator()(AVPacket* p) const { av_packet_free(&p); }
void AvFree::operator()(SwsContext* p) const { sws_freeContext(p); }

AvFramePtr make_frame() {
  AvFramePtr frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  return frame;
}

AvFramePtr make_av_frame(int width, int height, int format) {
  AvFramePtr image = make_frame();
  image->width = width, image->height = height, image->format = format;
  if (av_frame_get_buffer(image.get(), 0) < 0) throw std::bad_alloc();
  return image;
}

AvPacketPtr make_packet() {
  AvPacketPtr packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

std::string av_error_text(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return text.data();
}

void silence_av() {
  static const bool once = (av_log_set_level(AV_LOG_QUIET), true);
  (void)once;
}

}  // namespace voxshard
