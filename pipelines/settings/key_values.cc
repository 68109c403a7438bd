#include "pipelines/settings/key_values.h"

#include "io/files/structured_text.h"

namespace voxshard {
namespace {

nlohmann::json fixed_value(const OriginalKey& row) {
  return parse_json(row.as, {.kind = ErrorKind::kInternal, .tag = "[config] "});
}

}  // namespace

void KeyValues::take(std::span<const OriginalKey> rows, std::vector<std::string>& notes) {
  using Kind = OriginalKey::Kind;
  for (const OriginalKey& row : rows) {
    if (row.kind == Kind::kRule) continue;
    if (row.kind == Kind::kFlag) {
      if (const auto flag = take_flag(row.key)) put(row.as, *flag ? row.if_true : row.if_false, {row.key});
      continue;
    }
    const auto value = take(row.key);
    if (!value) continue;
    if (row.kind == Kind::kRenamed) put(row.as, *value, {row.key});
    if (row.kind == Kind::kFixed && *value != fixed_value(row))
      throw error(row.key, *value, std::string(row.as) + ": " + row.does);
    if (row.kind == Kind::kEmpty && *value != "") throw error(row.key, *value, std::string("nothing: ") + row.does);
    if (row.kind == Kind::kIdle) notes.push_back(std::string("[config] ") + row.key + " has no effect: " + row.does);
  }
}

}  // namespace voxshard
