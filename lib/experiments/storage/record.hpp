// The record of a run of `ranklab io` on each rank, and the measurements and tables made of it.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/storage/strategy_runner.hpp"
#include "io/ceilings.hpp"
#include "measure/convergence.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

inline constexpr double kMiB = 1048576;

/// The first timed pass of a repetition: the rate of reading is of these.
inline constexpr const char* kRatedPass = "read 1";

/// One pass of reading.
struct ReadPass {
    int repetition = 0;  ///< from 1; warm-up repetitions are not read
    std::string kind;    ///< kRatedPass, "read 2" (timed) or "check" (another order, for comparing)
    WhoReads who = WhoReads::writers;
    ReadTrial trial;
};

struct StorageRecord {
    std::vector<WriteTrial> writes;  ///< warm-up first
    std::vector<ReadPass> reads;
    /// One value per counted repetition; the same on all ranks that took part.
    std::vector<io::Ceilings> ceilings;
    std::vector<results::Table> tables;  ///< of the strategy: rank 0
    std::vector<std::string> warnings;
    measure::Convergence convergence;  ///< of --target-ci
    bool hit_time_limit = false;       ///< before all planned repetitions were made
    /// The exit code where something ended it early; a signal's is 128 + N.
    int ended_by = 0;
};

/// Gathers over the control plane (all ranks call it) and fills measurements, tables, warnings and
/// verdict; the same valid and exit_code on all ranks.
void fill_storage_run(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                      comm::Communicator& control);

/// Adds the tables io_phases, io_ranks, io_reads and ceilings, and the strategy's. Collective over
/// `control`.
void add_storage_tables(results::Run& run, const StorageRecord& record,
                        const StorageOptions& options, comm::Communicator& control);

/// Makes a run of its own with the table `ladder` of at least one run. `asked`: the number of
/// strategies; `signal`: the one that ended them, or 0.
results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal);

}  // namespace ranklab::experiments
