// Which rank reads which record back. A rank that reads its own records reads its page cache,
// which proves nothing about the file. So other ranks read, if possible on other nodes.
// docs/writing.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/storage/options.hpp"

namespace ranklab::experiments {

enum class WhoReads {
    writers,           ///< each rank reads the records that it (or its worker processes) wrote
    all,               ///< each rank reads a part; some records are read by their writer
    others,            ///< each rank reads records written by other ranks of its node
    some_other_nodes,  ///< each rank reads records of other ranks, some of them on other nodes
    other_nodes,       ///< each rank reads records written by ranks of other nodes
    together,          ///< each rank wrote rows of every record
    unknown            ///< an earlier run wrote the records
};
/// The text in the column `order` of the table io_reads: "own", "shared out", "other ranks'", ...
std::string order_of(WhoReads who);
/// "read by other ranks of the same node"
std::string words_of(WhoReads who, bool worker_processes);

/// The records that one rank reads.
struct ReadPlan {
    std::vector<std::int64_t> records = {};
    WhoReads who = WhoReads::writers;
};

/// Who wrote the records. The same on all ranks.
struct WrittenBy {
    std::vector<std::string> node;  ///< host name of each rank
    std::vector<int> writer;        ///< rank that wrote each record
    int writers = 1;                ///< number of ranks that write
    bool together = false;          ///< each writer wrote rows of every record
    bool known = true;              ///< false: an earlier run wrote
};

/// Collective.
WrittenBy writers_of(const StorageOptions& options, comm::Communicator& control);

/// Plans that each rank reads its base::share_of the records.
ReadPlan plan_in_order(const WrittenBy& written, int rank);
/// Plans that each rank reads what another rank wrote, on another node if there is one. A single
/// rank reads its own records.
ReadPlan plan_for_others(const WrittenBy& written, int rank);

}  // namespace ranklab::experiments
