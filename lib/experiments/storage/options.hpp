// The options of `ranklab io`, and whether what they ask for can be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/job.hpp"
#include "io/strategy.hpp"
#include "measure/convergence.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {

/// The settled options of one strategy of the command, and what follows from several of them.
struct StorageOptions : vocabulary::StorageSettings {
    vocabulary::CommonSettings common;
    std::vector<results::Setting> config;  ///< as its run stores them

    io::Job job;
    io::StrategyEntry entry;
    std::int64_t most_repetitions = 1;  ///< --repetitions, or more with --target-ci
    measure::Convergence convergence;   ///< of --target-ci

    bool write() const { return !read_only; }
    bool read() const { return !write_only; }
    /// All that was written is compared with the recomputed values.
    bool verify() const { return read() && !no_verify; }
    bool keeps_files() const { return keep || read_only; }
    bool measures_ceilings() const { return write() && ceilings == "on"; }
    std::int64_t warmup() const { return common.warmup.value_or(0); }
    /// Seconds; 0: none.
    double time_limit() const { return common.time_limit.value_or(0); }
};

/// The strategies that --strategy names, in ladder order, each once. OptionError for an unknown one.
std::vector<io::StrategyEntry> chosen_strategies(const std::string& names);

/// Settles what the options leave open; OptionError where two of them do not go together. One a strategy, in
/// ladder order; of several each has a folder of its own.
std::vector<StorageOptions> settle_storage(options::Options& options);

/// What a run leaves on the file system at once.
struct Footprint {
    long double records = 0;  ///< bytes of one strategy's records
    std::string arithmetic;   ///< "15 x 100 x 100 x 8 B = 1.2 MB"
};
Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy);

/// OptionError, with the arithmetic, where the records can never fit into the file system, or one of them not
/// into memory. No work, no change.
void check_fits(const StorageOptions& options);
}  // namespace ranklab::experiments
