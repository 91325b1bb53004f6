// The settings that runs store: a row for each option, with what it is to a run. Who parses the command line,
// who stores a run and who compares two of them read the same rows: a new option is one row here and the
// place that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "options/schema.hpp"

namespace ranklab::vocabulary {

/// Of `ranklab train`, of `ranklab io`, of `ranklab comm`, and of all. What the experiment alone knows (which
/// models there are) it fills in by Schema::offer.
const options::Schema& training_settings();
const options::Schema& storage_settings();
const options::Schema& collectives_settings();
const options::Schema& common_settings();

/// Names of launchers' options for how many ranks there are, which is nothing that ranklab is told.
options::Schema launch_names();

/// --target-ci, where `least` names the option that says how many samples there are at least ("--steps").
options::Schema target_setting(const std::string& least);

/// More threads than any machine runs: beyond it there is a slip of the keyboard.
inline constexpr std::int64_t kMostThreads = 4096;

/// The row of that name; nullptr where there is none: a later program stored it, or another one.
const options::Option* find_setting(std::string_view name);

/// Of one run: the value of a setting; "" where it has none.
using OtherSettings = std::function<std::string(const std::string&)>;

/// Who asks whether a setting matters. One that has no row matters to all; a value that runs without the
/// setting had as well tells none apart.
enum class Asker {
    comparison,  ///< has it to be equal for two runs to be compared?
    group,       ///< does it tell groups apart, whatever how long or often was measured?
    factor       ///< is a run that differs in it alone no repetition?
};
bool matters_to(Asker asker, std::string_view setting, std::string_view value = {});

/// What a run did that lacks the setting, if its others are those of `run`; "" where no run of another
/// version lacks it.
std::string_view value_when_absent(std::string_view setting, const OtherSettings& run = {});

/// That it is set changes the work, to what it is set does not: the name of a file.
bool counts_by_being_set(std::string_view setting);
/// It says only how several ranks, or replicas, work together: a single-device run may store it too, and it
/// means nothing there. The mode, which tells the two apart, is one of them.
bool is_between_ranks(std::string_view setting);
/// The program chooses it by itself where nobody does, by how many ranks share a node: it may differ along a
/// curve without anybody having varied it.
bool follows_ranks(std::string_view setting);
/// The parameters' values depend on it: a run that goes on from a checkpoint has to have the same.
bool decides_numbers(std::string_view setting);

}  // namespace ranklab::vocabulary
