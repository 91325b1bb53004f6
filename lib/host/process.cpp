#include "host/process.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/proc_stat.hpp"
#include "base/thread_trial.hpp"

namespace ranklab::host {

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

bool restart_peak_rss() {
    malloc_trim(0);
    std::ofstream marks("/proc/self/clear_refs");
    return static_cast<bool>(marks << "5" << std::flush);
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

void require_address_space(std::uint64_t more_bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const std::uint64_t needed = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)) + more_bytes;
    if (limit.rlim_cur >= needed) return;
    throw base::EnvironmentError(fmt::format(
        "the address space is limited to {} MiB (ulimit -v), and this program needs {} MiB at least; "
        "raise the limit, or limit resident memory instead",
        limit.rlim_cur >> 20U, needed >> 20U));
}

namespace {

struct Least {
    __rlimit_resource_t resource;
    const char* what;
    const char* option;
    rlim_t least;
    rlim_t unit;
    const char* unit_name;
};

// Measured with Open MPI 4.1.4: 4 MiB, 26 and 512 KiB do.
constexpr Least kLeastOfLoneMpi[] = {
    {RLIMIT_FSIZE, "files are limited to", "-f", rlim_t{8} << 20U, 1024, " KiB"},
    {RLIMIT_NOFILE, "open files are limited to", "-n", 40, 1, ""},
    {RLIMIT_STACK, "the stack is limited to", "-s", rlim_t{1} << 20U, 1024, " KiB"},
};

// Of the daemon and of this process; measured with Open MPI 4.1.4 (ulimit -u).
constexpr std::size_t kThreadsOfLoneMpi = 8;
// Its session folder; with less of either it fails in many words.
constexpr std::uint64_t kRoomOfLoneMpi = std::uint64_t{8} << 20U;
constexpr std::uint64_t kFilesOfLoneMpi = 64;

// Where Open MPI keeps its own files, as it looks for the place.
std::string folder_of_lone_mpi() {
    for (const char* name : {"OMPI_MCA_orte_tmpdir_base", "TMPDIR", "TEMP", "TMP"})
        if (const char* const folder = std::getenv(name); folder != nullptr && *folder != '\0') return folder;
    return "/tmp";
}

}  // namespace

void require_limits_of_lone_mpi() {
    if (const auto folder = folder_of_lone_mpi(); ::access(folder.c_str(), W_OK | X_OK) != 0)
        throw base::EnvironmentError(fmt::format(
            "MPI keeps files of its own in {}, and this user may not write there ({}); set TMPDIR to "
            "a folder where files can be made",
            folder, std::strerror(errno)));
    if (struct statvfs disk{}; statvfs(folder_of_lone_mpi().c_str(), &disk) == 0 &&
                               (disk.f_bavail * disk.f_frsize < kRoomOfLoneMpi ||
                                (disk.f_files > 0 && disk.f_favail < kFilesOfLoneMpi)))
        throw base::EnvironmentError(
            fmt::format("MPI keeps files of its own in {}, where {} KiB and {} files are free; it needs {} "
                        "KiB and {} files: "
                        "free some, or set TMPDIR to another folder",
                        folder_of_lone_mpi(), disk.f_bavail * disk.f_frsize / 1024, disk.f_favail,
                        kRoomOfLoneMpi / 1024, kFilesOfLoneMpi));
    if (const auto threads = base::ThreadTrial(kThreadsOfLoneMpi).started(); threads < kThreadsOfLoneMpi)
        throw base::EnvironmentError(fmt::format(
            "this user may start {} more threads (ulimit -u), and MPI needs {} at least, with those of "
            "what it starts beside this process; raise the limit, or end other programs",
            threads, kThreadsOfLoneMpi));
    for (const auto& [resource, what, option, least, unit, unit_name] : kLeastOfLoneMpi) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least)
            continue;
        throw base::EnvironmentError(fmt::format(
            "{} {}{} (ulimit {}), and MPI needs {}{} at least for what it starts beside this process; raise "
            "the limit",
            what, limit.rlim_cur / unit, unit_name, option, least / unit, unit_name));
    }
}

int thread_count() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
    }
    return 0;
}

namespace {

std::string program_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/comm", process));
    std::string name;
    std::getline(file, name);
    return name;
}

pid_t parent_of(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
    return 0;
}

}  // namespace

std::string starter_name() {
    constexpr std::string_view kHelper = "hydra_pmi_proxy";  // mpiexec's, one on each host
    const auto parent = getppid();
    const auto name = program_of(parent);
    return name == kHelper ? program_of(parent_of(parent)) : name;
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
