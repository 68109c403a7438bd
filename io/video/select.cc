#include "io/video/select.h"

#include <algorithm>
#include <charconv>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

using Wide = __int128;  // products of ticks, rates and time bases stay exact

Error usage(const std::string& what) { return Error(ErrorKind::kUsage, "[video] " + what); }

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "12", "12.5", "30000/1001": not negative, at most 9 digits on either side.
std::optional<Rational> rational(const std::string& text) {
  const std::size_t slash = text.find('/'), point = text.find('.');
  const std::size_t cut = std::min(slash, point);
  const std::string head = text.substr(0, cut), tail = cut == std::string::npos ? "" : text.substr(cut + 1);
  if (head.size() > 9 || tail.size() > 9 || (head.empty() && tail.empty())) return std::nullopt;
  const auto left = head.empty() && point == 0 ? std::optional<std::int64_t>(0) : whole_number(head);
  if (!left) return std::nullopt;
  if (cut == std::string::npos) return Rational{*left, 1};
  const auto right = whole_number(tail);
  if (!right) return std::nullopt;
  if (cut == slash) return *right == 0 ? std::nullopt : std::optional(reduced(*left, *right));
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < tail.size(); ++i) scale *= 10;
  return reduced(*left * scale + *right, scale);
}

/// True when `ticks` after the start lie before `limit` seconds.
bool before(std::int64_t ticks, const Rational& base, const Rational& limit) {
  return Wide{ticks} * base.num * limit.den < Wide{limit.num} * base.den;
}

std::pair<std::int64_t, std::int64_t> range_in_frames(const VideoIndex& index, const FrameRange& range) {
  if (!range.in_seconds) {
    const std::int64_t end = range.end ? range.end->num : index.size();
    return {std::min(range.begin.num, index.size()), std::min(end, index.size())};
  }
  const std::int64_t start = index.frames.empty() ? 0 : index.frames.front().pts_ticks;
  const auto first_not_before = [&](const Rational& limit) {
    const auto at = std::find_if(index.frames.begin(), index.frames.end(), [&](const IndexedFrame& f) {
      return !before(f.pts_ticks - start, index.time_base, limit);
    });
    return static_cast<std::int64_t>(at - index.frames.begin());
  };
  return {first_not_before(range.begin), range.end ? first_not_before(*range.end) : index.size()};
}

/// Frame i is shown from its timestamp until the next one's: it is taken when a tick of the clock falls in between.
std::vector<std::int64_t> on_clock(const VideoIndex& index, std::int64_t begin, std::int64_t end,
                                   const Rational& rate) {
  std::vector<std::int64_t> chosen;
  const auto ticks = [&](std::int64_t i) { return index.frames[i].pts_ticks - index.frames[begin].pts_ticks; };
  const Wide per_tick_num = Wide{index.time_base.num} * rate.num, per_tick_den = Wide{index.time_base.den} * rate.den;
  for (std::int64_t i = begin; i < end; ++i) {
    const Wide here = ticks(i) * per_tick_num;
    const Wide next_beat = here <= 0 ? 0 : (here + per_tick_den - 1) / per_tick_den;
    std::int64_t until = 0;
    if (i + 1 < index.size()) {
      until = ticks(i + 1);
    } else {
      until = ticks(i) + std::max<std::int64_t>(index.frames[i].duration_ticks, 1);
    }
    if (next_beat * per_tick_den < Wide{until} * per_tick_num) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

FrameRange frame_range_from_text(const std::string& text) {
  const Error wrong = usage("{range} " + text +
                            " is no range; expected BEGIN:END in frames (100:200) or in seconds (1.5s:20s), "
                            "either side may be left out");
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw wrong;
  std::string sides[2] = {text.substr(0, colon), text.substr(colon + 1)};
  FrameRange range;
  bool frames = false;
  for (auto& side : sides) {
    if (side.ends_with("s")) {
      range.in_seconds = true;
      side.pop_back();
      if (side.empty()) throw wrong;
    } else {
      frames |= !side.empty();
    }
  }
  if (frames && range.in_seconds) throw wrong;
  for (int s = 0; s < 2; ++s) {
    if (sides[s].empty()) continue;
    const auto value = rational(sides[s]);
    if (!value || (frames && value->den != 1)) throw wrong;
    if (s == 0)
      range.begin = *value;
    else
      range.end = *value;
  }
  if (range.end && Wide{range.end->num} * range.begin.den <= Wide{range.begin.num} * range.end->den)
    throw usage("{range} " + text + " is empty; the end must lie behind the beginning");
  return range;
}

Rational frames_per_second_from_text(const std::string& text) {
  const auto value = rational(text);
  if (!value || value->num <= 0)
    throw usage("{fps} " + text + " is no rate; expected frames per second such as 5, 7.5 or 30000/1001");
  return *value;
}

std::vector<std::int64_t> select_frames(const VideoIndex& index, const FrameSelection& selection) {
  if (selection.stride < 1) throw usage("{stride} must be at least 1; got " + std::to_string(selection.stride));
  if (selection.per_second && selection.stride != 1)
    throw usage("{stride} and {fps} exclude each other; give one of them");
  if (selection.per_second && selection.per_second->num <= 0) throw usage("{fps} must be more than 0");
  const auto [begin, end] = range_in_frames(index, selection.range);
  if (begin >= end) return {};
  if (selection.per_second) return on_clock(index, begin, end, *selection.per_second);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = begin; i < end; i += std::min(selection.stride, end - i)) chosen.push_back(i);
  return chosen;
}

}  // namespace voxshard
