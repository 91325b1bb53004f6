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

/// cost: seconds, bytes; may be summed and averaged. rate: computed from summed costs, never
/// averaged. ratio: never averaged. count: exact.
enum class Kind { cost, rate, ratio, count };

using stats::Better;

/// Where a measurement is shown by default. Each value includes the places of the later ones.
enum class Shown {
    groups,  ///< tables of groups of runs
    /// `ranklab compare`: few, since each row makes the others less significant (Holm).
    compare,
    summary,  ///< the page's summary
    asked     ///< only if named by --measure
};

struct Quantity {
    std::string_view name;  ///< "step_time_s", with its unit
    std::string_view unit;  ///< "s", "samples/s", "B", "1"
    Kind kind;
    Better better;
    std::string_view definition;    ///< with its formula
    std::string_view part_of = {};  ///< the time that contains it ("step_time_s")
    std::string_view phase = {};    ///< its name as a phase of `part_of` ("forward")
    Shown shown = Shown::asked;
    std::string_view shown_for = {};  ///< show it for runs of this command
};

/// A name without its suffix ("time_us" of "time_us:allreduce:fp32:sum:8"). One row describes the
/// family.
std::string_view family_of(std::string_view name);

/// All rows; phases are in the order of a step or record.
std::span<const Quantity> quantities();
/// nullptr if there is no such row: a later ranklab stored the measurement.
const Quantity* find_quantity(std::string_view name);
/// Throws Error if there is no such row, which is a bug.
const Quantity& quantity(std::string_view name);

/// Names of the measurements shown at `place` for runs of `command`, in the table's order.
std::vector<std::string> shown_at(Shown place, std::string_view command);
/// The times that consist of phases, and the phases of one.
std::vector<const Quantity*> wholes();
std::vector<const Quantity*> parts_of(const Quantity& whole);
/// The part with this phase name. Throws Error if there is none.
const Quantity& part_of(const Quantity& whole, std::string_view phase);

/// The better direction of a stored measurement. For an unknown name by its kind: less cost, more
/// rate.
Better better_of(std::string_view name, Kind kind);

// Names that several rooms read; vocabulary_test checks them against the table.
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
