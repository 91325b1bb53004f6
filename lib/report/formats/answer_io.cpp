// The answer of `ranklab io`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/answer.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Run;
using results::Table;

// "312 MiB/s (300 .. 320), 327 MB/s, n = 7; ext4, no fsync"
std::string rate_of(const Run& run, std::string_view measurement, const std::string& where) {
    const auto* m = run.find(measurement);
    if (m == nullptr || m->summary.n == 0) return "";
    constexpr double kMiB = 1024.0 * 1024.0;
    return fmt::format("{}, {} MB/s, n = {}; {}", readable(m->summary.median, m->summary.ci95, m->unit),
                       digits(m->summary.median * kMiB / 1e6), m->summary.n, where);
}

std::string shares(const Run& run) {
    const Table* phases = run.find_table("io_phases");
    std::vector<std::pair<double, std::string>> sorted;
    for (std::size_t row = 0; phases != nullptr && row < model::row_count(*phases); ++row)
        if (const double percent = model::number_at(*phases, "percent", row); percent >= 1) {
            const std::string phase = model::text_at(*phases, "phase", row);
            const bool holds_others = phase == "job" || phase == "record";  // what their parts do not explain
            sorted.emplace_back(percent, holds_others ? "other" : phase);
        }
    std::ranges::stable_sort(sorted, std::greater(), &std::pair<double, std::string>::first);
    std::vector<std::string> parts;
    for (const auto& [percent, phase] : sorted) parts.push_back(percent_text(percent) + " " + phase);
    return parts.empty() ? "" : model::some_of(parts, 4) + " of all ranks' time";
}

// The ceiling that binds, beside the strategy's own writing and fsync, or opening and closing, without
// waiting.
std::string nearest_ceiling(const Run& run) {
    const Table* ceilings = run.find_table("ceilings");
    for (std::size_t row = 0; ceilings != nullptr && row < model::row_count(*ceilings); ++row)
        if (model::text_at(*ceilings, "binds", row) == "yes")
            return fmt::format(
                "{} of {}, {}", percent_text(model::number_at(*ceilings, "percent", row)),
                model::text_at(*ceilings, "ceiling", row),
                readable(model::number_at(*ceilings, "value", row), model::text_at(*ceilings, "unit", row)));
    return "";
}

std::string bytes_of(const Run& run) {
    const double edge = std::strtod(run.setting("size").c_str(), nullptr);
    return readable(std::strtod(run.setting("files").c_str(), nullptr) * edge * edge * 8, "B");
}

std::string ladder_answer(const model::Ladder& ladder) {
    std::string text = text_of(model::frame_of(ladder, true, false));
    for (std::size_t i = 1; i < ladder.findings.size(); ++i)
        text += base::wrapped("  ", sentence(ladder.findings[i]));
    return text;
}

}  // namespace

std::string io_answer(const Run& run) {
    if (const auto ladder = model::ladder_of(run); !ladder.rows.empty()) return ladder_answer(ladder);
    const auto place = model::storage_place(run);
    const double written = run.median("file_bytes");
    const std::string on_disk = std::isfinite(written) ? ", " + readable(written, "B") + " on disk" : "";
    return screen_line("records", fmt::format("{}, {} of numbers{}, by {}", model::records_text(run),
                                              bytes_of(run), on_disk, run.setting("strategy"))) +
           screen_line("write",
                       rate_of(run, vocabulary::kWriteRate,
                               model::place_text({.file_system = place.file_system, .fsync = place.fsync}))) +
           screen_line("read", rate_of(run, vocabulary::kReadRate,
                                       place.cache.empty() ? "" : "cache " + place.cache)) +
           screen_line("job", counted_time(run, vocabulary::kJobTime)) + screen_line("limit", shares(run)) +
           screen_line("ceiling", nearest_ceiling(run));
}

std::string io_verification(const Run& run) {
    const auto rows = model::ladder_of(run).rows;
    if (rows.empty()) return "";
    std::vector<std::string> others;
    bool failed = false;
    for (const auto& row : rows) {
        if (row.verified != "yes") others.push_back(row.name);
        failed = failed || row.verified == "NO";
    }
    if (others.empty()) return "yes: every value of each strategy";
    return fmt::format("{} {}", failed ? "NO; not right or not verified:" : "not all; not verified:",
                       base::join(others, ", "));
}

std::string io_result(const Run& run) {
    const auto ladder = model::ladder_of(run);
    if (!ladder.rows.empty()) return sentence(ladder.findings.front());
    const auto* job = run.find(vocabulary::kJobTime);
    const auto rate = [&](std::string_view name, const char* verb) {
        const double median = run.median(name);
        return std::isfinite(median) ? fmt::format(", {} {}", verb, readable(median, "MiB/s")) : "";
    };
    return fmt::format("{}: {}{}{} on {}", run.setting("strategy"),
                       job == nullptr ? "no job time" : readable(job->summary.median, job->summary.ci95, "s"),
                       rate(vocabulary::kWriteRate, "written at"), rate(vocabulary::kReadRate, "read at"),
                       counted(static_cast<std::size_t>(model::ranks_of(run)), "rank"));
}

}  // namespace ranklab::report::formats
