#include "io/files/channel_address.h"

#include <charconv>
#include <string_view>

namespace voxshard {
namespace {

constexpr std::string_view kChannelMark = "#channel=", kOfMark = "of";

std::optional<std::int64_t> number_in_digits(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return number;
}

}  // namespace

std::filesystem::path channel_address(const std::filesystem::path& file, std::size_t channel, std::size_t channels) {
  std::filesystem::path address = file;
  address += std::string(kChannelMark) + std::to_string(channel) + std::string(kOfMark) + std::to_string(channels);
  return address;
}

std::vector<std::filesystem::path> channel_addresses(const std::filesystem::path& file, std::size_t channels) {
  if (channels == 1) return {file};
  std::vector<std::filesystem::path> addresses;
  for (std::size_t c = 0; c < channels; ++c) addresses.push_back(channel_address(file, c, channels));
  return addresses;
}

std::optional<ChannelAddress> channel_in(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t mark = name.rfind(kChannelMark);
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  const std::string_view numbers = std::string_view(name).substr(mark + kChannelMark.size());
  const std::size_t middle = numbers.find(kOfMark);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto channel = number_in_digits(numbers.substr(0, middle)),
             of = number_in_digits(numbers.substr(middle + kOfMark.size()));
  if (!channel || !of || *of > kMostChannels || *channel >= *of) return std::nullopt;
  return ChannelAddress{path.parent_path() / name.substr(0, mark), *channel, *of};
}

std::filesystem::path file_of_channel(const std::filesystem::path& path) {
  const auto address = channel_in(path);
  return address ? address->file : path;
}

std::string channel_suffix(std::size_t channel) {
  const std::string digits = std::to_string(channel);
  return "_" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::optional<ChannelStem> channel_of_stem(const std::string& stem) {
  constexpr std::size_t kSuffix = 5;  // "_0001"
  if (stem.size() <= kSuffix || stem[stem.size() - kSuffix] != '_') return std::nullopt;
  const auto channel = number_in_digits(std::string_view(stem).substr(stem.size() - kSuffix + 1));
  if (!channel) return std::nullopt;
  return ChannelStem{stem.substr(0, stem.size() - kSuffix), static_cast<std::size_t>(*channel)};
}

}  // namespace voxshard
