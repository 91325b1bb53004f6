// The measurements: one entry per name with its unit, kind, better direction and definition. A new
// measurement is one entry in names/measurements.txt and the code that makes it.
// docs/measurement.md describes how each is measured.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/difference.hpp"

namespace ranklab::vocabulary {

/// cost: seconds, bytes or joules, which are summed and averaged. rate: computed from summed costs,
/// never averaged. ratio: never averaged. count: exact.
enum class Kind { cost, rate, ratio, count };

using stats::Better;

/// Where a measurement is shown by default: at this place and at all places after it.
enum class Shown {
    groups,   ///< tables of groups of runs
    compare,  ///< `ranklab compare`: few, since each further row costs significance (Holm)
    summary,  ///< the page's summary
    asked     ///< only if the user names it
};

struct Quantity {
    std::string_view name;  ///< "step_time_s": ends in the unit
    std::string_view unit;  ///< "s", "samples/s", "B", "1"
    Kind kind;
    Better better;
    std::string_view definition;    ///< with the formula
    std::string_view part_of = {};  ///< for a phase, the whole time: "step_time_s"
    std::string_view phase = {};    ///< "forward"
    Shown shown = Shown::asked;
    std::string_view shown_for = {};  ///< command: "train"
};

/// The name without its suffix: "time_us" of "time_us:allreduce:fp32:sum:8". One row describes the
/// whole family.
std::string_view family_of(std::string_view name);

/// All rows. Phases are in the order in which they happen.
std::span<const Quantity> quantities();
/// Returns nullptr for an unknown name, which another version may have stored.
const Quantity* find_quantity(std::string_view name);
/// Throws Error for an unknown name: a bug.
const Quantity& quantity(std::string_view name);

/// Names of the measurements that the place shows for runs of the command, in the table's order.
std::vector<std::string> shown_at(Shown place, std::string_view command);
/// The times that consist of phases, and the phases of one such time.
std::vector<const Quantity*> wholes();
std::vector<const Quantity*> parts_of(const Quantity& whole);
/// Throws Error for an unknown phase.
const Quantity& part_of(const Quantity& whole, std::string_view phase);

/// The better direction. For an unknown name the kind decides: less of a cost, more of a rate.
Better better_of(std::string_view name, Kind kind);

// Names that several libraries use; vocabulary_test checks them against the table.
inline constexpr std::string_view kStepTime = "step_time_s";
inline constexpr std::string_view kJobTime = "job_time_s";
inline constexpr std::string_view kLaunchTime = "launch_time_s";
inline constexpr std::string_view kEpochTime = "epoch_time_s";
inline constexpr std::string_view kReadTime = "read_time_s";
inline constexpr std::string_view kThroughput = "throughput_samples_per_s";
inline constexpr std::string_view kWriteRate = "write_MiBps";
inline constexpr std::string_view kReadRate = "read_MiBps";
inline constexpr std::string_view kFileRate = "files_per_s";
inline constexpr std::string_view kPeakMemory = "peak_rss_bytes";
inline constexpr std::string_view kPeakGpuMemory = "peak_gpu_bytes";
inline constexpr std::string_view kLoss = "train_loss";
inline constexpr std::string_view kTestLoss = "validation_loss";
inline constexpr std::string_view kAccuracy = "validation_accuracy";
inline constexpr std::string_view kLearningRate = "learning_rate";
inline constexpr std::string_view kLoadImbalance = "load_imbalance";
inline constexpr std::string_view kThreadCount = "threads";
inline constexpr std::string_view kOverlap = "overlap";
inline constexpr std::string_view kCallTime = "time_us";
inline constexpr std::string_view kBusBandwidth = "busbw_GBps";

}  // namespace ranklab::vocabulary
