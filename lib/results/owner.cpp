#include "results/owner.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/proc_stat.hpp"

namespace ranklab::results {
namespace {

constexpr const char* kUnknown = "unknown";

std::string first_word(const char* path) {
    std::string word = kUnknown;
    std::ifstream(path) >> word;
    return word;
}

std::string own_pid_space() {
    std::error_code error;
    const auto link = std::filesystem::read_symlink("/proc/self/ns/pid", error);
    return error ? kUnknown : link.string();
}

std::string own_host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : kUnknown;
}

std::string stat_of(std::int64_t pid) {
    return base::stat_after_name(fmt::format("/proc/{}", pid));
}

std::string start_in(const std::string& stat) {
    return base::stat_field(stat, 22);
}

}  // namespace

Owner Owner::self() {
    std::random_device random;
    const std::int64_t pid = ::getpid();
    return {own_host(),
            first_word("/proc/sys/kernel/random/boot_id"),
            own_pid_space(),
            pid,
            start_in(stat_of(pid)),
            fmt::format("{:08x}{:08x}", random(), random())};
}

std::string Owner::text() const {
    return fmt::format("host {}\nkernel {}\npid_space {}\npid {}\nstart {}\ntoken {}\n", host, kernel,
                       pid_space, pid, start, token);
}

std::optional<Owner> Owner::parse(const std::string& text) {
    Owner owner;
    std::istringstream words(text);
    const auto read = [&](const char* key, auto& value) {
        std::string found;
        return words >> found && found == key && words >> value;
    };
    const bool whole = read("host", owner.host) && read("kernel", owner.kernel) &&
                       read("pid_space", owner.pid_space) && read("pid", owner.pid) &&
                       read("start", owner.start) && read("token", owner.token);
    return whole && owner.pid > 0 ? std::optional(owner) : std::nullopt;
}

Owner::State Owner::state() const {
    static const Owner here = self();
    if (kernel == kUnknown || kernel != here.kernel || pid_space != here.pid_space) return State::elsewhere;
    if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return State::dead;
    const std::string now = stat_of(pid);
    if (start_in(now).empty()) return State::alive;
    const bool ended = now.starts_with('Z') || now.starts_with('X');  // and its parent has not asked yet
    return start_in(now) == start && !ended ? State::alive : State::dead;
}

std::string Owner::name() const {
    return fmt::format("process {} on {}", pid, host);
}

}  // namespace ranklab::results
