#include "results/lock_wait.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/proc_stat.hpp"
#include "base/progress.hpp"

namespace ranklab::results {
namespace {

// "process 123 (sleep), which is stopped".
std::string process_text(long pid) {
    const std::string process = fmt::format("/proc/{}", pid);
    std::ifstream file(process + "/comm");
    std::string name;
    if (!std::getline(file, name)) return fmt::format("process {}", pid);
    const bool stopped = base::stat_after_name(process).starts_with('T');
    return fmt::format("process {} ({}){}", pid, name, stopped ? ", which is stopped," : "");
}

}  // namespace

LockWait LockWait::shortened(double most_s, const std::string& why) const {
    return patience_s > most_s ? LockWait{most_s, beat, why} : *this;
}

void Waiting::look(const std::filesystem::path& lock, const std::function<std::string()>& holder) {
    base::count_progress();
    if (how_.beat) how_.beat();
    const auto now = Clock::now();
    const double waited = base::seconds_between(begin_, now);
    if (waited >= how_.patience_s)
        throw base::EnvironmentError(
            fmt::format("{} has held {} for {:.0f} s or longer{}; look what it does, or end it", holder(),
                        lock.string(), waited,
                        how_.because.empty() ? "" : fmt::format(" ({})", how_.because)),
            how_.because.empty() ? base::Settings{"lock-timeout"} : base::Settings{});
    if (now < say_next_) return;
    base::log::info(fmt::format("waiting for {}, which holds {}; {:.0f} s so far, {:.0f} s at most", holder(),
                                lock.string(), waited, how_.patience_s));
    say_next_ = now + std::chrono::seconds(30);
}

void Waiting::pause() const {
    thread_local std::mt19937 random{std::random_device{}()};
    const int slower = Clock::now() - begin_ < std::chrono::seconds(2) ? 1 : 5;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(slower * std::uniform_int_distribution<int>(3, 20)(random)));
}

std::string flock_holder(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return "";
    const std::string wanted =
        fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
    std::ifstream locks("/proc/locks");
    std::string number, kind, advice, access, file, rest;
    long pid = 0;
    // A line with an arrow is of one who waits.
    while (locks >> number >> kind) {
        if (kind == "FLOCK" && locks >> advice >> access >> pid >> file && file == wanted && pid > 0)
            return process_text(pid);
        locks.clear();
        std::getline(locks, rest);
    }
    return "";
}

}  // namespace ranklab::results
