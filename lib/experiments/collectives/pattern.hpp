// Test values for calls: each depends on its rank and index, so that every element of a result can
// be checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/operation.hpp"
#include "experiments/collectives/message.hpp"

namespace ranklab::experiments {

/// Values of one call: whole numbers with a period of 8191 elements, so small that their sum over
/// ranks is exact in the type in any order. If there are too many ranks for that, some ranks,
/// different ones at each index, send zeros. An average of floating-point numbers over n ranks may
/// be off by n + 2 units in the last place.
class Pattern {
  public:
    /// Another `salt` gives other values, so that a result left by an earlier call counts as wrong.
    Pattern(const Message& message, std::uint64_t salt);

    static constexpr std::size_t kPeriod = 8191;

    /// Fills the buffer with the values of `rank` from index `first` on.
    void fill(const comm::BufferView& buffer, int rank, std::size_t first) const;
    /// Returns the number of elements that differ from the values of `rank`.
    std::size_t wrong_of_rank(const comm::BufferView& buffer, int rank, std::size_t first) const;
    /// Returns the number of elements that differ from the reduction over ranks.
    std::size_t wrong_of_reduction(const comm::BufferView& buffer, std::size_t first) const;

  private:
    std::uint64_t number(int rank, std::size_t index) const;
    double reduced(std::size_t index) const;
    bool is_sum() const { return reduction_ == Reduction::sum || reduction_ == Reduction::avg; }

    comm::DType dtype_;
    Reduction reduction_;
    int ranks_;
    std::uint64_t salt_;
    std::uint64_t most_ = 251;  // values are 1 ... most_
    std::size_t every_ = 1;     // one of this many ranks sends such a value, the others 0
    double tolerance_ = 0;      // relative
};

/// Fills a rank's buffers in host memory: the values that it sends, and poison where it receives.
void fill_message(const Message& message, const Pattern& pattern, const comm::Transfer& host,
                  int rank);
/// Returns the number of wrong elements in this rank's result (Communicator::result_of).
std::size_t wrong_in(const Message& message, const Pattern& pattern, const comm::BufferView& result,
                     int root, int rank);

struct CheckedCall {
    bool started = false;      ///< true: start() and wait(); false: run()
    std::uint64_t salt = 0;    ///< a different one for each check
    bool flips_a_bit = false;  ///< of the result (--fault)
};
/// Makes the call on test values and counts wrong elements of this rank's result. Collective over
/// `data`.
std::int64_t wrong_of_call(const Message& message, comm::Communicator& data,
                           const comm::Transfer& transfer, const CheckedCall& how);

}  // namespace ranklab::experiments
