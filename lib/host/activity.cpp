#include "host/activity.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/cast.hpp"
#include "base/path_folders.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

double seconds_of(const timeval& time) {
    return base::real(time.tv_sec) + 1e-6 * base::real(time.tv_usec);
}

std::optional<double> number_in(const fs::path& file) {
    std::ifstream in(file);
    double value = 0;
    return in >> value ? std::optional(value) : std::nullopt;
}

// user nice system idle iowait irq softirq steal (proc(5)). What interrupts take is often the job's own
// network.
struct Ticks {
    std::array<double, 8> of{};
    double busy() const { return of[0] + of[1] + of[2]; }
    double all() const { return busy() + of[3] + of[4] + of[5] + of[6] + of[7]; }
    double stolen() const { return of[7]; }
};

// Of each CPU; some are not in the file where a container numbers them anew.
std::map<int, Ticks> ticks_in(const fs::path& file) {
    std::map<int, Ticks> all;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
        std::istringstream words(line.substr(3));
        if (line.starts_with("cpu ")) continue;
        int cpu = 0;
        Ticks ticks;
        words >> cpu;
        for (double& value : ticks.of) words >> value;
        if (words) all[cpu] = ticks;
    }
    return all;
}

void add_times(Activity& activity, const std::vector<int>& cpus, const fs::path& root) {
    if (cpus.empty()) return;
    const auto all = ticks_in(root / "proc/stat");
    Ticks sum;
    for (const int cpu : cpus) {
        const auto found = all.find(cpu);
        if (found == all.end()) return;
        for (std::size_t i = 0; i < sum.of.size(); ++i) sum.of[i] += found->second.of[i];
    }
    const double per_second = base::real(sysconf(_SC_CLK_TCK));
    activity.busy_s = sum.busy() / per_second;
    activity.stolen_s = sum.stolen() / per_second;
    activity.all_s = sum.all() / per_second;
}

// Hardware threads have the count of their core, and that of their package.
std::map<std::string, double> throttled(const std::vector<int>& cpus, const fs::path& root) {
    std::map<std::string, double> counts;
    const auto note = [&](const std::string& of, const fs::path& file) {
        const auto count = number_in(file);
        if (count) counts[of] = std::max(counts[of], *count);
    };
    for (const auto& core : cores_of(cpus, root)) {
        for (const int cpu : core) {
            const auto folder = root / fmt::format("sys/devices/system/cpu/cpu{}", cpu);
            const auto package = number_in(folder / "topology/physical_package_id").value_or(0);
            note(fmt::format("core {}", core.front()), folder / "thermal_throttle/core_throttle_count");
            note(fmt::format("package {}", package), folder / "thermal_throttle/package_throttle_count");
        }
    }
    return counts;
}

std::optional<double> grown(const std::optional<double>& before, const std::optional<double>& after) {
    return before && after ? std::optional(std::max(0.0, *after - *before)) : std::nullopt;
}

// Each package and core by itself: one that did nothing must not hide another one's growth.
std::optional<double> grown(const std::map<std::string, double>& before,
                            const std::map<std::string, double>& after) {
    std::optional<double> sum;
    for (const auto& [of, count] : after)
        if (const auto was = before.find(of); was != before.end())
            sum = sum.value_or(0) + std::max(0.0, count - was->second);
    return sum;
}

// The host with the most, and how many are beyond the limit.
void note(std::optional<Quiet::Most>& most, double value, const std::string& host, double limit) {
    if (!most) most = Quiet::Most{value, host, 0};
    if (value > most->value) most = Quiet::Most{value, host, most->hosts};
    if (value > limit) most->hosts += 1;
}

void note_frequency(Quiet& quiet, const Span& span) {
    if (!span.mhz_before || !span.mhz_after) return;
    const auto moved = [](double a, double b) { return std::abs(a - b) / std::max(a, b); };
    if (!quiet.frequency || moved(*span.mhz_before, *span.mhz_after) >
                                moved(quiet.frequency->before_mhz, quiet.frequency->after_mhz))
        quiet.frequency = Quiet::Frequency{*span.mhz_before, *span.mhz_after, span.rank, span.host};
}

std::string place_of(const Quiet::Most& most) {
    return most.hosts > 1 ? fmt::format("{} (the most of {} such hosts)", most.host, most.hosts) : most.host;
}

// The folder of PATH that has it; "" where none does.
fs::path folder_of(const std::string& program, const fs::path& root) {
    std::error_code unknown;
    for (const auto& folder : base::path_folders())
        if (fs::exists(root / fs::path(folder).relative_path() / program, unknown))
            return root / fs::path(folder).relative_path();
    return {};
}

// Commands that were installed and never set up belong to no cluster.
bool has_slurm(const fs::path& root) {
    const fs::path folder = folder_of("sbatch", root);
    if (folder.empty()) return false;
    if (std::getenv("SLURM_CONF") != nullptr) return true;
    std::error_code unknown;
    const fs::path beside = folder.parent_path() / "etc";
    const fs::path places[] = {
        root / "etc/slurm", root / "etc/slurm-llnl", root / "etc", root / "run/slurm/conf", beside,
        beside / "slurm"};
    return std::ranges::any_of(places,
                               [&](const auto& place) { return fs::exists(place / "slurm.conf", unknown); });
}

bool in_slurm_job() {
    return std::getenv("SLURM_JOB_ID") != nullptr;
}

}  // namespace

fs::path system_root() {
    const char* root = std::getenv("RANKLAB_SYSTEM_ROOT");
    return root == nullptr ? "/" : root;
}

double own_seconds() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        sum += seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    return sum;
}

std::optional<CpuClock> cpu_clock(const fs::path& root) {
    const int cpu = sched_getcpu();
    if (cpu < 0) return std::nullopt;
    const auto khz =
        number_in(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
    return khz && *khz > 0 ? std::optional(CpuClock{cpu, *khz / 1000}) : std::nullopt;
}

Activity look_at(const std::vector<int>& cpus, const fs::path& root) {
    using Seconds = std::chrono::duration<double>;
    Activity activity;
    activity.at_s = Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    activity.throttled = throttled(cpus, root);
    add_times(activity, cpus, root);
    return activity;
}

Span span_of(const Activity& before, const Activity& after, int cpus) {
    Span span;
    span.cpus = cpus;
    span.seconds = after.at_s - before.at_s;
    span.throttled = grown(before.throttled, after.throttled);
    // Some systems have the file and count nothing in it.
    const auto counted = grown(before.all_s, after.all_s);
    if (!counted || *counted < 0.5 * span.seconds * cpus) return span;
    span.busy_s = grown(before.busy_s, after.busy_s);
    span.stolen_s = grown(before.stolen_s, after.stolen_s);
    return span;
}

void add_clocks(Span& span, const std::optional<CpuClock>& before, const std::optional<CpuClock>& after) {
    if (!before || !after || before->cpu != after->cpu) return;
    span.mhz_before = before->mhz;
    span.mhz_after = after->mhz;
}

Quiet quiet_of(const std::vector<Span>& spans) {
    std::map<std::string, double> own;
    for (const auto& span : spans) own[span.host] += span.own_s;
    Quiet quiet;
    for (const auto& span : spans) {
        if (span.seconds < kLeastSeconds) continue;
        note_frequency(quiet, span);
        if (!span.looks) continue;
        if (span.busy_s)
            note(quiet.others_cores, std::max(0.0, *span.busy_s - own[span.host]) / span.seconds, span.host,
                 kMostOthers);
        if (span.stolen_s && span.cpus > 0)
            note(quiet.stolen_percent, 100 * *span.stolen_s / (span.seconds * span.cpus), span.host,
                 kMostStolen);
        if (span.throttled) note(quiet.throttled, *span.throttled, span.host, 0);
    }
    return quiet;
}

std::vector<Finding> check_quiet(const Quiet& quiet) {
    std::vector<Finding> findings;
    const auto add = [&](const char* id, std::string what, std::string remedy) {
        findings.push_back({id, false, std::move(what), std::move(remedy)});
    };
    if (const auto& most = quiet.others_cores; most && most->value > kMostOthers)
        add("busy-cpus",
            fmt::format(
                "{}: other programs or the kernel kept {:.1f} of the ranks' CPUs busy (what the kernel "
                "or a file system's client does for this job's own files counts, too)",
                place_of(*most), most->value),
            in_slurm_job() ? "end other programs, or take a node of your own (sbatch --exclusive)"
                           : "end other programs, or take a node of your own");
    if (const auto& most = quiet.stolen_percent; most && most->value > kMostStolen)
        add("stolen-time",
            fmt::format("{}: the hypervisor gave {:.1f} % of the CPUs' time to others (steal)",
                        place_of(*most), most->value),
            "repeat later, or on an unshared machine");
    if (const auto& most = quiet.throttled; most && most->value > 0)
        add("throttled",
            fmt::format("{}: the processor slowed itself down {:.0f} times (heat or power limit)",
                        place_of(*most), most->value),
            "look to its cooling, or leave it time");
    if (const auto& clock = quiet.frequency;
        clock && std::abs(clock->before_mhz - clock->after_mhz) >
                     kMostMoved * std::max(clock->before_mhz, clock->after_mhz))
        add("clock-moved",
            fmt::format("{}: while it counted, the CPU of rank {} went from {:.0f} to {:.0f} MHz",
                        clock->host, clock->rank, clock->before_mhz, clock->after_mhz),
            "fix its frequency (governor performance), or warm up longer");
    return findings;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Quiet& quiet) {
    std::vector<std::pair<std::string, std::string>> facts;
    const auto add = [&](const char* name, const std::optional<Quiet::Most>& most, int digits) {
        if (!most) return;
        facts.emplace_back(name, fmt::format("{:.{}f}", most->value, digits));
        facts.emplace_back(std::string(name) + "_host", most->host);
    };
    add("others_cores", quiet.others_cores, 2);
    add("stolen_percent", quiet.stolen_percent, 2);
    add("throttled", quiet.throttled, 0);
    if (quiet.frequency)
        facts.emplace_back("frequency_MHz",
                           fmt::format("{:.0f} then {:.0f} on {}", quiet.frequency->before_mhz,
                                       quiet.frequency->after_mhz, quiet.frequency->host));
    return facts;
}

std::optional<Finding> check_login_node(const fs::path& root) {
    if (in_slurm_job() || !has_slurm(root)) return std::nullopt;
    return Finding{
        "login-node", false,
        fmt::format("{} has Slurm's commands, and this is no job of it: on a login node others work too",
                    host_name()),
        "use sbatch or salloc"};
}

}  // namespace ranklab::host
