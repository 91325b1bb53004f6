#include "report/model/io_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/model/values.hpp"

namespace ranklab::report::model {

using results::Measurement;
using results::Run;

bool is_rung(const Run& run) {
    const Measurement* time = run.find("job_time_s");
    return run.command == "io" && run.find_table("ladder") == nullptr && time != nullptr &&
           time->summary.n > 0 && !run.setting("strategy").empty();
}

TimeWithInterval job_time(const Run& run) {
    const stats::Summary& s = run.find("job_time_s")->summary;
    return {s.median, s.ci95};
}

// job_time_s has a column a rank that took part; of a run read without samples the options say it.
std::int64_t ranks_of(const Run& run) {
    const Measurement* time = run.find("job_time_s");
    if (time != nullptr && !time->samples.empty()) return static_cast<std::int64_t>(time->columns);
    const std::string text = run.setting("ranks");
    const auto hosts = static_cast<std::int64_t>(run.hosts.size());
    return std::max<std::int64_t>(1, text.empty() ? hosts : std::strtoll(text.c_str(), nullptr, 10));
}

std::int64_t workers_of(const Run& run) {
    if (!run.setting("strategy").starts_with("process-")) return 0;
    const std::string text = run.setting("workers");
    return text.empty() ? 1 : std::max<std::int64_t>(1, std::strtoll(text.c_str(), nullptr, 10));
}

std::string records_text(const Run& run) {
    return fmt::format("{} records of {} x {} float64", run.setting("files"), run.setting("size"),
                       run.setting("size"));
}

bool same_records(const Run& a, const Run& b) {
    return a.setting("files") == b.setting("files") && a.setting("size") == b.setting("size");
}

}  // namespace ranklab::report::model
