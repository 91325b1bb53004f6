// Numbers that tell the rank and the place they come from, and what an operation makes of them: every element
// of a result is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/buffer.hpp"
#include "experiments/collectives/levels.hpp"
#include "experiments/collectives/message.hpp"
#include "experiments/collectives/options.hpp"

namespace ranklab::experiments {

/// The numbers of one call: whole numbers with a period of 8191 elements, so small that a sum over ranks fits
/// into the type and is exact whatever its order. Where there are too many ranks for that, some of them send
/// zeros, at each place others. An average of floating-point numbers may be off by (n + 2) units in the last
/// place.
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

/// Host memory of a rank for one message: what it sends, or sends and receives in place, and poison where a
/// result will be.
void fill_message(const Message& message, const Pattern& pattern, const comm::Transfer& host, int rank);
/// Elements of this rank's result, where Prepared::result() says it is, that are wrong.
std::size_t wrong_in(const Message& message, const Pattern& pattern, const comm::BufferView& result, int root,
                     int rank, int ranks);

enum class Form { run, started };

class Checker {
  public:
    /// Both outlive it. `ends`: asked on all ranks after some checks; true leaves out the others.
    Checker(const CollectivesOptions& options, comm::Communicator& control, std::function<bool()> ends)
        : options_(options), control_(control), ends_(std::move(ends)) {}

    /// Elements of all ranks' results that are wrong; nothing where no check is asked for. Collective over
    /// the job; ranks that are not active in the level have no calls.
    std::optional<std::int64_t> wrong(const Message& message, Level& level,
                                      std::span<const comm::Transfer> transfers,
                                      std::span<const std::unique_ptr<comm::Prepared>> calls, Form form);

  private:
    std::int64_t wrong_here(const Message& message, Level& level, const comm::Transfer& transfer,
                            comm::Prepared& call, Form form) const;

    const CollectivesOptions& options_;
    comm::Communicator& control_;
    std::function<bool()> ends_;
    std::uint64_t salt_ = 0;
};

}  // namespace ranklab::experiments
