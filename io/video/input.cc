#include "io/video/input.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "io/files/now_reading.h"
#include "io/files/open_file.h"
#include "libcore/base/error.h"

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
}

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Error input_error(const fs::path& path, const std::string& what) {
  return Error(ErrorKind::kInput, "[input] " + path.string() + ": " + what);
}

void check_plain_file(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw input_error(path, "no such file; check the path");
  if (fs::is_directory(path, error)) throw input_error(path, "is a folder; expected a video file; name a file in it");
  if (const std::string problem = reading_problem(path); !problem.empty())
    throw input_error(path, problem + "; expected a video file; copy it to a disk first");
  if (fs::file_size(path, error) == 0 && !error) throw input_error(path, "is empty; copy it again from its source");
}

/// Returns true for demuxers of FFmpeg that read text as images, single images as videos, or open further files by
/// name.
bool is_no_video_container(std::string_view name) {
  constexpr std::array kRefused = {"tty",    "bin", "xbin",   "adf",        "idf", "hls", "dash",
                                   "concat", "imf", "image2", "image2pipe", "sdp", "rtsp"};
  const std::string_view first = name.substr(0, name.find(','));
  return std::find(kRefused.begin(), kRefused.end(), first) != kRefused.end() || first.ends_with("_pipe");
}

/// Returns options that allow only the protocol that reads files, whatever the file's contents ask for.
AVDictionary* only_files() {
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  return options;
}

const AVInputFormat& probe(const fs::path& path, const std::string& url) {
  AVIOContext* io = nullptr;
  AVDictionary* options = only_files();
  int code = avio_open2(&io, url.c_str(), AVIO_FLAG_READ, nullptr, &options);
  av_dict_free(&options);
  if (code < 0) throw input_error(path, "cannot be opened: " + av_error_text(code) + "; check its permissions");
  const AVInputFormat* found = nullptr;
  code = av_probe_input_buffer2(io, &found, url.c_str(), nullptr, 0, 0);
  avio_closep(&io);
  if (code < 0 || found == nullptr || is_no_video_container(found->name))
    throw input_error(path, "is no video" +
                                (found ? " (it looks like \"" + std::string(found->name) + "\")" : std::string()) +
                                "; expected a container such as mp4, mov, mkv, webm or avi; check the file");
  return *found;
}

}  // namespace

VideoInput::VideoInput(const fs::path& path) : path_(path) {
  silence_av();
  check_plain_file(path_);
  const NowReading reading(path_);
  open();
}

void VideoInput::open() {
  stream_ = nullptr;
  format_.reset();
  ending_.clear();
  first_.reset();
  pending_.reset();
  const std::string url = "file:" + path_.string();
  const AVInputFormat& container_format = probe(path_, url);
  AVFormatContext* raw = nullptr;
  AVDictionary* options = only_files();
  int code = avformat_open_input(&raw, url.c_str(), &container_format, &options);
  av_dict_free(&options);
  if (code < 0)
    throw input_error(path_, "its " + std::string(container_format.name) + " header cannot be read (" +
                                 av_error_text(code) +
                                 "); the file is damaged, or it was cut before the index at its end; copy it again or "
                                 "repair it with the recorder's tool");
  format_.reset(raw);
  code = avformat_find_stream_info(raw, nullptr);
  int audio_streams = 0;
  for (unsigned i = 0; i < raw->nb_streams; ++i)
    audio_streams += raw->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  int best = av_find_best_stream(raw, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  for (unsigned i = 0;
       best >= 0 && i < raw->nb_streams && (raw->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC); ++i)
    if (raw->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
        !(raw->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC))
      best = static_cast<int>(i);
  if (best < 0 || (raw->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC))
    throw input_error(path_, std::string("holds no video stream") + (audio_streams > 0 ? ", only sound" : "") +
                                 (code < 0 ? " (" + av_error_text(code) + ")" : "") +
                                 "; expected a video; check the file");
  stream_ = raw->streams[best];
  for (unsigned i = 0; i < raw->nb_streams; ++i)
    raw->streams[i]->discard = static_cast<int>(i) == best ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
}

bool VideoInput::read(AVPacket& packet) {
  av_packet_unref(&packet);
  if (pending_) {
    av_packet_move_ref(&packet, pending_.get());
    pending_.reset();
    return true;
  }
  for (;;) {
    av_packet_unref(&packet);
    const int code = av_read_frame(format_.get(), &packet);
    if (code < 0) {
      if (code != AVERROR_EOF) ending_ = av_error_text(code);
      return false;
    }
    if (packet.stream_index != stream_->index) continue;
    if (!first_) first_ = place_of(packet);
    return true;
  }
}

VideoInput::PacketPlace VideoInput::place_of(const AVPacket& packet) {
  return {.position_bytes = packet.pos, .size_bytes = packet.size, .dts_ticks = packet.dts, .pts_ticks = packet.pts};
}

/// Seeks only in containers that store the time of every packet: others derive times from all packets before.
bool VideoInput::seek_to_first_packet() {
  const std::string_view container = format_->iformat->name;
  if (!first_ || !(container.starts_with("mov") || container.starts_with("matroska"))) return false;
  if (!seek(first_->dts_ticks == AV_NOPTS_VALUE ? first_->pts_ticks : first_->dts_ticks)) return false;
  AvPacketPtr packet = make_packet();
  if (!read(*packet) || place_of(*packet) != *first_) return false;
  pending_ = std::move(packet);
  return true;
}

void VideoInput::rewind() {
  if (!seek_to_first_packet()) open();
}

bool VideoInput::seek(std::int64_t pts_ticks) {
  ending_.clear();
  pending_.reset();
  return av_seek_frame(format_.get(), stream_->index, pts_ticks, AVSEEK_FLAG_BACKWARD) >= 0;
}

Rational VideoInput::time_base() const { return {stream_->time_base.num, stream_->time_base.den}; }

}  // namespace voxshard
