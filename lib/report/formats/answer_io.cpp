// The answer of `ranklab io`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

std::string per_rank(const Run& run) {
    const auto ranks = model::ranks_of(run);
    const double rate = run.median(vocabulary::kWriteRate);
    if (ranks < 2 || !std::isfinite(rate)) return "";
    return fmt::format("{} MiB/s written", plain(rate / static_cast<double>(ranks)));
}

std::string shares(const Table& phases, const Run& run) {
    const char* const whose =
        model::workers_of(run) > 0 ? " of all ranks' and workers' time is" : " of all ranks' time is";
    std::vector<std::pair<double, std::string>> sorted;
    for (std::size_t row = 0; row < model::row_count(phases); ++row) {
        const double percent = model::number_at(phases, "percent", row);
        if (percent >= 1) sorted.emplace_back(percent, model::text_at(phases, "phase", row));
    }
    std::ranges::stable_sort(sorted, std::greater(), &std::pair<double, std::string>::first);
    std::vector<std::string> clauses;
    for (const auto& [percent, phase] : sorted)
        clauses.push_back(
            fmt::format("{}{} {}", readable_percent(percent), clauses.empty() ? whose : "", phase));
    return base::join(clauses, ", ");
}

// The ceiling that binds, and what of the strategy is compared with it: that has no waiting in it, and no
// other work, so that the rate of the whole job may be far lower.
std::string nearest(const Table& ceilings, const Run&) {
    for (std::size_t row = 0; row < model::row_count(ceilings); ++row) {
        if (model::text_at(ceilings, "binds", row) != "yes") continue;
        const std::string unit = model::text_at(ceilings, "unit", row);
        return fmt::format("{}, without waiting, is at {} of the nearest ceiling, {} at {} {}",
                           unit == "files/s" ? "opening and closing of files" : "writing and fsync",
                           readable_percent(model::number_at(ceilings, "percent", row)),
                           model::text_at(ceilings, "ceiling", row),
                           plain(model::number_at(ceilings, "value", row)), unit);
    }
    return "";
}

std::string writing_limit(const Run& run) {
    std::vector<std::string> parts;
    const auto add = [&](const char* table, std::string (*text_of)(const Table&, const Run&)) {
        const Table* stored = run.find_table(table);
        const std::string text = stored == nullptr ? "" : text_of(*stored, run);
        if (!text.empty()) parts.push_back(text);
    };
    add("io_phases", shares);
    add("ceilings", nearest);
    return base::join(parts, "; ");
}

// Otherwise the line of the rate says where the bytes came from.
std::string cache(const Run& run) {
    return model::storage_place(run).cache.empty() ? "nothing was read back" : "";
}

}  // namespace

std::string io_answer(const Run& run) {
    std::string rates = io_rates(run);
    if (rates.ends_with("\n\n")) rates.pop_back();
    return rates + screen_line("per rank", per_rank(run)) +
           screen_line("job", counted_time(run, vocabulary::kJobTime)) +
           screen_line("limit", writing_limit(run)) + screen_line("cache", cache(run));
}

std::string io_headline(const Run& run) {
    const Measurement* job = run.find(vocabulary::kJobTime);
    const double write = run.median(vocabulary::kWriteRate);
    const double read = run.median(vocabulary::kReadRate);
    return fmt::format("{}: {}{}{} on {} rank(s)", run.setting("strategy"),
                       job == nullptr ? "no job time" : readable_time(job->summary.median),
                       std::isfinite(write) ? fmt::format(", written at {} MiB/s", plain(write)) : "",
                       std::isfinite(read) ? fmt::format(", read at {} MiB/s", plain(read)) : "",
                       model::ranks_of(run));
}

}  // namespace ranklab::report::formats
