#include "results/kept_samples.hpp"

#include <fmt/format.h>

#include "options/schema.hpp"

namespace ranklab::results {
namespace {

// A run of one rank keeps that rank's samples whatever it keeps of ranks.
std::string why_not(const Run& run, const char* what) {
    if (run.hosts.size() == 1) return "";
    const auto way = options::ways_of({fmt::format("{} {}", kKeepSamples, run.setting(kKeepSamples))});
    return fmt::format("{} ({})", what, way.front());
}

}  // namespace

KeptSamples kept_samples(std::string_view value) {
    if (value == "ranks") return KeptSamples::ranks;
    return value == "summary" ? KeptSamples::summary : KeptSamples::all;
}

KeptSamples kept_samples(const Run& run) {
    return kept_samples(run.setting(kKeepSamples));
}

std::string why_no_rank_samples(const Run& run) {
    switch (kept_samples(run)) {
        case KeptSamples::ranks:
            return why_not(run, "this run kept a summary of each rank and no samples of it");
        case KeptSamples::summary:
            return why_not(run, "this run kept nothing of each rank");
        case KeptSamples::all:
            break;
    }
    return "";
}

std::string why_no_rank_summaries(const Run& run) {
    return kept_samples(run) == KeptSamples::summary ? why_no_rank_samples(run) : "";
}

}  // namespace ranklab::results
