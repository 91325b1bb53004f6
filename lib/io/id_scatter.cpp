#include "io/id_scatter.hpp"

#include <algorithm>
#include <numeric>

#include "comm/point_to_point.hpp"

namespace ranklab::io {

template <class Id>
IdScatter<Id>::IdScatter(comm::Communicator& ranks, std::int64_t n, std::int64_t at_once)
    : ranks_(ranks),
      n_(n),
      each_(std::max<std::int64_t>(1, base::share_of(at_once, 0, ranks.world_size()).count)),
      rounds_((base::share_of(n, 0, ranks.world_size()).count + each_ - 1) / each_),
      handed_(ranks.world_size()) {}

template <class Id>
base::Share IdScatter<Id>::part_of(int rank) const {
    const base::Share share = base::share_of(n_, rank, ranks_.world_size());
    const std::int64_t first = std::min(share.first + round_ * each_, share.end());
    return {first, std::min(each_, share.end() - first)};
}

template <class Id>
std::span<const Id> IdScatter<Id>::next() {
    std::vector<Id> all;
    std::vector<std::size_t> counts;
    for (int rank = 0; ranks_.rank() == 0 && rank < ranks_.world_size(); ++rank) {
        const base::Share part = part_of(rank);
        counts.push_back(static_cast<std::size_t>(part.count));
        all.resize(all.size() + counts.back());
        std::iota(all.end() - part.count, all.end(), static_cast<Id>(part.first));
        const auto sent = rank == 0 ? 0 : static_cast<std::int64_t>(counts.back() * sizeof(Id));
        handed_[rank].add(part, sent);
    }
    ids_.resize(part_of(ranks_.rank()).count);
    comm::scatterv(ranks_, comm::view(std::span(all)), counts, comm::view(std::span(ids_)), 0);
    ++round_;
    return ids_;
}

template class IdScatter<std::int32_t>;
template class IdScatter<std::int64_t>;

}  // namespace ranklab::io
