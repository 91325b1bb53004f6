// A process strategy with real workers in a temporary folder, and the child processes of this one.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "io/strategy.hpp"
#include "temp_folder.hpp"

namespace ranklab::tests {

/// Strategies of rank 0 must not use their communicator: each call fails the test.
class NoCommunicator final : public comm::Communicator {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    void barrier() override { refuse(); }
    comm::Request start(const comm::Transfer&) override { refuse(); }
    std::unique_ptr<comm::Communicator> split(int, int) override { refuse(); }

  private:
    [[noreturn]] static void refuse() {
        throw std::logic_error("a serial strategy used its communicator");
    }
};

/// Parameters: the process strategies, with and without --async.
struct Way {
    const char* label;
    const char* strategy;
    bool async;
};
inline constexpr Way kWays[] = {{"pool", "process-pool", false},
                                {"pool_async", "process-pool", true},
                                {"queue", "process-queue", false}};
inline std::string label_of(const testing::TestParamInfo<Way>& way) {
    return way.param.label;
}

struct ProcessStrategyRun {
    ProcessStrategyRun(const std::string& wanted, std::int64_t files, std::int64_t size,
                       int workers) {
        job.files = files;
        job.size = size;
        job.workers = workers;
        job.worker_program = RANKLAB_IO_WORKER;
        job.directory = folder / "output";
        std::filesystem::create_directory(job.directory);
        name = wanted;
    }

    /// The strategy of `job` as it is now.
    void make() {
        for (const auto& entry : io::strategies())
            if (entry.name == name)
                strategy = entry.make(job, io::Place{ranks, times, [this](std::int64_t more) {
                                                         done += more;
                                                         if (on_done) on_done(more);
                                                     }});
        if (!strategy) throw std::logic_error("no such strategy: " + name);
    }
    void open() {
        make();
        strategy->open();
    }
    void all() {
        open();
        strategy->write();
        strategy->close();
    }

    TempFolder folder;
    NoCommunicator ranks;
    base::IoTimes times;
    io::Job job;
    std::string name;
    std::int64_t done = 0;
    std::function<void(std::int64_t)> on_done;
    std::unique_ptr<io::Strategy> strategy;
};

/// Child processes of `parent` in ascending order, which is the order of their start.
inline std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string number = entry.path().filename();
        if (number.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file(entry.path() / "stat");
        std::string text;
        std::getline(file, text);
        const auto name_end = text.rfind(')');
        if (name_end == std::string::npos) continue;
        std::istringstream rest(text.substr(name_end + 1));
        char state = 0;
        pid_t its_parent = 0;
        rest >> state >> its_parent;
        if (its_parent == parent) found.push_back(static_cast<pid_t>(std::stol(number)));
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// True without any child, living or zombie.
inline bool has_no_child() {
    return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

/// Waits at most 20 s for the condition.
inline bool eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return condition();
}

inline std::string bytes_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ranklab::tests
