#include "app/start_up_parts.hpp"

#include <algorithm>

#include "base/cast.hpp"
#include "comm/exchange.hpp"

namespace ranklab::app {

std::vector<StartUpPart> gather_parts(comm::Communicator& control, const host::StartUp& mine) {
    const auto ranks = comm::gather_values(control, mine.parts());
    std::size_t common = ranks.front().size();
    for (const auto& parts : ranks) common = std::min(common, parts.size());
    std::vector<StartUpPart> all;
    for (std::size_t i = 0; i < common; ++i) {
        auto& part = all.emplace_back(StartUpPart{.name = ranks.front()[i].name});
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            const double seconds = ranks[rank][i].seconds;
            part.mean_s += seconds / base::real(ranks.size());
            if (rank != 0 && seconds <= part.most_s) continue;
            part.most_s = seconds;
            part.slowest_rank = static_cast<int>(rank);
        }
    }
    return all;
}

}  // namespace ranklab::app
