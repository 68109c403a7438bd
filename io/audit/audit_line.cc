#include "io/audit/audit_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/audit/sha256.h"
#include "io/files/structured_text.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin = R"({"number":)", kHashMember = R"(,"hash":")", kEnd = R"("})";
constexpr std::size_t kEndBytes = kHashMember.size() + kSha256Digits + kEnd.size();
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;  // readers of JSON in other languages hold it exactly
constexpr TextLimits kAuditLimits{.bytes = kMostAuditLineBytes, .depth = 3, .values = 4096};

std::string text_member(const nlohmann::json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

std::int64_t number_member(const nlohmann::json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_number_integer() ? member->get<std::int64_t>() : 0;
}

}  // namespace

std::string audit_line(const AuditCase& said, const AuditPlace& place) {
  Json json = {{"number", place.number},  {"time", place.time},
               {"uid", place.uid},        {"user", place.user},
               {"command", said.command}, {"version", said.version},
               {"model", said.model},     {"case", said.id.substr(0, kMostAuditIdBytes)},
               {"outcome", said.outcome}, {"code", said.code},
               {"input", said.input},     {"outputs", said.outputs}};
  if (place.after_torn) json["after_torn"] = {{"bytes", place.after_torn->bytes}, {"hash", place.after_torn->hash}};
  json["previous"] = place.previous;
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.pop_back();  // the closing brace comes after the hash
  const std::string hash = sha256(line);
  line.append(kHashMember).append(hash).append(kEnd);
  ensure(line.size() < kMostAuditLineBytes, "a line of an audit file is within its bounds");
  return line;
}

std::optional<AuditLink> audit_link(std::string_view line) {
  if (!line.starts_with(kBegin) || !has_audit_end(line) || line.size() >= kMostAuditLineBytes) return std::nullopt;
  const std::string_view hashed = line.substr(0, line.size() - kEndBytes);
  AuditLink link{.hash = std::string(line.substr(hashed.size() + kHashMember.size(), kSha256Digits))};
  if (sha256(hashed) != link.hash) return std::nullopt;
  try {
    const nlohmann::json object = parse_json(line, {.limits = kAuditLimits});
    link.number = number_member(object, "number");
    link.time = text_member(object, "time"), link.previous = text_member(object, "previous");
    if (link.number < 1 || link.number > kMostNumber || !is_sha256(link.previous)) return std::nullopt;
    if (const auto torn = object.find("after_torn"); torn != object.end() && torn->is_object())
      link.after_torn = TornLine{.bytes = number_member(*torn, "bytes"), .hash = text_member(*torn, "hash")};
    return link;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return std::nullopt;
  }
}

bool has_audit_end(std::string_view line) {
  if (line.size() < kEndBytes || !line.ends_with(kEnd)) return false;
  const std::string_view end = line.substr(line.size() - kEndBytes);
  return end.starts_with(kHashMember) && is_sha256(end.substr(kHashMember.size(), kSha256Digits));
}

bool begins_like_audit(std::string_view bytes) {
  const std::size_t least = std::min(bytes.size(), kBegin.size());
  return bytes.substr(0, least) == kBegin.substr(0, least);
}

}  // namespace voxshard
