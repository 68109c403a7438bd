#include "io/records/event_file.h"

#include <tf_event.pb.h>

#include <algorithm>
#include <charconv>

#include "io/records/record_file.h"

namespace voxshard {
namespace {

constexpr std::string_view kBegin = "events.out.tfevents.", kEnd = ".voxshard";
constexpr std::size_t kDigits = 10;  // as TensorFlow has it, so that names sort by time

std::string framed(const wire::Event& event) { return framed_record(event.SerializeAsString()); }

}  // namespace

std::string event_file_head(double time_s) {
  wire::Event version, start;
  version.set_wall_time(time_s);
  version.set_file_version("brain.Event:2");
  start.set_wall_time(time_s);
  start.mutable_session_log()->set_status(wire::SessionLog::START);
  return framed(version) + framed(start);
}

std::string event_record(const ScalarEvent& event) {
  wire::Event message;
  message.set_wall_time(event.time_s);
  message.set_step(event.step);
  for (const auto& [tag, value] : event.values) {
    wire::SummaryValue& one = *message.mutable_summary()->add_value();
    one.set_tag(tag);
    one.set_simple_value(static_cast<float>(value));
  }
  return framed(message);
}

std::string event_file_name(std::int64_t time_s) {
  const std::string digits = std::to_string(std::clamp<std::int64_t>(time_s, 0, 9'999'999'999));
  return std::string(kBegin) + std::string(kDigits - digits.size(), '0') + digits + std::string(kEnd);
}

std::int64_t event_file_time(std::string_view name) {
  if (name.size() != kBegin.size() + kDigits + kEnd.size() || !name.starts_with(kBegin) || !name.ends_with(kEnd))
    return -1;
  const char* begin = name.data() + kBegin.size();
  std::int64_t time_s = -1;
  const auto [end, error] = std::from_chars(begin, begin + kDigits, time_s);
  return error == std::errc() && end == begin + kDigits ? time_s : -1;
}

}  // namespace voxshard
