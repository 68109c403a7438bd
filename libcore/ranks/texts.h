// Texts between ranks: the results of each rank, as JSON or as lines, are gathered on rank 0, which writes them;
// decisions of rank 0 are broadcast. All ranks make these calls at the same place.
//
//   const std::vector<std::string> all = gather_texts(transport, report.dump());   // on rank 0: one per rank
//   const std::string plan = broadcast_text(transport, chosen.dump());              // on every rank: the text of rank
//   0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// Maximum length of a text between ranks, in bytes.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 30;

/// Maximum length of a word, a file name or a number in decimal digits, in bytes.
inline constexpr std::int64_t kMostWordBytes = std::int64_t{1} << 16;

/// Send one text from one rank to another, which waits for it and allocates at most some 16 MiB ahead of the bytes that
/// have arrived. Errors: kInternal with the rank whose text is longer than `most_bytes`.
void send_text(Transport& transport, int to, const std::string& text);
std::string receive_text(Transport& transport, int from, std::int64_t most_bytes = kMostTextBytes);

/// Gathers the texts of all ranks on rank 0, by rank; returns nothing on the other ranks. Errors: kInternal beyond
/// `most_bytes`.
std::vector<std::string> gather_texts(Transport& transport, const std::string& own,
                                      std::int64_t most_bytes = kMostTextBytes);

/// Broadcasts the text of rank 0 to all ranks. Errors: kInternal beyond `most_bytes`.
std::string broadcast_text(Transport& transport, std::string own, std::int64_t most_bytes = kMostTextBytes);

/// Broadcasts the result of `find` on rank 0; the other ranks do not call it.
bool broadcast_flag(Transport& transport, const std::function<bool()>& find);

/// Serialise several texts as one, each preceded by its length, so that they may hold any character; and parse it.
/// Errors of unpack_texts(): kInternal.
std::string pack_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpack_texts(const std::string& packed);

}  // namespace voxshard
