#include "experiments/storage/readers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "host/facts.hpp"

namespace ranklab::experiments {
namespace {

using base::Share;

struct Words {
    const char* order;
    const char* words;
};
// In the order of WhoReads.
constexpr std::array kWords{
    Words{"own", "read back by the rank that wrote them"},
    Words{"shared out", "read by all ranks, each a part, whoever wrote it"},
    Words{"other ranks'", "read by other ranks of the same node"},
    Words{"other ranks', some of other nodes", "read by other ranks, some of them of other nodes"},
    Words{"other nodes'", "read by ranks of other nodes"},
    Words{"written together", "read by ranks that wrote them together"},
    Words{"an earlier run's", "written by an earlier run"}};

std::size_t at(int rank) {
    return static_cast<std::size_t>(rank);
}

std::vector<int> nodes_of(const std::vector<std::string>& hosts) {
    std::map<std::string, int> numbers;
    std::vector<int> nodes;
    for (const auto& host : hosts)
        nodes.push_back(numbers.emplace(host, static_cast<int>(numbers.size())).first->second);
    return nodes;
}

bool wrote(const WrittenBy& written, int rank) {
    const auto& records = written.records[at(rank)];
    return std::any_of(records.begin(), records.end(), [](const Share& share) { return share.count > 0; });
}

// Of fewer records than ranks some wrote none, and nobody reads after them.
int writers_of(const WrittenBy& written) {
    int count = 0;
    for (int rank = 0; rank < static_cast<int>(written.records.size()); ++rank)
        count += wrote(written, rank) ? 1 : 0;
    return count;
}

// How many of those that wrote have their reader, `step` ranks further, on another node.
int apart(const WrittenBy& written, int step) {
    const auto ranks = static_cast<int>(written.records.size());
    int count = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const bool elsewhere = written.node[at(rank)] != written.node[at((rank + step) % ranks)];
        count += wrote(written, rank) && elsewhere ? 1 : 0;
    }
    return count;
}

// The smallest step that has most of them there.
int best_step(const WrittenBy& written) {
    const auto ranks = static_cast<int>(written.records.size());
    int best = 1;
    int most = apart(written, best);
    for (int step = 2; step < ranks && most < writers_of(written); ++step) {
        const int count = apart(written, step);
        if (count > most) best = step;
        most = std::max(most, count);
    }
    return best;
}

WhoReads others_on(int apart, int all) {
    return apart == 0 ? WhoReads::others : apart == all ? WhoReads::other_nodes : WhoReads::some_other_nodes;
}

// What rank 0 wrote, shared out to the other ranks, or to those of other nodes where there are some.
ReadPlan plan_for_others_than_rank_0(const WrittenBy& written, int readers, int rank) {
    std::vector<int> chosen;
    const auto choose = [&](bool any_node) {
        for (int r = 1; r < readers; ++r)
            if (any_node || written.node[at(r)] != written.node.front()) chosen.push_back(r);
    };
    choose(false);
    ReadPlan plan{{}, chosen.empty() ? WhoReads::others : WhoReads::other_nodes};
    if (chosen.empty()) choose(true);
    const auto mine = std::find(chosen.begin(), chosen.end(), rank);
    if (mine != chosen.end())
        plan.records = {base::share_of(written.files, static_cast<int>(mine - chosen.begin()),
                                       static_cast<int>(chosen.size()))};
    return plan;
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

std::int64_t ReadPlan::count() const {
    std::int64_t sum = 0;
    for (const Share& share : records) sum += share.count;
    return sum;
}

ReadPlan plan_in_order(const WrittenBy& written, int readers, int rank) {
    ReadPlan plan;
    if (rank < readers) plan.records = {base::share_of(written.files, rank, readers)};
    if (!written.known) {
        plan.who = WhoReads::unknown;
    } else if (written.together && written.records.size() > 1) {
        plan.who = WhoReads::together;
    } else {
        bool own = true;
        for (int r = 0; own && r < static_cast<int>(written.records.size()); ++r) {
            const auto& wrote = written.records[at(r)];
            const Share reads = r < readers ? base::share_of(written.files, r, readers) : Share{};
            own = wrote.size() <= 1 && (wrote.empty() ? 0 : wrote.front().count) == reads.count &&
                  (wrote.empty() || reads.count == 0 || wrote.front().first == reads.first);
        }
        plan.who = own ? WhoReads::writers : WhoReads::all;
    }
    return plan;
}

ReadPlan plan_for_others(const WrittenBy& written, int readers, int rank) {
    const auto writers = static_cast<int>(written.records.size());
    if (readers == 1) return plan_in_order(written, readers, rank);
    if (!written.known) {  // another order than the timed one's is all that there is
        ReadPlan plan{{}, WhoReads::unknown};
        if (rank < readers) plan.records = {base::share_of(written.files, (rank + 1) % readers, readers)};
        return plan;
    }
    if (writers == 1) return plan_for_others_than_rank_0(written, readers, rank);
    const int step = best_step(written);
    ReadPlan plan{{}, others_on(apart(written, step), writers_of(written))};
    if (rank < writers) plan.records = written.records[at((rank + writers - step) % writers)];
    if (written.together) plan.who = WhoReads::together;
    return plan;
}

Readers::Readers(const StorageOptions& options, comm::Communicator& control) : control_(control) {
    written_.node = nodes_of(comm::gather_texts(control, host::host_name()));
    written_.files = options.job.files;
    written_.together = io::writes_by_rows(options.entry, options.job);
    written_.known = options.write;
    const int writers = options.entry.parallel ? control.world_size() : 1;
    for (int rank = 0; rank < writers; ++rank)
        written_.records.push_back({base::share_of(options.job.files, rank, writers)});
}

void Readers::note(const io::Strategy& strategy) {
    const auto mine = strategy.written();
    if (!mine) return;  // as it was: on all ranks alike, which have one strategy
    auto all = comm::gather_values(control_, *mine);
    all.resize(written_.records.size());
    written_.records = std::move(all);
}

ReadPlan Readers::in_order() const {
    return plan_in_order(written_, control_.world_size(), control_.rank());
}

ReadPlan Readers::for_others() const {
    return plan_for_others(written_, control_.world_size(), control_.rank());
}

}  // namespace ranklab::experiments
