#include "report/model/job_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/frame/readable.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {

std::string use_text(const results::Run& run) {
    const results::Table* const table = run.find_table("job_use");
    double wall_s = 0, cpu_s = 0, cpus = 0, fullest = 0;
    std::map<std::string, double> memory;  // of a host the ranks' peaks together: the most at a time
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const auto at = [&](const char* column) { return number_at(*table, column, row); };
        wall_s = std::max(wall_s, at("wall_s"));
        cpu_s += at("cpu_s");
        cpus += at("host_cpus");
        fullest = std::max(fullest, memory[text_at(*table, "host", row)] += at("peak_rss_bytes"));
    }
    const double percent = 100 * cpu_s / (wall_s * cpus);
    if (!std::isfinite(percent)) return "";
    return fmt::format("{} of {} for {} (waiting in MPI counts), {} of memory{}", percent_text(percent),
                       counted(static_cast<std::size_t>(cpus), "CPU"), readable(wall_s, "s"),
                       readable(fullest, "B"), memory.size() > 1 ? " on the fullest host" : "");
}

}  // namespace ranklab::report::model
