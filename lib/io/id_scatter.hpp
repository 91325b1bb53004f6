// The numbers of all records, scattered: each rank gets those of its share. Private to this room and its
// tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "io/chunk_queue.hpp"

namespace ranklab::io {

/// Rank 0 makes 0..n-1 and MPI_Scatterv hands each rank its contiguous part (base::share_of). More than
/// `at_once` ids go in rounds, so that rank 0's memory does not grow with n; up to there it is one call.
/// Instantiated for int32_t, which the original scatters, and int64_t, for n beyond it.
template <class Id>
class IdScatter {
  public:
    IdScatter(comm::Communicator& ranks, std::int64_t n, std::int64_t at_once);

    /// Collective. The next part of this rank's ids, valid until the next call; `more()` says whether there
    /// is one, the same on all ranks.
    bool more() const { return round_ < rounds_; }
    std::span<const Id> next();
    /// On rank 0: what each rank has been given.
    const std::vector<Handed>& handed() const { return handed_; }

  private:
    base::Share part_of(int rank) const;

    comm::Communicator& ranks_;
    std::int64_t n_;
    std::int64_t each_;  // ids of one rank in one round, at most
    std::int64_t rounds_;
    std::int64_t round_ = 0;
    std::vector<Id> ids_;
    std::vector<Handed> handed_;
};

}  // namespace ranklab::io
