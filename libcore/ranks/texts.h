// Texts between ranks: what each of them found, as JSON or as lines, on its way to the rank that writes it down, and
// what that one decided on its way back. All ranks ask at the same place.
//
//   const std::vector<std::string> all = gather_texts(transport, report.dump());   // on rank 0: one per rank
//   const std::string plan = broadcast_text(transport, chosen.dump());              // on every rank: what rank 0 says
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// The most that a text between ranks holds, in bytes.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 30;

/// Of a word, a name of a file, a number in letters.
inline constexpr std::int64_t kMostWordBytes = std::int64_t{1} << 16;

/// One text from one rank to another, which waits for it, and allocates some 16 MiB at most before they have arrived.
/// Errors: kInternal names a rank whose text is beyond `most_bytes`.
void send_text(Transport& transport, int to, const std::string& text);
std::string receive_text(Transport& transport, int from, std::int64_t most_bytes = kMostTextBytes);

/// On rank 0 the texts of all ranks, by rank; nothing on the others. Errors: kInternal beyond `most_bytes`.
std::vector<std::string> gather_texts(Transport& transport, const std::string& own,
                                      std::int64_t most_bytes = kMostTextBytes);

/// The text of rank 0, on all of them. Errors: kInternal beyond `most_bytes`.
std::string broadcast_text(Transport& transport, std::string own, std::int64_t most_bytes = kMostTextBytes);

/// What rank 0 finds, on all ranks; the others do not look.
bool broadcast_flag(Transport& transport, const std::function<bool()>& find);

/// Several texts as one, each behind its length, so that any letter may be in them; and back.
/// Errors of the way back: kInternal.
std::string pack_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpack_texts(const std::string& packed);

}  // namespace voxshard
