#include "host/process.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"

extern char** environ;

namespace ranklab::host {
namespace {

constexpr std::size_t kStartTicks = 19;  // index of starttime (clock ticks since boot)
constexpr const char* kUnknown = "unknown";

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) && !line.empty() ? line : std::string(kUnknown);
}

// The value of `key` in a /proc file with lines "key : value".
std::string proc_value(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && base::trim(line.substr(0, colon)) == key)
            return base::trim(line.substr(colon + 1));
    }
    return kUnknown;
}

// Free space in /dev/shm, through which MPI exchanges messages on a host. Rounded down to a power
// of two, since it varies from run to run; 1 GiB or more does not limit MPI.
std::string free_shared_memory() {
    struct statvfs place {};
    if (::statvfs("/dev/shm", &place) != 0) return kUnknown;
    const std::uint64_t bytes = std::bit_floor(std::uint64_t{place.f_bavail} * place.f_frsize);
    return bytes >= std::uint64_t{1} << 30U ? "1 GiB or more"
                                            : base::human_bytes(static_cast<double>(bytes));
}

// SLURM_JWT, for example, is a login token.
bool is_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 5> kSecret{"JWT", "TOKEN", "SECRET", "PASSW",
                                                             "_KEY"};
    return std::any_of(kSecret.begin(), kSecret.end(),
                       [&](auto s) { return name.find(s) != std::string_view::npos; });
}

}  // namespace

// Searches the last bracket: field 2, the program's name in brackets, may hold blanks and brackets.
std::vector<double> stat_fields(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    std::vector<double> fields;
    if (const auto end = line.rfind(')'); end != std::string::npos) {
        std::istringstream words(line.substr(end + 1));
        std::string state;
        words >> state;
        fields.push_back(0);
        for (double value = 0; words >> value;) fields.push_back(value);
    }
    return fields;
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::int64_t memory_asked_bytes() {
    constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
    const auto number = [](const char* name) {
        const char* const text = std::getenv(name);
        return text == nullptr
                   ? 0
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
    return up - stat_fields("/proc/self/stat").at(kStartTicks) / base::real(sysconf(_SC_CLK_TCK));
}

std::string process_instance() {
    return fmt::format("{} {} {:.0f}", host_name(), getpid(),
                       stat_fields("/proc/self/stat").at(kStartTicks));
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

std::filesystem::path system_root() {
    const char* const root = std::getenv("RANKLAB_SYSTEM_ROOT");
    return root == nullptr ? "/" : root;
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string cpu_model() {
    return proc_value("/proc/cpuinfo", "model name");
}

std::string governor_of(const std::vector<int>& cpus, const std::filesystem::path& root) {
    std::set<std::string> names;
    for (const int cpu : cpus)
        names.insert(first_line(
            root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu)));
    names.erase(kUnknown);
    return fmt::format("{}", fmt::join(names, " and "));
}

std::vector<std::pair<std::string, std::string>> host_facts() {
    utsname system{};
    uname(&system);
    const std::string load = first_line("/proc/loadavg");
    return {
        {"kernel", fmt::format("{} {}", system.sysname, system.release)},
        {"machine", system.machine},
        {"cpu", cpu_model()},
        {"logical_cpus", fmt::format("{}", std::thread::hardware_concurrency())},
        {"numa_nodes", first_line("/sys/devices/system/node/online")},
        {"memory", proc_value("/proc/meminfo", "MemTotal")},
        {"shared_memory", free_shared_memory()},
        {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
        {"transparent_hugepages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
        {"load_1min", load.substr(0, load.find(' '))},
    };
}

std::vector<std::pair<std::string, std::string>> allowed_environment() {
    static constexpr std::array<std::string_view, 14> kPrefixes{
        "OMP_", "NCCL_",  "UCX_",  "OMPI_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_",
        "FI_",  "ROMIO_", "HDF5_", "SLURM_",    "ONEDNN_",    "DNNL_",  "ATEN_"};
    static constexpr std::array<std::string_view, 4> kOfGpus{
        "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
    std::vector<std::pair<std::string, std::string>> facts;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        const auto name = text.substr(0, equals);
        if (base::is_launchers_own(name) || is_secret(name)) continue;
        const bool allowed = std::ranges::find(kOfGpus, name) != kOfGpus.end() ||
                             std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                         [&](auto p) { return name.substr(0, p.size()) == p; });
        if (allowed) facts.emplace_back(name, text.substr(equals + 1));
    }
    std::sort(facts.begin(), facts.end());
    return facts;
}

}  // namespace ranklab::host
