#include "base/motion_sensor.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/cast.hpp"
#include "base/clock.hpp"
#include "base/proc_stat.hpp"

namespace ranklab::base {
namespace {

namespace fs = std::filesystem;

// Less is what polling, timers and a library's own threads do: no work.
constexpr double kLeastShareOfCore = 0.01;
constexpr double kLeastCpuNs = 2e6;
constexpr std::uint64_t kLeastBytes = 4096;

// Calls that may wait for a file's disk or server. Of the first kind the first argument is the file.
constexpr long kCallsOnDescriptors[] = {SYS_read,    SYS_write,           SYS_pread64,   SYS_pwrite64,
                                        SYS_readv,   SYS_writev,          SYS_preadv,    SYS_pwritev,
                                        SYS_preadv2, SYS_pwritev2,        SYS_fsync,     SYS_fdatasync,
                                        SYS_lseek,   SYS_ftruncate,       SYS_fallocate, SYS_copy_file_range,
                                        SYS_close,   SYS_sync_file_range, SYS_fstat,     SYS_getdents64};
constexpr long kCallsOnPaths[] = {
    SYS_openat,     SYS_unlinkat,  SYS_renameat2, SYS_mkdirat,  SYS_linkat, SYS_statx,
    SYS_newfstatat, SYS_faccessat, SYS_msync,     SYS_truncate, SYS_statfs, SYS_fstatfs,
#ifdef SYS_open
    SYS_open,       SYS_unlink,    SYS_rename,    SYS_mkdir,    SYS_rmdir,  SYS_link,
    SYS_stat,       SYS_access,
#endif
};

template <std::size_t N>
bool is_one_of(const long (&calls)[N], long call) {
    return std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

std::string contents_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : "";
}

std::uint64_t number_after(const std::string& text, std::string_view key) {
    const auto at = text.find(key);
    std::uint64_t value = 0;
    if (at != std::string::npos)
        std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    return value;
}

bool is_on_disk(const std::string& descriptor) {
    struct stat facts {};
    return ::stat(descriptor.c_str(), &facts) == 0 &&
           (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode) || S_ISDIR(facts.st_mode));
}

// "74 0x3 0x0 ...": the call and its arguments; "running" where it is in none.
bool waits_for_file(const std::string& process, const std::string& task) {
    std::istringstream fields(contents_of(task + "/syscall"));
    long call = -1;
    std::string first;
    if (!(fields >> call >> first)) return false;
    if (is_one_of(kCallsOnPaths, call)) return true;
    if (!is_one_of(kCallsOnDescriptors, call)) return false;
    // -1 may show as 64 bits, of which an int is the lower half.
    const auto descriptor = static_cast<int>(std::strtoull(first.c_str(), nullptr, 16));
    return is_on_disk(process + "/fd/" + std::to_string(descriptor));
}

// In `stat` D sleeps for a disk and T was stopped.
bool in_file_call(const std::string& stat, const std::string& process, const std::string& task) {
    const char state = stat.empty() ? '?' : stat.front();
    return state == 'D' || (state != 'T' && state != 't' && waits_for_file(process, task));
}

std::uint64_t ticks_ns(const std::string& stat) {
    const std::uint64_t ticks =
        number_after(stat_field(stat, 14), "") + number_after(stat_field(stat, 15), "");
    return ticks * (1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code gone;
    for (fs::directory_iterator entry(folder, gone), end; !gone && entry != end; entry.increment(gone))
        names.push_back(entry->path().filename().string());
    return names;
}

bool holds(const std::vector<pid_t>& threads, const std::string& task) {
    const auto name = task.substr(task.rfind('/') + 1);
    return std::any_of(threads.begin(), threads.end(), [&](pid_t id) { return std::to_string(id) == name; });
}

// One of our threads that waits for other ranks; while the main thread does, none of ours does anything else.
bool waits_for_ranks(const IdleThreads& idle, const std::string& task) {
    const std::string own = "/proc/self/task/";
    if (task.compare(0, own.size(), own) != 0) return false;
    return holds(idle.waiting, own + std::to_string(::getpid())) || holds(idle.waiting, task);
}

}  // namespace

std::uint64_t detail::processor_ns(const std::string& schedstat, const std::string& stat) {
    // On a processor, and waiting for one: on a crowded machine a thread that computes may have to wait long.
    std::istringstream fields(schedstat);
    std::uint64_t on = 0;
    std::uint64_t waiting = 0;
    fields >> on >> waiting;
    return on + waiting > 0 ? on + waiting : ticks_ns(stat);
}

// Worker processes are children of ours; what they start themselves is not looked at.
MotionSensor::Sample MotionSensor::take(const IdleThreads& idle) const {
    Sample sample;
    add_process(sample, "/proc/self", idle);
    std::vector<std::string> children;
    for (const auto& task : names_in("/proc/self/task")) {
        std::istringstream fields(contents_of("/proc/self/task/" + task + "/children"));
        std::copy(std::istream_iterator<std::string>(fields), {}, std::back_inserter(children));
    }
    for (const auto& child : children) add_process(sample, "/proc/" + child, idle);
    return sample;
}

void MotionSensor::add_process(Sample& sample, const std::string& process, const IdleThreads& idle) {
    for (const auto& name : names_in(process + "/task")) {
        const std::string task = process + "/task/" + name;
        if (holds(idle.observing, task)) continue;
        const std::string io = contents_of(task + "/io");
        Usage& usage = sample.tasks[task];
        usage.bytes = number_after(io, "rchar: ") + number_after(io, "wchar: ") +
                      number_after(io, "\nread_bytes: ") + number_after(io, "\nwrite_bytes: ");
        const std::string stat = stat_after_name(task);
        usage.cpu_ns = detail::processor_ns(contents_of(task + "/schedstat"), stat);
        const bool wants_processor = stat.starts_with("R ") && !waits_for_ranks(idle, task);
        sample.may_work = sample.may_work || wants_processor || in_file_call(stat, process, task);
    }
}

bool MotionSensor::moved(const Sample& now, const IdleThreads& idle, double seconds) const {
    std::uint64_t cpu_ns = 0;
    std::uint64_t bytes = 0;
    for (const auto& [task, usage] : now.tasks) {
        const auto before = last_.tasks.find(task);
        const Usage past = before == last_.tasks.end() ? Usage{} : before->second;
        bytes += usage.bytes - std::min(past.bytes, usage.bytes);
        if (waits_for_ranks(idle, task)) continue;
        cpu_ns += usage.cpu_ns - std::min(past.cpu_ns, usage.cpu_ns);
    }
    return bytes >= kLeastBytes || real(cpu_ns) >= std::max(kLeastCpuNs, kLeastShareOfCore * 1e9 * seconds);
}

Motion MotionSensor::look() {
    const std::int64_t now = beats();
    const bool beaten = now != beats_;
    beats_ = now;
    const bool compares = compares_;
    compares_ = !beaten;
    if (beaten || detail::unhurried.load(std::memory_order_relaxed) > 0) return Motion::seen;
    const auto idle = idle_threads();
    Sample sample = take(idle);
    const auto when = std::chrono::steady_clock::now();
    const double seconds = seconds_between(when_, when);
    const bool seen = compares && moved(sample, idle, seconds);
    // Where there is no /proc no thread is seen.
    const bool may_work =
        sample.may_work || sample.tasks.empty() || detail::at_work.load(std::memory_order_relaxed) > 0;
    last_ = std::move(sample);
    when_ = when;
    if (seen) return Motion::seen;
    return may_work ? Motion::unknown : Motion::none;
}

}  // namespace ranklab::base
