// The plan of a sweep: each combination of its options' values is a command line, repeated in
// random order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/launch.hpp"
#include "options/options.hpp"

namespace ranklab::campaign {

/// Names and texts of options, in the order of a command line.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The options of `ranklab sweep` itself.
struct SweepSettings {
    std::string ranks, launcher, placement, output;
    std::optional<std::string> threads, directory, scaling, launcher_options, label, config;
    int repeat = 1;
    std::optional<int> ranks_per_node;
    std::int64_t seed = 1;
    std::optional<double> time_limit;  ///< seconds
    bool dry_run = false, quiet = false, list = false;
};

/// A sweep as the user asks for it.
struct SweepRequest {
    std::string program;
    SweepSettings own;
    Settings passed;  ///< the program's options: one value each, or several with commas
};

/// One combination, and what starts it.
struct Point {
    std::string name;                ///< its differing options: "ranks=2,threads=1"
    std::vector<std::string> words;  ///< behind "ranklab": "train", "--threads", "1"
    Need need;
};

struct Sweep {
    std::string program;  ///< train, io or comm
    std::string label;    ///< identifies the sweep's runs in the results file
    std::filesystem::path output;
    std::vector<std::string> keys = {};  ///< what the points differ in, and what they scale over
    std::vector<Point> points = {};
    int repeat = 1;
    std::uint64_t seed = 1;
    double limit_s = 0;           ///< of a point; 0: none
    std::string strategies = {};  ///< io: each of them is a run of a point's process
    Launch launch;
    Machine machine;
};

/// "train", "io", "comm"
const std::vector<std::string>& swept_programs();

/// The sweep's own options and those of the program that it starts, with one or several values
/// each.
options::Schema sweep_options(const std::string& program);
SweepRequest request_of(const std::string& program, const options::Options& given);

/// Throws OptionError for a value that the program does not take, and for a ladder that --scaling
/// does not describe. `default_label`: the label if the request has none.
Sweep plan_sweep(const SweepRequest& request, const Machine& machine,
                 const std::string& default_label);

/// The request as a command line behind "ranklab".
std::vector<std::string> words_of(const SweepRequest& request);
/// The options as words. A flag has no value.
std::vector<std::string> words_of(const options::Schema& schema, const Settings& settings);

/// The start of one repetition of one point, the first being 1.
struct Task {
    std::size_t point = 0;
    int repetition = 1;
};
/// Rounds of all points, each in another random order that follows from the seed; `done`: how many
/// repetitions each point has, which are left out.
std::vector<Task> tasks_of(const Sweep& sweep, const std::vector<int>& done);

/// The command line that starts the point.
std::vector<std::string> command_of(const Sweep& sweep, const Point& point);

}  // namespace ranklab::campaign
