#include "host/process.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/numbers.hpp"
#include "base/proc_stat.hpp"

namespace ranklab::host {

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::int64_t memory_asked_bytes() {
    constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
    const auto number = [](const char* name) {
        const char* const text = std::getenv(name);
        return text == nullptr ? 0
                               : std::max<std::int64_t>(0, base::number_in<std::int64_t>(text).value_or(0));
    };
    const std::int64_t of_node = number("SLURM_MEM_PER_NODE");
    const std::int64_t asked =
        of_node > 0 ? of_node : number("SLURM_MEM_PER_CPU") * number("SLURM_CPUS_ON_NODE");
    return asked < (std::int64_t{1} << 40U) ? asked * kMiB : 0;
}

std::int64_t memory_bytes() {
    const auto pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::int64_t>(pages) * sysconf(_SC_PAGE_SIZE) : 0;
}

int thread_count() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
    }
    return 0;
}

double seconds_since_process_start() {
    const double started =
        std::stod(base::stat_field(base::stat_after_name("/proc/self"), 22));  // since boot
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double up = base::real(now.tv_sec) + base::real(now.tv_nsec) * 1e-9;
    return up - started / base::real(sysconf(_SC_CLK_TCK));
}

}  // namespace ranklab::host
