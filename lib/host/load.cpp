#include "host/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "base/numbers.hpp"

namespace ranklab::host {
namespace {

constexpr double kLeastSeconds = 1;

double own_cpu_seconds() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        for (const timeval& time : {used.ru_utime, used.ru_stime})
            sum += base::real(time.tv_sec) + 1e-6 * base::real(time.tv_usec);
    }
    return sum;
}

// Busy and total CPU time of `cpus` since boot; nullopt if /proc/stat lacks one of them. Its
// columns are user nice system idle iowait irq softirq steal (proc(5)). Only the first three count
// as busy: irq and softirq often come from the job's own network traffic.
std::optional<std::pair<double, double>> busy_and_all(const std::vector<int>& cpus,
                                                      const std::filesystem::path& root) {
    const double tick_s = 1 / base::real(sysconf(_SC_CLK_TCK));
    std::size_t seen = 0;
    double busy = 0, all = 0;
    std::ifstream in(root / "proc/stat");
    for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
        std::istringstream words(line.substr(3));
        int cpu = -1;
        std::array<double, 8> ticks{};
        if (line.starts_with("cpu ") || !(words >> cpu) || !std::ranges::binary_search(cpus, cpu))
            continue;
        for (double& value : ticks) words >> value;
        ++seen;
        busy += tick_s * std::accumulate(ticks.begin(), ticks.begin() + 3, 0.0);
        all += tick_s * std::accumulate(ticks.begin(), ticks.end(), 0.0);
    }
    return cpus.empty() || seen < cpus.size() ? std::nullopt : std::optional(std::pair(busy, all));
}

}  // namespace

UseMeter::UseMeter(int rank, const std::vector<Placement>& placements, std::filesystem::path root)
    : root_(std::move(root)) {
    const auto& mine = placements.at(static_cast<std::size_t>(rank));
    use_.rank = rank;
    use_.host = mine.host;
    use_.memory_asked_bytes = memory_asked_bytes();
    std::set<int> cpus;
    for (const auto& place : placements)
        if (place.host == mine.host) cpus.insert(place.cpus.begin(), place.cpus.end());
    if (mine.local_rank == 0) cpus_.assign(cpus.begin(), cpus.end());
    use_.host_cpus = static_cast<int>(cpus_.size());
    begin();
}

UseMeter::Moment UseMeter::now() const {
    Moment moment{.at_s = base::seconds_of(base::Clock::now().time_since_epoch()),
                  .cpu_s = own_cpu_seconds()};
    if (const auto times = busy_and_all(cpus_, root_))
        std::tie(moment.busy_s, moment.all_s) = *times;
    return moment;
}

Use UseMeter::use() const {
    const Moment end = end_.value_or(now());
    Use use = use_;
    use.seconds = end.at_s - begin_.at_s;
    use.cpu_s = end.cpu_s - begin_.cpu_s;
    use.process_s = seconds_since_process_start();
    use.process_cpu_s = own_cpu_seconds();
    use.peak_rss_bytes = peak_rss_bytes();
    // Some systems have /proc/stat but count nothing in it.
    if (begin_.all_s && end.all_s &&
        *end.all_s - *begin_.all_s >= 0.5 * use.seconds * use.host_cpus)
        use.busy_s = *end.busy_s - *begin_.busy_s;
    return use;
}

CoreWait::CoreWait(const std::vector<pid_t>& threads, const std::filesystem::path& root) {
    for (const pid_t thread : threads)
        files_.push_back(base::open_file(
            root / "proc/self/task" / std::to_string(thread) / "schedstat", O_RDONLY));
}

std::vector<double> CoreWait::seconds() const {
    std::vector<double> all;
    for (const auto& file : files_) all.push_back(seconds_in(file));
    return all;
}

// The file has a thread's time on CPUs in ns, its wait for a CPU in ns, and its time slices.
double CoreWait::seconds_in(const base::Descriptor& file) {
    std::array<char, 64> text{};
    if (::pread(file.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
    const char* const end_of_first = std::strchr(text.data(), ' ');
    return end_of_first == nullptr ? 0 : 1e-9 * std::atof(end_of_first);
}

std::vector<OtherLoad> other_loads(const std::vector<Use>& uses) {
    std::map<std::string, double> own;
    for (const auto& use : uses) own[use.host] += use.cpu_s;
    std::vector<OtherLoad> loads;
    for (const auto& use : uses)
        if (use.busy_s && use.seconds >= kLeastSeconds)
            loads.push_back({use.host, std::max(0.0, *use.busy_s - own[use.host]) / use.seconds,
                             use.host_cpus});
    return loads;
}

}  // namespace ranklab::host
