#include "host/monitor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/numbers.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

double number_or_none(const fs::path& file, std::string_view word) {
    const auto number = number_behind(file, word);
    return number ? base::real(*number) : kNotKnown;
}

double run_queue_wait_s(const fs::path& process) {
    std::error_code gone;
    double sum = 0;
    for (const auto& task : fs::directory_iterator(process / "task", gone)) {
        std::ifstream in(task.path() / "schedstat");
        double ran_ns = 0, waited_ns = 0;
        if (in >> ran_ns >> waited_ns) sum += 1e-9 * waited_ns;
    }
    return gone ? kNotKnown : sum;
}

void add_network(Counters& counters, const fs::path& root) {
    std::ifstream in(root / "proc/net/dev");
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::istringstream name(line.substr(0, colon)), words(line.substr(colon + 1));
        std::string device;
        name >> device;
        std::array<double, 9> numbers{};
        for (double& number : numbers) words >> number;
        if (device == "lo" || !words) continue;
        if (std::isnan(counters.sent_bytes)) counters.sent_bytes = counters.received_bytes = 0;
        counters.received_bytes += numbers[0];
        counters.sent_bytes += numbers[8];
    }
}

// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", total in us.
double stalled_s(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    const auto at = line.find("total=");
    return at == std::string::npos ? kNotKnown : 1e-6 * std::atof(line.c_str() + at + 6);
}

Counters counters_of_process(pid_t pid);

// Whether the process is one of ranklab's programs.
bool is_own(pid_t pid, const fs::path& root) {
    std::ifstream in(root / "proc" / std::to_string(pid) / "comm");
    std::string name;
    return in >> name && name.starts_with("ranklab");
}

// Adds the living worker processes, not the daemon orted that a rank of Open MPI starts without
// mpirun. The process's own counters include ended children that it waited for
// (proc(5)).
void add_children(Counters& counters, pid_t pid, const fs::path& root) {
    const std::string self = std::to_string(pid);
    std::ifstream in(root / "proc" / self / "task" / self / "children");
    for (pid_t child = 0; in >> child;) {
        if (!is_own(child, root)) continue;
        const Counters more = counters_of_process(child);
        if (std::isnan(more.cpu_s)) continue;  // the child has just ended
        for (auto sum :
             {&Counters::cpu_s, &Counters::wait_s, &Counters::threads, &Counters::rss_bytes,
              &Counters::page_faults, &Counters::read_bytes, &Counters::written_bytes})
            counters.*sum += more.*sum;
    }
}

Counters counters_of_process(pid_t pid) {
    const fs::path root = system_root();
    const fs::path process = root / "proc" / std::to_string(pid);
    const auto stat = stat_fields(process / "stat");
    if (stat.size() < 22) return {};
    const double tick_s = 1 / base::real(sysconf(_SC_CLK_TCK));
    Counters counters{.cpu_s = tick_s * (stat[11] + stat[12] + stat[13] + stat[14]),
                      .wait_s = run_queue_wait_s(process),
                      .threads = stat[17],
                      .rss_bytes = stat[21] * base::real(sysconf(_SC_PAGESIZE)),
                      .page_faults = stat[7] + stat[8] + stat[9] + stat[10],
                      .read_bytes = number_or_none(process / "io", "rchar:"),
                      .written_bytes = number_or_none(process / "io", "wchar:")};
    add_children(counters, pid, root);
    return counters;
}

Counters counters_of_host() {
    const fs::path root = system_root();
    Counters counters;
    std::ifstream in(root / "proc/stat");
    std::string cpu;
    double user = 0, nice = 0, system = 0;
    if (in >> cpu >> user >> nice >> system)
        counters.cpu_s = (user + nice + system) / base::real(sysconf(_SC_CLK_TCK));
    const auto memory = root / "proc/meminfo";
    counters.rss_bytes =
        1024 * (number_or_none(memory, "MemTotal:") - number_or_none(memory, "MemAvailable:"));
    counters.page_faults = number_or_none(root / "proc/vmstat", "pgfault");
    add_network(counters, root);
    counters.stalled_s = stalled_s(root / "proc/pressure/cpu");
    return counters;
}

// An upper bound of a package's power; sample() derives from it when a counter may wrap around.
constexpr double kMostWatts = 1000;

// Other zones, the whole machine (psys) or parts of a package, would count energy twice.
bool is_package(const std::filesystem::path& zone) {
    std::ifstream in(zone / "name");
    std::string name;
    return in >> name && name.starts_with("package");
}

}  // namespace

Monitor::Monitor(const std::vector<MonitoredRank>& ranks, double interval_s)
    : host_(host_name()),
      began_(base::Clock::now()),
      last_(began_),
      interval_s_(interval_s),
      gpus_(ranks, interval_s, began_) {
    subjects_.push_back({-1, 0, counters_of_host()});
    for (const auto& one : ranks)
        subjects_.push_back({one.rank, one.pid, counters_of_process(one.pid)});
    ticker_ = base::every(std::chrono::duration<double>(interval_s), [this](double) { tick(); });
}

// Takes a last sample unless the previous one is too recent for a rate: CPU time has a resolution
// of 0.01 s.
Monitored Monitor::stop() {
    ticker_ = {};
    if (rows_.empty() || base::seconds_since(last_) > interval_s_ / 2) sample();
    cpu_energy_.sample();  // the energy must cover the whole run
    return {host_, std::move(rows_), gpus_.stop(), cpu_energy_.energy()};
}

// Halves the sampling rate whenever the number of rows has doubled, so that a long run's rows fit
// into memory.
void Monitor::tick() {
    if (++ticks_ % ticks_a_sample_ == 0) sample();
    if (rows_.size() < most_rows_) return;
    most_rows_ *= 2;
    ticks_a_sample_ *= 2;
}

void Monitor::sample() {
    const auto now = base::Clock::now();
    const double seconds = base::seconds_between(last_, now);
    last_ = now;
    if (seconds <= 0) return;
    cpu_energy_.sample();
    const double cpus = base::real(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    for (auto& [rank, pid, last] : subjects_) {
        const Counters is = rank < 0 ? counters_of_host() : counters_of_process(pid);
        // At least 0: a sum falls when a thread or child ends.
        const auto rate = [&](double Counters::*sum) {
            return std::max((is.*sum - last.*sum) / seconds, 0.0);
        };
        rows_.push_back({.time_s = base::seconds_between(began_, now),
                         .host = host_,
                         .rank = rank,
                         .cpu_percent = 100 * rate(&Counters::cpu_s) / (rank < 0 ? cpus : 1),
                         .wait_percent = 100 * rate(&Counters::wait_s),
                         .threads = is.threads,
                         .rss_bytes = is.rss_bytes,
                         .page_faults_per_s = rate(&Counters::page_faults),
                         .read_bytes_per_s = rate(&Counters::read_bytes),
                         .written_bytes_per_s = rate(&Counters::written_bytes),
                         .sent_bytes_per_s = rate(&Counters::sent_bytes),
                         .received_bytes_per_s = rate(&Counters::received_bytes),
                         .pressure_percent = 100 * rate(&Counters::stalled_s)});
        last = is;
    }
}

CpuEnergy::CpuEnergy(const std::filesystem::path& root) {
    const auto zones = root / "sys/class/powercap";
    for (int i = 0; std::filesystem::exists(zones / fmt::format("intel-rapl:{}", i)); ++i) {
        const auto zone = zones / fmt::format("intel-rapl:{}", i);
        if (!is_package(zone)) continue;
        const auto counter = zone / "energy_uj";
        packages_.push_back({counter, read_uj(zone / "max_energy_range_uj"), read_uj(counter)});
    }
    if (packages_.empty()) energy_.why_not = "/sys/class/powercap has no processor package";
    if (energy_.why_not.empty()) energy_.joules = 0;
}

// Keeps the first file's error as the reason why the energy is unknown.
double CpuEnergy::read_uj(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream in(file);
    double value = 0;
    if (in >> value && value >= 0) return value;
    if (energy_.why_not.empty())
        energy_ = {.why_not = fmt::format(
                       "{} cannot be read: {}", file.string(),
                       errno == 0 ? "no number" : std::generic_category().message(errno))};
    return 0;
}

void CpuEnergy::sample() {
    const double seconds = base::seconds_since(sampled_);
    sampled_ = base::Clock::now();
    for (auto& package : packages_) {
        if (!energy_.why_not.empty()) return;
        const double now = read_uj(package.counter), grown = now - package.last_uj;
        energy_.joules += 1e-6 * (grown < 0 ? grown + package.range_uj : grown);
        package.last_uj = now;
        package.moved |= grown != 0;
        if (seconds * kMostWatts > 1e-6 * package.range_uj)
            energy_ = {
                .why_not = fmt::format(
                    "the counters may have wrapped around in the {:.0f} s between two samples",
                    seconds)};
    }
}

Energy CpuEnergy::energy() const {
    for (const auto& package : packages_)
        if (!package.moved && energy_.why_not.empty())
            return {.why_not = fmt::format("{} stands still", package.counter.string())};
    return energy_;
}

}  // namespace ranklab::host
