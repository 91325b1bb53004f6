#include "experiments/storage/readers.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "host/process.hpp"

namespace ranklab::experiments {
namespace {

struct Words {
    const char* order;
    const char* words;
};
// In the order of WhoReads.
constexpr std::array kWords{
    Words{"own", "read back by the rank that wrote them"},
    Words{"shared out", "read by all ranks in equal parts, whichever rank wrote them"},
    Words{"other ranks'", "read by other ranks of the same node"},
    Words{"other ranks', some of other nodes", "read by other ranks, some of other nodes"},
    Words{"other nodes'", "read by ranks of other nodes"},
    Words{"written together", "read by ranks that wrote them together"},
    Words{"an earlier run's", "written by an earlier run"}};

std::vector<int> numbers(int first, int end) {
    std::vector<int> ranks(std::max(0, end - first));
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

// Returns a rank for each record: `ranks` share the records in equal parts.
std::vector<int> shared_out(std::size_t files, const std::vector<int>& ranks) {
    std::vector<int> by_record;
    const int parts = static_cast<int>(ranks.size());
    for (int part = 0; part < parts; ++part)
        by_record.insert(by_record.end(), base::share_of(files, part, parts).count, ranks[part]);
    return by_record;
}

WhoReads who_reads(const WrittenBy& written, const std::vector<int>& reader) {
    if (!written.known) return WhoReads::unknown;
    if (written.together && written.writers > 1) return WhoReads::together;
    std::size_t own = 0;
    std::size_t apart = 0;
    for (std::size_t id = 0; id < reader.size(); ++id) {
        own += reader[id] == written.writer[id] ? 1 : 0;
        apart += written.node[reader[id]] != written.node[written.writer[id]] ? 1 : 0;
    }
    if (own == reader.size()) return WhoReads::writers;
    if (own > 0) return WhoReads::all;
    return apart == 0               ? WhoReads::others
           : apart == reader.size() ? WhoReads::other_nodes
                                    : WhoReads::some_other_nodes;
}

ReadPlan plan_of(const WrittenBy& written, const std::vector<int>& reader, int rank) {
    ReadPlan plan{{}, who_reads(written, reader)};
    for (std::int64_t id = 0; id < std::ssize(reader); ++id)
        if (reader[id] == rank) plan.records.push_back(id);
    return plan;
}

// Returns the distance from rank 0 to the first rank of another node; 1 on a single node. If nodes
// have equally many ranks, each rank is that far from a rank of another node.
int step_to_another_node(const std::vector<std::string>& node) {
    const auto another = std::ranges::find_if(node, [&](const auto& n) { return n != node[0]; });
    return another == node.end() ? 1 : static_cast<int>(another - node.begin());
}

// Returns the readers of what rank 0 wrote: the ranks of other nodes, or else all but rank 0.
std::vector<int> others_than_rank_0(const WrittenBy& written) {
    const auto others = numbers(1, static_cast<int>(written.node.size()));
    std::vector<int> apart;
    for (const int rank : others)
        if (written.node[rank] != written.node.front()) apart.push_back(rank);
    return apart.empty() ? others : apart;
}

}  // namespace

std::string order_of(WhoReads who) {
    return kWords.at(base::number_of(who)).order;
}

std::string words_of(WhoReads who, bool worker_processes) {
    if (who == WhoReads::writers && worker_processes)
        return "read back by the rank whose worker processes wrote them";
    return kWords.at(base::number_of(who)).words;
}

WrittenBy writers_of(const StorageOptions& options, comm::Communicator& control) {
    const int writers = options.entry.participants(control.world_size());
    return {.node = comm::gather_texts(control, host::host_name()),
            .writer = shared_out(options.files, numbers(0, writers)),
            .writers = writers,
            .together = options.entry.by_rows(options),
            .known = options.write()};
}

ReadPlan plan_in_order(const WrittenBy& written, int rank) {
    const auto ranks = numbers(0, static_cast<int>(written.node.size()));
    return plan_of(written, shared_out(written.writer.size(), ranks), rank);
}

ReadPlan plan_for_others(const WrittenBy& written, int rank) {
    const auto ranks = static_cast<int>(written.node.size());
    if (ranks == 1) return plan_in_order(written, rank);
    if (!written.known) {  // the next rank reads, not the rank of the timed passes
        auto shifted = numbers(1, ranks);
        shifted.push_back(0);
        return plan_of(written, shared_out(written.writer.size(), shifted), rank);
    }
    if (written.writers == 1)
        return plan_of(written, shared_out(written.writer.size(), others_than_rank_0(written)),
                       rank);
    auto reader = written.writer;
    const int step = step_to_another_node(written.node);
    for (int& one : reader) one = (one + step) % ranks;
    return plan_of(written, reader, rank);
}

}  // namespace ranklab::experiments
