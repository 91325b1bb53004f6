#include "report/io_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/values.hpp"

namespace ranklab::report {

using results::Measurement;
using results::Run;

Speedup speedup(const TimeWithInterval& base, const TimeWithInterval& time) {
    return {base.median_s / time.median_s, {base.s.low / time.s.high, base.s.high / time.s.low}};
}

bool is_rung(const Run& run) {
    const Measurement* time = run.find("job_time_s");
    return run.command == "io" && run.find_table("ladder") == nullptr && time != nullptr &&
           time->summary.n > 0 && !config_of(run, "strategy").empty();
}

TimeWithInterval job_time(const Run& run) {
    const stats::Summary& s = run.find("job_time_s")->summary;
    return {s.median, s.ci95};
}

std::int64_t ranks_of(const Run& run) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(run.hosts.size()));
}

std::int64_t workers_of(const Run& run) {
    const std::string text = config_of(run, "workers");
    return text.empty() ? 1 : std::max<std::int64_t>(1, std::strtoll(text.c_str(), nullptr, 10));
}

std::string records_text(const Run& run) {
    return fmt::format("{} records of {} x {} float64", config_of(run, "files"), config_of(run, "size"),
                       config_of(run, "size"));
}

bool same_records(const Run& a, const Run& b) {
    return config_of(a, "files") == config_of(b, "files") && config_of(a, "size") == config_of(b, "size");
}

}  // namespace ranklab::report
