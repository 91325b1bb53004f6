// The measurements: one row for each name, with its unit, kind, direction and definition. Code that
// makes one takes unit and kind from here, and reports take its definition: a new measurement is
// one row here and the code that makes it. docs/measurement.md describes how each is taken.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/difference.hpp"

namespace ranklab::vocabulary {

/// A cost (seconds, bytes ...) is summed and averaged. A rate follows from summed costs, never
/// averaged. ratio: never averaged. count: exact.
enum class Kind { cost, rate, ratio, count };

using stats::Better;

/// Where a measurement is shown by default; each place also shows those of the places before it.
enum class Shown {
    groups,  ///< tables of groups of runs
    /// In `ranklab compare`: few, since each further row makes all of them less significant (Holm).
    compare,
    summary,  ///< the page's summary
    asked     ///< nowhere: only by name
};

struct Quantity {
    std::string_view name;  ///< "step_time_s", with its unit
    std::string_view unit;  ///< "s", "samples/s", "B", "1"
    Kind kind;
    Better better;
    std::string_view definition;    ///< with its formula
    std::string_view part_of = {};  ///< the whole time that it is a part of ("step_time_s")
    std::string_view phase = {};    ///< what it is called as a part of that ("forward")
    Shown shown = Shown::asked;
    std::string_view shown_for = {};  ///< the command of whose runs it is shown
};

/// The part of a name before its suffix ("time_us:allreduce:fp32:sum:8"): one row describes all of
/// a family.
std::string_view family_of(std::string_view name);

/// All of them; parts of a whole stand in the order in which they happen.
std::span<const Quantity> quantities();
/// Returns nullptr where there is none of that name: another program, or a later one, made it.
const Quantity* find_quantity(std::string_view name);
/// Throws Error where there is none: a name in the program that the table lacks is a bug.
const Quantity& quantity(std::string_view name);

/// Names of what is shown of runs of that command at that place, in the table's order.
std::vector<std::string> shown_at(Shown place, std::string_view command);
/// Times that are made of phases, and their phases.
std::vector<const Quantity*> wholes();
std::vector<const Quantity*> parts_of(const Quantity& whole);
/// The part of that name. Throws Error where there is none.
const Quantity& part_of(const Quantity& whole, std::string_view phase);

/// The better direction of a stored measurement, whose name may be unknown: a cost should fall and
/// a rate rise.
Better better_of(std::string_view name, Kind kind);

// The names that several rooms read. Like all names, vocabulary_test checks them against the table.
inline constexpr std::string_view kStepTime = "step_time_s";
inline constexpr std::string_view kJobTime = "job_time_s";
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
inline constexpr std::string_view kTransferTime = "transfer_s";
inline constexpr std::string_view kCallTime = "time_us";
inline constexpr std::string_view kBusBandwidth = "busbw_GBps";

}  // namespace ranklab::vocabulary
