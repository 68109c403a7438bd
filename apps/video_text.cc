#include "apps/video_text.h"

#include "apps/text_table.h"

namespace voxshard {
namespace {

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string picture_text(const VideoStream& s) {
  std::string text = size_text(s.width, s.height) + " pixels";
  if (s.orientation.is_identity()) return text;
  text += ", stored " + size_text(s.stored_width, s.stored_height);
  if (s.orientation.mirrored()) text += ", mirrored";
  return text + ", turned " + std::to_string(s.orientation.clockwise_degrees()) + " degrees clockwise";
}

std::string rate_text(const FrameRate& rate, const Rational& time_base) {
  if (rate.per_second.num == 0) return "one moment only";
  const std::string per_second = rational_text(rate.per_second) + " frames per second";
  if (rate.constant) return "constant, " + per_second;
  const auto ms = [&](std::int64_t ticks) {
    return fixed_text(1000 * static_cast<double>(ticks) * time_base.value(), 1);
  };
  return "variable, " + ms(rate.shortest_ticks) + " to " + ms(rate.longest_ticks) + " ms from frame to frame, mean " +
         fixed_text(rate.per_second.value(), 3) + " frames per second";
}

}  // namespace

std::string video_text(const VideoInfo& info) {
  const VideoStream& s = info.stream;
  const VideoIndex& index = info.index;
  std::string text = info.path.string() + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    text += "  " + name + std::string(13 - name.size(), ' ') + value + "\n";
  };
  line("video", s.codec + " in " + s.container);
  line("size", picture_text(s));
  if (s.sample_aspect != Rational{1, 1}) line("pixel aspect", rational_text(s.sample_aspect) + " (width over height)");
  line("pixels", s.pixel_format + ", matrix " + s.colour_matrix + ", range " + s.colour_range);
  line("frames", std::to_string(index.size()) + (index.decoded ? ", counted by decoding" : ", counted by packets"));
  line("time", fixed_text(index.seconds(0), 6) + " to " + fixed_text(index.seconds(index.size() - 1), 6) + " s, " +
                   fixed_text(duration_s(index), 3) + " s long, in ticks of " + rational_text(s.time_base) + " s");
  line("rate", rate_text(frame_rate(index), s.time_base));
  for (const auto& note : info.notes) line("note", note);
  return text;
}

}  // namespace voxshard
