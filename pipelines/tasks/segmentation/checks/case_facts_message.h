// The facts about a case as a message between the processes of a run.
//
//   send(facts_message(facts));
//   CaseFacts facts = facts_of_message(received);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pipelines/tasks/segmentation/checks/case_facts.h"

namespace voxshard {

/// Serialises all members, every number to its last bit where the message is packed by pack_json().
nlohmann::ordered_json facts_message(const CaseFacts& facts);
/// Parses such a message. Errors: those of nlohmann::json for another form, which is a fault of the program.
CaseFacts facts_of_message(const nlohmann::ordered_json& message);

}  // namespace voxshard
