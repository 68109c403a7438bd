#include "pipelines/model_runs/trained_on.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::size_t kDigits = 16;

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] a hash of what was trained on is no hexadecimal number");
  return number;
}

std::uint64_t number_of_key(const std::string& key) {
  ensure(key.size() >= kDigits, "a content hash has 16 digits at least");
  return number_of(std::string_view(key).substr(0, kDigits));
}

void make_set(std::vector<std::uint64_t>& keys) {
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

TrainedOn::TrainedOn(const std::vector<std::string>& keys) {
  std::ranges::transform(keys, std::back_inserter(keys_), number_of_key);
  make_set(keys_);
}

bool TrainedOn::contains(const std::string& key) const { return std::ranges::binary_search(keys_, number_of_key(key)); }

void TrainedOn::add(const TrainedOn& other) {
  keys_.insert(keys_.end(), other.keys_.begin(), other.keys_.end());
  make_set(keys_);
}

nlohmann::json TrainedOn::to_json() const {
  std::string text;
  for (const std::uint64_t key : keys_) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(key));
    text += digits;
  }
  return {{"count", keys_.size()}, {"keys", text}};
}

TrainedOn TrainedOn::from_json(const nlohmann::json& json) {
  TrainedOn trained;
  const auto keys = json.is_object() ? json.find("keys") : json.end();
  if (keys == json.end() || !keys->is_string() || keys->get_ref<const std::string&>().size() % kDigits != 0)
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] what was trained on is no text of hashes");
  const std::string_view text = keys->get_ref<const std::string&>();
  for (std::size_t at = 0; at < text.size(); at += kDigits)
    trained.keys_.push_back(number_of(text.substr(at, kDigits)));
  make_set(trained.keys_);
  return trained;
}

void add_counts(nlohmann::ordered_json& json, const SeenInputs& seen) {
  json["trained_on"] = seen.trained_on.size();
  json["left_out_as_trained_on"] = seen.left_out.size();
}

}  // namespace voxshard
