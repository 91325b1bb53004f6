#include "campaign/plan.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/program.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "host/topology.hpp"

namespace ranklab::campaign {
namespace {

constexpr bool kIsMpich = std::string_view(RANKLAB_MPI_FAMILY) == "mpich";

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

int number_of(const std::string& text, int otherwise) {
    const int number = std::atoi(text.c_str());
    return number > 0 ? number : otherwise;
}

int hosts_of(const Launch& launch, const Machine& machine, const Need& need) {
    int hosts = 0;
    for (int placed = 0; placed < need.ranks && hosts < machine.hosts(); ++hosts) {
        const int room = std::max(1, machine.cores[static_cast<std::size_t>(hosts)] / need.cores);
        placed += launch.cyclic ? 1 : launch.ranks_per_node > 0 ? launch.ranks_per_node : room;
    }
    return hosts;
}

std::vector<std::string> srun_words(const Launch& launch, const Machine& machine,
                                    const Need& need) {
    const std::string mpi = variable("RANKLAB_SRUN_MPI");
    const int gpus = number_of(variable("SLURM_GPUS_PER_TASK"), 0);
    std::vector<std::string> words{"srun",
                                   "--exact",
                                   "--kill-on-bad-exit=1",
                                   "--mpi=" + (mpi.empty() ? (kIsMpich ? "pmi2" : "pmix") : mpi),
                                   fmt::format("--nodes={}", hosts_of(launch, machine, need)),
                                   fmt::format("--ntasks={}", need.ranks)};
    // Each rank sees all GPUs of its node and selects one, so that NCCL can use peer access.
    if (gpus > 0)
        words.insert(words.end(),
                     {fmt::format("--gpus-per-task={}", gpus * need.gpus), "--gpu-bind=none"});
    if (!launch.options.empty())
        words.insert(words.end(), launch.options.begin(), launch.options.end());
    else if (fits(machine, need))
        words.insert(words.end(),
                     {fmt::format("--cpus-per-task={}", need.cores), "--cpu-bind=cores",
                      launch.cyclic ? "--distribution=cyclic" : "--distribution=block"});
    else
        words.emplace_back("--overcommit");
    return words;
}

// mpirun options (MPICH's or Open MPI's) that bind each rank to `cores` cores.
std::vector<std::string> binding_options(const Launch& launch, int cores) {
    if (kIsMpich) {
        std::vector<std::string> words{"-bind-to", fmt::format("core:{}", cores)};
        if (launch.cyclic || launch.ranks_per_node > 0)
            words.insert(words.end(),
                         {"-ppn", std::to_string(launch.cyclic ? 1 : launch.ranks_per_node)});
        return words;
    }
    const std::string by = launch.cyclic ? "node"
                           : launch.ranks_per_node > 0
                               ? fmt::format("ppr:{}:node", launch.ranks_per_node)
                               : "slot";
    return {"--map-by", fmt::format("{}:PE={}", by, cores), "--bind-to", "core"};
}

std::vector<std::string> mpirun_words(const Launch& launch, const Need& need) {
    const std::vector<std::string> unbound =
        kIsMpich ? std::vector<std::string>{"-bind-to", "none"}
                 : std::vector<std::string>{"--oversubscribe", "--bind-to", "none"};
    std::vector<std::string> words{base::mpirun(), "-n", std::to_string(need.ranks)};
    const auto& more = !launch.options.empty() ? launch.options
                       : launch.bound          ? binding_options(launch, need.cores)
                                               : unbound;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// The child's part after fork. Makes a new session, so that Ctrl-C reaches only the parent, which
// passes it on.
[[noreturn]] void become(std::vector<char*>& words, const std::filesystem::path& log,
                         pid_t parent) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) std::signal(ignored, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    constexpr mode_t kMode = 0644;
    const int in = ::open("/dev/null", O_RDONLY);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode);
    if (in < 0 || out < 0) ::_exit(base::number_of(base::ExitCode::environment));
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(words.front(), words.data());
    ::dprintf(STDERR_FILENO, "%s cannot be started: %s\n", words.front(), std::strerror(errno));
    ::_exit(base::number_of(base::ExitCode::environment));
}

pid_t started(std::vector<std::string> words, const std::filesystem::path& log) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) become(arguments, log, parent);
    if (child < 0)
        throw base::EnvironmentError(
            fmt::format("{} cannot be started: {}", words.front(), std::strerror(errno)));
    return child;
}

// Whether a child of `process` still lives. Each thread of a process has its own children.
bool has_children(pid_t process) {
    std::error_code ended;
    for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), ended), end;
         at != end; at.increment(ended)) {
        std::ifstream children(at->path() / "children");
        for (pid_t child = 0; children >> child;) {
            std::ifstream words(fmt::format("/proc/{}/cmdline", child));  // a zombie has none
            if (words.peek() != EOF) return true;
        }
    }
    return false;
}

int code_of(int status) {
    constexpr int kSignals = 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignals + WTERMSIG(status);
}

}  // namespace

bool fits(const Machine& machine, const Need& need) {
    return need.ranks * need.cores <= std::reduce(machine.cores.begin(), machine.cores.end());
}

Machine this_machine() {
    const int here = std::max(1, host::cores_in(host::cpuset()));
    if (variable("SLURM_JOB_ID").empty()) return {1, here};
    Machine machine(number_of(variable("SLURM_JOB_NUM_NODES"), 1), here, true);
    if (auto cores = numbers_of_hosts(variable("SLURM_JOB_CPUS_PER_NODE")); !cores.empty())
        machine.cores = std::move(cores);
    return machine;
}

std::vector<int> numbers_of_hosts(const std::string& text) {
    std::vector<int> numbers;
    for (const auto& part : base::split(text, ',')) {
        const auto bracket = part.find("(x");
        const int number = number_of(part, 0);
        if (number == 0) return {};
        const int times = bracket == std::string::npos ? 1 : number_of(part.substr(bracket + 2), 1);
        numbers.insert(numbers.end(), static_cast<std::size_t>(times), number);
    }
    return numbers;
}

std::vector<std::string> launch_words(const Launch& launch, const Machine& machine,
                                      const Need& need) {
    return launch.srun ? srun_words(launch, machine, need) : mpirun_words(launch, need);
}

Ending run_logged(const std::vector<std::string>& words, const std::filesystem::path& log,
                  double limit_s, const std::function<void(const std::string&)>& waits) {
    constexpr double kGrace = 30, kMoreGrace = 15, kPatience = 5, kAlone = 10;
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = started(words, log);
    bool timed_out = false;
    int sent = 0;
    double now = 0, sent_at = 0, looked_at = 0;  // seconds
    std::optional<double> with_children_at;
    // Repeats a signal every 5 s: mpirun loses one that comes before it has started its ranks.
    const auto send = [&](int signal) {
        if (std::exchange(sent, signal) == signal && now - sent_at < 5) return;
        ::kill(child, signal);
        sent_at = now;
    };
    int status = 0;
    bool may_wait = true;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        now = base::seconds_since(start);
        // Looks in each turn until it sees the first child, which may be killed within a second.
        if (!with_children_at || now - looked_at > 1) {
            looked_at = now;
            if (has_children(child)) with_children_at = now;
        }
        timed_out = limit_s > 0 && now > limit_s + kGrace;
        // If ranks are killed while they start, Open MPI 4.1's mpirun may wait for ever in
        // PMIx_server_finalize, and ignores SIGTERM.
        if (now - with_children_at.value_or(now) > kAlone)
            send(SIGKILL);
        else if (timed_out)
            send(now > limit_s + kGrace + kMoreGrace ? SIGKILL : SIGTERM);
        else if (base::StopSignals::received() != 0)
            send(SIGUSR1);
        if (may_wait && now > kPatience) {
            may_wait = false;
            if (const auto line = end_of_log(log, 1); line.starts_with("srun: ")) waits(line);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {timed_out ? base::number_of(base::ExitCode::time_limit) : code_of(status),
            base::seconds_since(start)};
}

std::string end_of_log(const std::filesystem::path& log, std::size_t lines) {
    std::ifstream file(log);
    std::vector<std::string> own, any;
    bool in_block = false;
    for (std::string line; std::getline(file, line);) {
        const bool bar = line.size() > 1 && line.find_first_not_of("-=*") == std::string::npos;
        if (bar) in_block = !in_block;
        if (bar || base::trim(line).empty()) continue;
        any.push_back(base::printable(line, 600));
        if (!in_block) own.push_back(any.back());
    }
    auto& last = own.empty() ? any : own;
    if (last.size() > lines)
        last.erase(last.begin(), last.end() - static_cast<std::ptrdiff_t>(lines));
    return base::join(last, "\n");
}

}  // namespace ranklab::campaign
