// The address of one channel of a file that holds several: "brain_01.nii.gz#channel=1of4", counted from 0. Data sets
// list such addresses as they list files, and the format of the file reads them.
//
//   channel_address("brain_01.nii.gz", 1, 4);                        // brain_01.nii.gz#channel=1of4
//   if (const auto one = channel_in("a.nii#channel=0of2")) read(one->file);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

struct ChannelAddress {
  std::filesystem::path file;
  std::int64_t channel = 0;   // in [0, channels)
  std::int64_t channels = 1;  // that the file must have
};

/// The most channels of a file, and of a data set.
inline constexpr std::int64_t kMostChannels = 9999;  // nnU-Net numbers files with four digits

std::filesystem::path channel_address(const std::filesystem::path& file, std::size_t channel, std::size_t channels);

/// Returns the addresses of all channels; of one channel the file itself.
std::vector<std::filesystem::path> channel_addresses(const std::filesystem::path& file, std::size_t channels);

/// Returns the parts of an address; none for every other path.
std::optional<ChannelAddress> channel_in(const std::filesystem::path& path);

/// Returns the file of an address, and every other path as it is.
std::filesystem::path file_of_channel(const std::filesystem::path& path);

/// Returns "_0001", the end of the name of a file that holds channel 1 alone, as nnU-Net names it.
std::string channel_suffix(std::size_t channel);

/// The stem of such a file: "liver_03_0001" is channel 1 of liver_03.
struct ChannelStem {
  std::string id;
  std::size_t channel = 0;
};
/// Returns the parts of a stem; none for one that does not end in an underscore and four digits behind an id.
std::optional<ChannelStem> channel_of_stem(const std::string& stem);

}  // namespace voxshard
