#include "results/kept_samples.hpp"

#include <fmt/format.h>

#include "options/schema.hpp"

namespace ranklab::results {
namespace {

std::string kept_alone(const Run& run, const char* what) {
    const auto way = options::ways_of({fmt::format("{} {}", kKeepSamples, run.setting(kKeepSamples))});
    return fmt::format("this run kept {} alone ({})", what, way.front());
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
            return kept_alone(run, "the ranks' summaries");
        case KeptSamples::summary:
            return kept_alone(run, "summaries");
        case KeptSamples::all:
            break;
    }
    return "";
}

std::string why_no_rank_summaries(const Run& run) {
    return kept_samples(run) == KeptSamples::summary ? why_no_rank_samples(run) : "";
}

}  // namespace ranklab::results
