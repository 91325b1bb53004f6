// What one strategy of `ranklab io` measured on this rank, and its run: measurements, tables,
// warnings, checks.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/storage/repetition.hpp"
#include "measure/convergence.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

inline constexpr double kMiB = 1048576;

struct StorageRecord {
    std::vector<Writing> writings;  ///< warm-up first
    std::vector<ReadPass> passes;
    std::vector<io::Ceilings> ceilings;
    std::vector<results::Table> tables;  ///< the strategy's, of its last writing; on rank 0
    std::vector<std::string> warnings;   ///< the strategy's, of its last writing
    measure::Convergence convergence;    ///< of --target-ci
    bool hit_time_limit = false;         ///< before the planned repetitions were made
    int ended_by = 0;  ///< exit code of the strategy's failure, or 128 + signal; 0: none

    /// Adds a whole repetition; `strategy` must still hold its tables and warnings.
    void add(Repetition made, const StorageOptions& options, const io::Strategy& strategy);
    /// Number of the writings that are warm-up.
    std::size_t warmup(const StorageOptions& options) const;
};

/// Fills the run. Collective over `control`. The run is complete on rank 0; `valid` and `exit_code`
/// are the same on all ranks.
void fill_storage_run(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                      comm::Communicator& control);

/// Adds the tables io_phases, io_ranks, io_reads and ceilings, and the strategy's own. Collective.
void add_storage_tables(results::Run& run, const StorageRecord& record,
                        const StorageOptions& options, comm::Communicator& control);

/// Returns the table `calls` (--profile calls): the phases of each run, longest own time first.
results::Table calls_table(const std::vector<results::Run>& runs);

/// Returns the run that compares the runs (at least one) in the table `ladder`. `asked`: number of
/// strategies of the command; `signal`: the signal that ended them, or 0.
results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal);

/// --trace FILE.json: the last writing of each strategy in the Trace Event Format, a process per
/// strategy, a thread per rank and worker, an event per phase, record and wait for a task. Times
/// are in us since the barrier before the writing. Throws EnvironmentError on all ranks if the file
/// cannot be written. Collective.
void write_trace(const std::string& path, const std::vector<std::string>& strategies,
                 const std::vector<Repeater::Traced>& mine, comm::Communicator& control);

/// Makes the command's runs, one per strategy in ladder order, and for several strategies their
/// comparison. Each round makes one repetition of every strategy, in random order, until each
/// strategy has enough of them. If a strategy fails, the others go on; a signal ends all of them. A
/// strategy without a counted repetition has no run. Collective.
Runs run_schedule(const StorageCommand& command, const RunContext& context);

}  // namespace ranklab::experiments
