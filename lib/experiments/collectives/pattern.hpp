// Numbers that identify the rank and the place they come from, and the results of operations on
// them: every element of a result is compared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/buffer.hpp"
#include "experiments/collectives/message.hpp"

namespace ranklab::experiments {

/// The numbers of one call: whole numbers with a period of 8191 elements, so small that a sum over
/// ranks fits into the type and is exact whatever its order. With too many ranks for that, some
/// ranks send zeros, different ones at each place. An average of floating-point numbers may be off
/// by (n + 2) units in the last place.
class Pattern {
  public:
    /// `salt`: another one gives other numbers, so that what an earlier call left is wrong.
    Pattern(const Message& message, int ranks, std::uint64_t salt);

    static constexpr std::size_t kPeriod = 8191;

    /// Elements first, first + 1, ... of what `rank` sends.
    void fill(const comm::BufferView& buffer, int rank, std::size_t first) const;
    /// How many elements of the buffer are not what `rank` sends ...
    std::size_t wrong_of_rank(const comm::BufferView& buffer, int rank, std::size_t first) const;
    /// ... and not what the reduction makes of all ranks' elements.
    std::size_t wrong_of_reduction(const comm::BufferView& buffer, std::size_t first) const;

  private:
    std::uint64_t number(int rank, std::size_t index) const;
    double reduced(std::size_t index) const;

    comm::DType dtype_;
    Reduction reduction_;
    int ranks_;
    std::uint64_t salt_;
    std::uint64_t most_ = 251;  // numbers are 1 ... most_
    std::size_t every_ = 1;     // of so many ranks one sends such a number, the others 0
    double tolerance_ = 0;      // relative
};

/// Fills a rank's host memory for one message: the numbers that it sends, in place or not, and
/// poison where a result will be.
void fill_message(const Message& message, const Pattern& pattern, const comm::Transfer& host,
                  int rank);
/// Elements of this rank's result, where Prepared::result() says it is, that are wrong.
std::size_t wrong_in(const Message& message, const Pattern& pattern, const comm::BufferView& result,
                     int root, int rank, int ranks);

enum class Form { run, started };

struct CheckedCall {
    Form form = Form::run;
    std::uint64_t salt = 0;    ///< another one of each check
    bool flips_a_bit = false;  ///< a fault: in the result
};
/// Makes the call on numbers of its own and counts the wrong elements of this rank's result.
/// Collective in `data`.
std::int64_t wrong_of_call(const Message& message, comm::Communicator& data,
                           const comm::Transfer& transfer, comm::Prepared& call,
                           const CheckedCall& how);

}  // namespace ranklab::experiments
