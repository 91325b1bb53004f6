#include "app/many_samples.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ranklab::app {

using results::KeptSamples;

std::uint64_t samples_bytes(KeptSamples kept, std::uint64_t ranks, std::uint64_t rows) {
    constexpr std::uint64_t kSeries = 10;  // about so many measurements have samples
    constexpr std::uint64_t kOfSummary = 128;
    const std::uint64_t values = rows * (kept == KeptSamples::all ? ranks : 1);
    const std::uint64_t summaries = kept == KeptSamples::ranks ? ranks * kOfSummary : 0;
    return kSeries * (values * sizeof(double) + summaries);
}

// Rank 0 gathers them, and compresses what hardly gets smaller.
std::string many_samples(KeptSamples kept, std::uint64_t ranks, std::uint64_t rows, const std::string& what) {
    constexpr std::uint64_t kMany = std::uint64_t{256} << 20U;
    const auto bytes = samples_bytes(kept, ranks, rows);
    if (bytes < kMany) return "";
    const auto size_text = [](std::uint64_t size) { return base::human_bytes(static_cast<double>(size)); };
    std::string text = fmt::format(
        "the samples of {} rank{} and {} {} are about {}, which rank 0 {} at the end", ranks,
        ranks == 1 ? "" : "s", rows, what, size_text(bytes), ranks == 1 ? "stores" : "gathers and stores");
    struct Way {
        KeptSamples kept;
        const char* words;
    };
    for (const auto& [less, words] :
         {Way{KeptSamples::ranks, "--keep-samples ranks stores a summary of each rank"},
          Way{KeptSamples::summary, "--keep-samples summary stores nothing of each rank"}})
        if (const auto size = samples_bytes(less, ranks, rows); size < bytes - bytes / 10)
            return text + fmt::format("; {} instead (about {}), and no number of the answer changes", words,
                                      size_text(size));
    return text + fmt::format("; only fewer {} make them less", what);
}

}  // namespace ranklab::app
