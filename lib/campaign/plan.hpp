// The plan of a sweep: each combination of its options' values is a command line, repeated in
// random order. And how a command starts on several ranks: by mpirun or, inside an allocation of
// Slurm, by srun.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/options.hpp"

namespace ranklab::campaign {

/// Hosts and cores that commands can be started on: those of Slurm's allocation, or this host's.
struct Machine {
    Machine(int hosts = 1, int cores_of_each = 1, bool by_slurm = false)
        : cores(static_cast<std::size_t>(hosts), cores_of_each), allocated(by_slurm) {}

    std::vector<int> cores;  ///< of each host
    bool allocated;          ///< by Slurm

    int hosts() const { return static_cast<int>(cores.size()); }
    int least_cores() const { return *std::min_element(cores.begin(), cores.end()); }
};
Machine this_machine();

/// "64(x2),32" in Slurm's variables: 64, 64, 32. Empty if the text is no such list.
std::vector<int> numbers_of_hosts(const std::string& text);

struct Launch {
    bool srun = false;
    bool cyclic = false;     ///< place ranks round-robin over hosts; otherwise fill host after host
    int ranks_per_node = 0;  ///< maximum; 0: as many as the cores allow
    /// Whether mpirun binds ranks to cores; equal for all points of a sweep, which are compared.
    bool bound = true;
    /// The user's launcher options; if not empty, they replace ranklab's for placing and binding.
    std::vector<std::string> options = {};
};

/// What one command of a sweep needs; cores are per rank.
struct Need {
    int ranks = 1, cores = 1;
    int gpus = 1;  ///< per rank, in multiples of SLURM_GPUS_PER_TASK
};
/// Whether the machine has enough cores.
bool fits(const Machine& machine, const Need& need);
/// The launcher and its options, to be put before the command.
std::vector<std::string> launch_words(const Launch& launch, const Machine& machine,
                                      const Need& need);

struct Ending {
    int code = 0;  ///< exit code; 128 + N if signal N ended the command
    double seconds = 0;
};
/// Runs the command with its output in `log`, and waits for its end. Passes on a received signal
/// (StopSignals) as SIGUSR1, at which the ranks store what they have. Ends the command by SIGTERM
/// half a minute after `limit_s` (0: never) and by SIGKILL 15 s later; also by SIGKILL 10 s after
/// all processes that it started have ended. The command ends when this process ends. If srun waits
/// and says so, passes its line to `waits`, once.
Ending run_logged(const std::vector<std::string>& words, const std::filesystem::path& log,
                  double limit_s, const std::function<void(const std::string&)>& waits);

/// The last non-empty lines, without mpirun's framed messages if the log has other lines.
std::string end_of_log(const std::filesystem::path& log, std::size_t lines);

/// Names and texts of options, in the order of a command line.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The options of `ranklab sweep` itself.
struct SweepSettings {
    std::string ranks = "1", launcher = "auto", placement = "block";
    std::string output = "results/ranklab.h5";
    std::optional<std::string> threads, directory, scaling, launcher_options, label, config;
    int repeat = 3;
    std::optional<int> ranks_per_node;
    std::int64_t seed = 1;
    std::optional<double> time_limit;  ///< seconds
    std::uint64_t fits = 0;            ///< --fits: most bytes of a rank; 0: not asked
    bool dry_run = false, quiet = false, list = false;
};

/// Options of run_race().
struct RaceSettings {
    bool race = false;
    std::string min_effect = "3%";
    std::optional<int> budget;  ///< starts in all
    std::optional<std::string> write_config;
};

/// A sweep as the user asks for it.
struct SweepRequest {
    std::string program;
    SweepSettings own;
    Settings passed;  ///< the program's options: a value, or several separated by commas
    RaceSettings race = {};
};

/// One combination of options, and the command that measures it.
struct Point {
    std::string name;                ///< its options that vary in the sweep: "ranks=2,threads=1"
    std::vector<std::string> words;  ///< after "ranklab": "train", "--threads", "1"
    Need need;
};

struct Sweep {
    std::string program;  ///< train, io or comm
    std::string label;    ///< identifies the sweep's runs in the results file
    std::filesystem::path output;
    /// From inputs_hash(): runs with another hash do not count. Empty: all count.
    std::string inputs_hash = {};
    std::vector<std::string> keys = {};  ///< key columns of the sweep's table (keys_of in plan.cpp)
    std::vector<Point> points = {};
    int repeat = 1;
    std::uint64_t seed = 1;
    double limit_s = 0;           ///< seconds for one start; 0: no limit
    std::uint64_t fits = 0;       ///< names the fastest row whose ranks take at most these bytes
    std::string strategies = {};  ///< of io, comma-separated; a start makes one run per strategy
    Launch launch;
    Machine machine;
};

/// "train", "io", "comm"
const std::vector<std::string>& swept_programs();

/// The sweep's own options, and the program's options, which may have several values.
options::Schema sweep_options(const std::string& program);
SweepRequest request_of(const std::string& program, const options::Options& given);

/// How a sweep with these options starts its commands on the machine.
Launch launch_of(const SweepSettings& own, const Machine& machine);

/// A hash of the program and of the files that options name.
std::string inputs_hash(const SweepRequest& request);

/// Throws OptionError for a value that the program refuses, and for a batch option that does not
/// fit --scaling. `default_label`: the label if the request has none. `inputs_hash` is left empty.
Sweep plan_sweep(const SweepRequest& request, const Machine& machine,
                 const std::string& default_label);

/// The request as a command line, without "ranklab".
std::vector<std::string> words_of(const SweepRequest& request);
/// The options as words. A flag has no value.
std::vector<std::string> words_of(const options::Schema& schema, const Settings& settings);

/// One repetition of one point; repetitions count from 1.
struct Task {
    std::size_t point = 0;
    int repetition = 1;
};
/// Rounds of all points, each in a random order that follows from the seed, without the first
/// `done` repetitions of each point.
std::vector<Task> tasks_of(const Sweep& sweep, const std::vector<int>& done);

/// The command line that starts the point.
std::vector<std::string> command_of(const Sweep& sweep, const Point& point);

}  // namespace ranklab::campaign
