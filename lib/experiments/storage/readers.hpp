// The ranks that read back: reading one's own page cache proves nothing about the file, so other
// ranks read than wrote, if possible on other nodes. docs/writing.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"
#include "io/strategy.hpp"

namespace ranklab::experiments {

enum class WhoReads {
    writers,           ///< each record its writer (rank 0: also what its worker processes wrote)
    all,               ///< all ranks, each a part, of any writer
    others,            ///< no rank what it wrote, all on the writers' nodes
    some_other_nodes,  ///< the same, some of them on other nodes than the writer
    other_nodes,       ///< the same, each on another node than the writer
    together,          ///< ranks that wrote each record together, a block of rows each
    unknown            ///< it was written by an earlier run
};
/// A cell of the table io_reads: "own", "shared out", "other ranks'", ...
std::string order_of(WhoReads who);
/// "read by other ranks of the same node": the end of a sentence on what was verified.
std::string words_of(WhoReads who, bool worker_processes);

/// The parts of the records that one rank reads.
struct ReadPlan {
    std::vector<base::Share> records = {};
    WhoReads who = WhoReads::writers;

    std::int64_t count() const;
};

/// All that plans follow from. The same on all ranks.
struct WrittenBy {
    std::vector<std::string> node;  ///< by rank of the job
    std::vector<int> writer;        ///< by record: its rank
    int writers = 1;                ///< ranks that took part
    bool together = false;          ///< each wrote rows of every record
    bool known = true;
};

/// As base::share_of shares them out to the ranks that write. Collective.
WrittenBy planned_writers(const StorageOptions& options, comm::Communicator& control);
/// Collective: after each writing.
void note_writers(WrittenBy& written, const io::Strategy& strategy, comm::Communicator& control);

/// Each rank its part, in order.
ReadPlan plan_in_order(const WrittenBy& written, int rank);
/// No rank what it wrote where there is another: preferably of another node.
ReadPlan plan_for_others(const WrittenBy& written, int rank);

}  // namespace ranklab::experiments
