// What a run keeps of its ranks' samples: the setting `keep-samples`.
#pragma once

#include <string>
#include <string_view>

#include "results/run.hpp"

namespace ranklab::results {

enum class KeptSamples {
    all,     ///< [repetition, rank]
    ranks,   ///< each repetition's maximum over ranks, and a summary of each rank (table `rank_summaries`)
    summary  ///< each repetition's maximum over ranks: nothing that grows with the ranks but `hosts`
};

inline constexpr const char* kKeepSamples = "keep-samples";
inline constexpr const char* kRankSummaries = "rank_summaries";

/// By the setting's value. Runs that were stored before there was the setting kept all.
KeptSamples kept_samples(std::string_view value);
KeptSamples kept_samples(const Run& run);

/// Why a rank's samples are not known: "this run kept nothing of each rank (--keep-samples summary)"; ""
/// where they are stored: of one rank always.
std::string why_no_rank_samples(const Run& run);
/// The same of each rank's summary.
std::string why_no_rank_summaries(const Run& run);

}  // namespace ranklab::results
