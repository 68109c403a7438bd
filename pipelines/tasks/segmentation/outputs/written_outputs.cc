#include "pipelines/tasks/segmentation/outputs/written_outputs.h"

#include "io/files/file_name.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/settings/word_list.h"

namespace voxshard {

WrittenOutputs written_outputs(const std::string& list) {
  WrittenOutputs asked;
  bool* const of_word[] = {&asked.segmentation, &asked.measures, &asked.report, &asked.structures};
  for (const std::string& word : list.empty() ? std::vector<std::string>() : split_words(list, ',')) {
    bool known = false;
    for (std::size_t i = 0; i < std::size(kWrittenWords); ++i)
      if (word == kWrittenWords[i]) known = *of_word[i] = true;
    if (!known)
      throw Error(ErrorKind::kUsage,
                  "[predict] {write} names \"" + shown_name(word) + "\"; expected some of " +
                      joined(kWrittenWords, ",", [](std::string_view one) { return std::string(one); }));
  }
  asked.segmentation = asked.segmentation || asked.report;
  return asked;
}

}  // namespace voxshard
