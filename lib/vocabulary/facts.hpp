// The facts in the context of a run: one row per fact "section.key", with its role in a comparison.
// docs/names.md has the reasons. Runs of another version may hold facts that have no row here.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "vocabulary/names.hpp"

namespace ranklab::vocabulary {

enum class FactRole {
    /// Times depend on the fact: runs that differ in it are compared or pooled only on request.
    surroundings,
    work,    ///< identifies the work, as the settings do: runs that differ in it are not compared
    noted,   ///< may matter, but differs too often to refuse a comparison; also facts without a row
    outcome  ///< a result, or different in every run: never compared
};

struct Fact {
    /// "host.cpu", or a prefix that ends in '*'. The longest name that fits a fact applies.
    std::string_view name;
    FactRole role;
    /// Follows from the number of ranks, or from how a single rank is started.
    bool follows_ranks = false;
};

std::span<const Fact> facts();
/// The row whose name or pattern fits `name`, the longest pattern first; nullptr if none fits.
const Fact* find_fact(std::string_view name);
/// FactRole::noted for a fact without a row.
FactRole role_of_fact(std::string_view name);

/// The value that a run's options imply for a fact about the catalogue entries that they name, such
/// as training.sums_gradients: older versions did not store these facts. "" for any other fact.
/// `setting` returns the run's option of that name, or "".
std::string fact_of_older_run(std::string_view name,
                              const std::function<std::string(std::string_view)>& setting);

/// The word as stored; "" for none.
std::string_view text_of(FactWord word);
/// The word that the stored value begins with, in either case; otherwise FactWord::none.
FactWord word_in(std::string_view value);

/// Whether the key equals the pattern, or begins like a pattern that ends in '*'.
bool fits(std::string_view key, std::string_view pattern);

}  // namespace ranklab::vocabulary
