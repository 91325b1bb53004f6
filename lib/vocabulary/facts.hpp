// The facts in the context of a run, and what each means for its numbers: one row for each fact,
// "section.key". A fact without a row is one that another version stores.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ranklab::vocabulary {

enum class FactRole {
    /// Times depend on it: runs that differ in it are pooled or compared only on request.
    surroundings,
    work,  ///< it says that the work is another: compared, but the settings say it too
    /// It may matter, but differs too often to be refused; a fact without a row is noted.
    noted,
    outcome  ///< it differs from run to run, is a result, or is the subject of a comparison
};

struct Fact {
    /// "host.cpu"; with '*' at its end all keys that begin so, if no longer row fits.
    std::string_view name;
    FactRole role;
    std::string_view reason;
    /// Follows from the number of ranks, or from the way one rank is started.
    bool follows_ranks = false;
};

std::span<const Fact> facts();
/// The row of that fact, the most exact one; nullptr where there is none.
const Fact* find_fact(std::string_view name);
/// Returns noted where there is no row.
FactRole role_of_fact(std::string_view name);

/// The value of a fact that tells what a catalogue entry can do, for a run of an older version,
/// which did not store it: it follows from the entry that the run's options name. "" for any other
/// fact. `setting` returns the run's option of that name, or "".
std::string fact_of_older_run(std::string_view name,
                              const std::function<std::string(std::string_view)>& setting);

/// Whether the key is that one, or begins like a pattern that ends in '*'.
bool fits(std::string_view key, std::string_view pattern);

}  // namespace ranklab::vocabulary
