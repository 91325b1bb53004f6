// The options of `ranklab io`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/strategy.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// The settled options of one strategy of the command, and what follows from them.
struct StorageOptions : io::Job {
    vocabulary::CommonSettings common;
    io::StrategyEntry entry;

    bool write() const { return !read_only; }
    bool read() const { return !write_only; }
    /// Whether all records are compared with recomputed values.
    bool verify() const { return read() && !no_verify; }
    bool keeps_files() const { return keep || read_only; }
    bool measures_ceilings() const { return write() && ceilings == "on"; }
    std::int64_t warmup() const { return common.warmup.value_or(0); }
    /// Seconds; 0: no limit.
    double time_limit() const { return common.time_limit.value_or(0); }
};

/// The strategies that --strategy names, in ladder order, each once. Throws OptionError for an
/// unknown name.
std::vector<io::StrategyEntry> chosen_strategies(const std::string& names);

/// The settled options of the command, and of each of its strategies in ladder order.
struct StorageCommand {
    std::vector<options::Effective> settings;
    std::vector<StorageOptions> strategies;
};

/// Settles the options that were not given. Throws OptionError if two conflict. Each of several
/// strategies gets a folder of its own.
StorageCommand settle_storage(const options::Options& given,
                              const vocabulary::CommonSettings& common);

}  // namespace ranklab::experiments
