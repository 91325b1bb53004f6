#include "host/process.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/numbers.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

// When the kernel started this process, in its ticks since boot: field 22 of proc(5)'s stat. Field 2, the
// name, may hold blanks and brackets.
std::string start_ticks() {
    std::ifstream file("/proc/self/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    std::istringstream fields(stat.substr(stat.rfind(')') + 1));
    std::string field;
    for (int number = 3; number <= 22; ++number) fields >> field;
    return field;
}

}  // namespace

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
    std::error_code unknown;
    const std::filesystem::directory_iterator threads("/proc/self/task", unknown);
    return static_cast<int>(std::distance(begin(threads), end(threads)));
}

double seconds_since_process_start() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double up = base::real(now.tv_sec) + base::real(now.tv_nsec) * 1e-9;
    return up - std::stod(start_ticks()) / base::real(sysconf(_SC_CLK_TCK));
}

std::string process_instance() {
    return fmt::format("{} {} {}", host_name(), getpid(), start_ticks());
}

void StartUp::done(std::string part) {
    if (finished_) return;
    const double now = seconds_since_process_start();
    parts_.push_back({std::move(part), now - until_});
    until_ = now;
}

void StartUp::finish(std::string part) {
    done(std::move(part));
    finished_ = true;
}

}  // namespace ranklab::host
