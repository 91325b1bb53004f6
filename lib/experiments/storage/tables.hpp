// The tables of a run of `ranklab io`: where the time went, by phase and by rank.
#pragma once

#include "experiments/storage/record.hpp"

namespace ranklab::experiments {

/// Collective over `control`: all ranks call it, rank 0's run is complete.
///   io_phases  as a profiler's: calls, own time, time per call, cumulative time, per cent and the longest
///   call of
///              each phase in all counted repetitions, over all ranks and worker processes. record: what a
///              record took beside its phases; job: what the strategy took beside its records. Per cent is of
///              the sum of total_s.
///   io_ranks   a row per rank that took part: records, bytes and seconds, means over counted repetitions.
///   io_reads   a row per pass of reading: time (the slowest rank's open + read + parse + close), bytes.
void add_storage_tables(results::Run& run, const StorageRecord& record, const StorageOptions& options,
                        int participants, comm::Communicator& control);

}  // namespace ranklab::experiments
