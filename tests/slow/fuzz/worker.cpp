#include "fuzz/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "base/error.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

long long now_ns(clockid_t clock) {
    timespec time{};
    if (::clock_gettime(clock, &time) != 0) return 0;
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

long long cpu_ns_of(pid_t process) {
    clockid_t clock{};
    return ::clock_getcpuclockid(process, &clock) == 0 ? now_ns(clock) : 0;
}

base::Descriptor memory_file(const char* name) {
    base::Descriptor file(::memfd_create(name, 0));
    if (!file) throw std::runtime_error("memfd_create failed");
    return file;
}

Slot* shared_slot() {
    void* const memory =
        ::mmap(nullptr, sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    return new (memory) Slot;
}

// The first word behind that key in /proc/PID/status; "?" where there is none.
std::string status_word(const std::string& process, const std::string& key) {
    std::ifstream file("/proc/" + process + "/status");
    for (std::string word; file >> word; file.ignore(1000, '\n'))
        if (word == key + ":") return file >> word ? word : "?";
    return "?";
}

std::size_t status_kb(const std::string& process, const std::string& key) {
    return std::strtoull(status_word(process, key).c_str(), nullptr, 10);
}

// Of its first thread; gnuplot is one, which others may crowd out.
bool has_children(pid_t process) {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", process));
    return static_cast<bool>(file >> process);
}

// The high-water mark begins anew.
void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

void empty(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    fs::create_directories(folder);
}

// The sanitizer's own words, where it had any.
std::string last_words(const std::string& text) {
    const std::size_t at = text.find("==ERROR:");
    const std::size_t runtime = text.find("runtime error:");
    const std::size_t begin =
        std::min(at == std::string::npos ? text.size() : at,
                 runtime == std::string::npos ? text.size() : text.rfind('\n', runtime) + 1);
    return text.substr(begin == text.size() ? 0 : begin, 4000);
}

// HDF5 crashed, and the user was told of which file and what to do (hdf5/library_use.hpp).
bool tells_crash(int status, const std::string& text) {
    return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(base::ExitCode::wrong_data) &&
           text.find(": HDF5 crashed at work on this file") != std::string::npos;
}

}  // namespace

Worker::Worker(const Mutants& mutants, const Limits& limits, fs::path folder)
    : mutants_(mutants),
      limits_(limits),
      folder_(std::move(folder)),
      slot_(shared_slot()),
      out_(memory_file("out")),
      err_(memory_file("err")),
      said_(memory_file("said")) {}

Worker::~Worker() {
    if (busy()) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::munmap(slot_, sizeof(Slot));
}

void Worker::start(std::size_t first, std::size_t end, std::uint32_t edits) {
    end_ = end;
    slot_->number = first;
    slot_->started_ns = now_ns(CLOCK_MONOTONIC);
    slot_->cpu_ns = 0;
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("fork failed");
    if (child_ == 0) work(first, edits);
}

void Worker::work(std::size_t first, std::uint32_t edits) {
    // What is said at the end of all (a sanitizer's report) is the parent's to read.
    ::dup2(err_.get(), STDERR_FILENO);
    try {
        for (std::size_t number = first; number < end_; ++number) {
            slot_->number = number;
            Judge judge(*slot_, out_, err_);
            attempt(number, edits, judge);
            report(number, judge.take_failures());
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "the driver itself failed: {}\n", error.what());
        ::_exit(99);
    }
    ::_exit(0);  // no destructors: leaks of one mutant are not looked for
}

void Worker::attempt(std::size_t number, std::uint32_t edits, Judge& judge) {
    empty(folder_);
    const Input input = mutants_.make(number, folder_, edits);
    empty(folder_);
    forget_peak();
    slot_->cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    slot_->started_ns = now_ns(CLOCK_MONOTONIC);
    mutants_.attempt(number, input, folder_, judge);
    const std::size_t peak = status_kb("self", "VmHWM") * 1024;
    if (peak > limits_.bytes)
        report(number, {{"memory", slot_->command, fmt::format("{} MiB", peak >> 20U)}});
}

// One line each, which the parent reads when the child is done or dead.
void Worker::report(std::size_t number, const std::vector<Failure>& failures) {
    for (const auto& failure : failures) {
        const std::string line =
            nlohmann::json::array({number, failure.kind, failure.command, failure.detail})
                .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
            "\n";
        if (::write(said_.get(), line.data(), line.size()) < 0) ::_exit(98);
    }
}

// A process that waits for what does not come uses no CPU and is not ready to; one that others crowd out is.
std::optional<Failure> Worker::outlived() {
    const long long now = now_ns(CLOCK_MONOTONIC);
    const long long cpu = cpu_ns_of(child_);
    const char state = status_word(std::to_string(child_), "State").front();
    if (cpu != cpu_seen_ns_ || state == 'R' || slot_->started_ns > moved_at_ns_) moved_at_ns_ = now;
    cpu_seen_ns_ = cpu;
    const double used = static_cast<double>(cpu - slot_->cpu_ns) / 1e9;
    const double waited = static_cast<double>(now - moved_at_ns_) / 1e9;
    const double patience = (has_children(child_) ? 6 : 1) * limits_.cpu_s;
    if (used > limits_.cpu_s || waited > patience)
        return Failure{"hang", slot_->command,
                       fmt::format("{:.1f} s of CPU, then {:.1f} s still", used, waited)};
    const std::size_t resident = status_kb(std::to_string(child_), "VmRSS") * 1024;
    if (resident > 2 * limits_.bytes)
        return Failure{"memory", slot_->command, fmt::format("{} MiB and growing", resident >> 20U)};
    return std::nullopt;
}

bool Worker::look(Tally& tally) {
    const auto killed_for = outlived();
    if (killed_for) ::kill(child_, SIGKILL);
    int status = 0;
    if (::waitpid(child_, &status, killed_for ? 0 : WNOHANG) != child_) return false;
    child_ = 0;
    collect(tally);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    bury(tally, status, killed_for);
    return true;
}

void Worker::collect(Tally& tally) {
    std::istringstream lines(taken_from(said_));
    for (std::string line; std::getline(lines, line);) {
        const auto fields = nlohmann::json::parse(line);
        tally.found.push_back({fields[0], ~0U, {fields[1], fields[2], fields[3]}});
    }
    for (int code = 0; code < 256; ++code) {
        if (slot_->codes[code] > 0) tally.codes[code] += slot_->codes[code];
        slot_->codes[code] = 0;
    }
}

void Worker::bury(Tally& tally, int status, const std::optional<Failure>& killed_for) {
    static_cast<void>(taken_from(out_));
    const std::string text = taken_from(err_);
    const std::string words = last_words(text);
    const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                : fmt::format("exit {}", WEXITSTATUS(status));
    if (!killed_for && tells_crash(status, text))
        tally.told.push_back(slot_->number);
    else
        tally.found.push_back(
            {slot_->number, ~0U,
             killed_for ? *killed_for : Failure{"crash", slot_->command, how + ": " + words}});
    if (slot_->number + 1 < end_) start(slot_->number + 1, end_);
}

}  // namespace ranklab::fuzz
