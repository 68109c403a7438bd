#include "io/video/video_reader.h"

#include <algorithm>
#include <cmath>

#include "io/files/now_reading.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace voxshard {
namespace {

std::shared_ptr<const VideoScan> scanned(VideoInput& input, const VideoReadOptions& options) {
  if (options.scan != nullptr) return options.scan;
  const NowReading reading(input.path());
  VideoScan packets = scan_packets(input);
  if (!options.decode_index && packets.index.by_timestamp && packets.index.size() > 0)
    return std::make_shared<const VideoScan>(std::move(packets));
  return std::make_shared<const VideoScan>(scan_by_decoding(input, options.threads));
}

/// Returns `input` when the frames of the video are not too large to be decoded; else throws.
VideoInput& within_limits(VideoInput& input, const VideoStream& stream, const VideoReadOptions& options) {
  if (stream.height > 0 && stream.width > options.most_pixels / stream.height)
    throw Error(ErrorKind::kInput, "E_SIZE",
                "[input] " + input.path().string() + ": has frames of " + std::to_string(stream.width) + " x " +
                    std::to_string(stream.height) + " pixels; at most " + std::to_string(options.most_pixels) +
                    " are read; scale it down, or raise {most-pixels} to " +
                    std::to_string(stream.width * stream.height));
  return input;
}

std::string fixed(double seconds) {
  const std::string text = std::to_string(seconds);
  return text.substr(0, text.find('.') + 3);
}

}  // namespace

VideoReader::VideoReader(const std::filesystem::path& path, const VideoReadOptions& options)
    : input_(path),
      stream_(describe_stream(input_)),
      scan_(scanned(within_limits(input_, stream_, options), options)),
      decoder_(input_, options.threads, options.most_pixels),
      to_rgb_(options.threads),
      image_(make_frame()) {
  if (index().size() == 0)
    throw Error(ErrorKind::kInput,
                "[input] " + path.string() + ": not one frame of its " + stream_.codec + " video can be decoded" +
                    (scan_->damage.first_error.empty() ? "" : " (" + scan_->damage.first_error + ")") +
                    "; copy it again from its source");
  rewind();
}

void VideoReader::rewind() {
  input_.rewind();
  decoder_.restart(VideoDecoder::From::kStart);
  waiting_ = at_end_ = false;
  number_ = -1;
  from_start_ = true;
}

/// Decodes the next image into image_, with its timestamp and number; false at the end.
bool VideoReader::decode() {
  waiting_ = !at_end_ && decoder_.next(input_, *image_);
  at_end_ = !waiting_;
  if (at_end_) return false;
  if (index().by_timestamp) {
    // Images that are not in the index (only damaged files have them) get the number of the next frame.
    pts_ticks_ = shown_at(*image_).value_or(pts_ticks_);
    number_ = std::min(index().first_at_or_after(pts_ticks_), index().size() - 1);
  } else {
    number_ = std::min(number_ + 1, index().size() - 1);
    pts_ticks_ = index()[number_].pts_ticks;
  }
  return true;
}

void VideoReader::deliver(VideoFrame& frame) {
  waiting_ = false;
  frame.number = number_;
  frame.pts_ticks = pts_ticks_;
  if (image_->width != stream_.stored_width || image_->height != stream_.stored_height)
    size_changed_at_ = std::min(size_changed_at_.value_or(number_), number_);
  try {
    const bool upright = stream_.orientation.is_identity();
    to_rgb_.convert(*image_, upright ? frame.rgb : stored_);
    if (!upright) turn(stored_, stream_.orientation, frame.rgb);
  } catch (Error& e) {
    e.add_context("reading " + input_.path().string());
    throw;
  }
}

bool VideoReader::next(VideoFrame& frame) {
  const NowReading reading(input_.path());
  if (!waiting_ && !decode()) return false;
  deliver(frame);
  return true;
}

bool VideoReader::decode_to_count(std::int64_t number) {
  if (at_end_ || number_ > number) rewind();
  while (number_ < number)
    if (!decode()) return false;
  return number_ == number;
}

/// Decodes forwards to the frame; false when it is missing, at the first frame after it or at the end.
bool VideoReader::decode_to_time(std::int64_t number) {
  const std::int64_t wanted_ticks = index()[number].pts_ticks;
  while (number_ < 0 || pts_ticks_ < wanted_ticks)
    if (!decode()) return false;
  return pts_ticks_ == wanted_ticks;
}

/// Seeks to the keyframe before the frame and decodes from there; from the keyframe before that one when the container
/// or the codec lands after the frame; else from the start.
bool VideoReader::seek_to_time(std::int64_t number) {
  std::int64_t key = index().keyframe_at_or_before(number);
  for (int attempt = 0; attempt < 2 && key > 0; ++attempt) {
    if (!input_.seek(index()[key].pts_ticks)) break;
    decoder_.restart(VideoDecoder::From::kKeyframe);
    waiting_ = at_end_ = from_start_ = false;
    number_ = -1;
    if (decode_to_time(number)) return true;
    key = index().keyframe_at_or_before(key - 1);
  }
  rewind();
  return decode_to_time(number);
}

bool VideoReader::read(std::int64_t number, VideoFrame& frame) {
  ensure(number >= 0 && number < index().size(), "a frame's number lies in the index");
  const NowReading reading(input_.path());
  if (lost_.contains(number)) return false;
  bool found = false;
  if (!index().by_timestamp) {
    found = decode_to_count(number);
  } else {
    const std::int64_t key = index().keyframe_at_or_before(number);
    const bool onwards =
        (number_ >= key || (number_ == -1 && from_start_ && key == 0)) && number_ <= number && !at_end_;
    found = (onwards && decode_to_time(number)) || seek_to_time(number);
  }
  if (found)
    deliver(frame);
  else
    lost_.insert(number);
  return found;
}

std::vector<std::string> VideoReader::notes() const {
  std::vector<std::string> notes;
  const VideoIndex& index = scan_->index;
  const std::int64_t counted_frames = index.size() + scan_->hidden;
  if (stream_.header_frames > 0 && stream_.header_frames != counted_frames)
    notes.push_back("the header promises " + counted(stream_.header_frames, "frame") + ", the file holds " +
                    std::to_string(counted_frames) + (index.decoded ? " that decode" : ""));
  const double end_s = duration_s(index);
  if (stream_.header_duration_s > 0 && scan_->hidden == 0 &&
      std::abs(stream_.header_duration_s - end_s) > 0.1 + 0.01 * end_s)
    notes.push_back("the header says that it lasts " + fixed(stream_.header_duration_s) + " s, its frames cover " +
                    fixed(end_s) + " s");
  if (const auto missing = gaps(index); !missing.empty())
    notes.push_back("frames seem to be missing behind frame " + std::to_string(missing.front()) +
                    (missing.size() > 1 ? " and in " + std::to_string(missing.size() - 1) + " more places" : ""));
  if (!scan_->ending.empty()) notes.push_back("reading ended before the end of the file: " + scan_->ending);
  if (scan_->hidden > 0) notes.push_back(counted(scan_->hidden, "frame") + " left out by the file's edit list");
  if (index.decoded && scan_->without_pts > 0)
    notes.push_back(counted(scan_->without_pts, "frame") +
                    " without a timestamp in the file: timed by the stated frame rate");
  if (index.decoded && scan_->packets > index.size() + scan_->hidden)
    notes.push_back(counted(scan_->packets - scan_->hidden - index.size(), "packet") + " gave no frame of their own");
  const DecodeDamage& damage = index.decoded ? scan_->damage : decoder_.damage();
  if (damage.lost > 0)
    notes.push_back("decoding met " + counted(damage.lost, "error") + " (" + damage.first_error + ")");
  if (damage.concealed > 0)
    notes.push_back(counted(damage.concealed, "frame") + " damaged and partly guessed by the decoder");
  if (!lost_.empty())
    notes.push_back(counted(static_cast<std::int64_t>(lost_.size()), "frame") + " could not be decoded");
  if (!stream_.orientation.exact)
    notes.push_back("the file asks for a turn that is no multiple of 90 degrees; the nearest one is used");
  if (size_changed_at_)
    notes.push_back("pictures differ in size from the header from frame " + std::to_string(*size_changed_at_) + " on");
  return notes;
}

}  // namespace voxshard
