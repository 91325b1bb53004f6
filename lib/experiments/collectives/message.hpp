// What is timed: one operation of one size, element type, reduction and placement; and its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/backend.hpp"
#include "comm/operation.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

enum class Reduction { sum, min, max, avg };  ///< avg: the sum divided by the number of ranks

using base::word_of;
std::string_view word_of(Reduction reduction);

std::string_view summary_of(comm::Operation operation);

/// The --op that is no operation: rounds of two operations between pairs of nodes (run_sweep).
inline constexpr std::string_view kPairs = "pairs";

/// Return the entries that --op, --datatype or --redop name, each once, in the order of the result
/// tables. Types may also have nccl-tests' names. Throw OptionError for an unknown name.
std::vector<comm::Operation> chosen_operations(const std::string& words);
std::vector<comm::DType> chosen_types(const std::string& words);
std::vector<Reduction> chosen_reductions(const std::string& words);

struct Message {
    comm::Operation operation = comm::Operation::allreduce;
    comm::DType dtype = comm::DType::f32;
    Reduction reduction = Reduction::sum;
    bool in_place = false;
    int ranks = 1;  ///< of the communicator that makes the call
    /// Elements of one rank's part (allgather, reduce_scatter, alltoall), otherwise of the message.
    std::size_t part = 0;

    bool is_in_parts() const;
    std::string_view redop() const;  ///< "none" for operations that reduce nothing
    /// The message size S of algbw = S / t.
    std::uint64_t bytes() const;
    std::size_t send_count() const;
    std::size_t receive_count() const;
    /// GB/s (1e9 B/s) of a call that takes `us`. busbw is NaN for one rank.
    double algbw_GBps(double us) const;
    double busbw_GBps(double us) const;
    /// "allreduce:fp32:sum:1048576", "allreduce:fp32:sum:1048576:in-place", "barrier".
    std::string name() const;
    bool operator==(const Message&) const = default;
};

/// Returns sizes in bytes: as --sizes lists them, or from --min-bytes to --max-bytes, each
/// --step-bytes larger than the one before, or --step-factor times as large. Throws OptionError for
/// no size, more than 1000, or one above 2^50.
std::vector<std::uint64_t> message_sizes(const vocabulary::CollectivesSettings& settings);

/// Returns messages of `form` at these sizes, each once. Sizes are rounded down to whole elements
/// per rank, but not below one element.
std::vector<Message> messages_of(const Message& form, const std::vector<std::uint64_t>& sizes);

/// Returns messages without a size: those that the options select and the backend offers, in the
/// order of the tables.
std::vector<Message> chosen_forms(const vocabulary::CollectivesSettings& settings,
                                  const comm::BackendEntry& backend, int ranks);

struct BufferPlan {
    comm::Memory memory = comm::Memory::host;
    std::size_t unalign = 0;  ///< offset in bytes from the start of a page
};

/// Returns the bytes of a rank's send and receive buffers.
std::uint64_t memory_of(const Message& message, const BufferPlan& plan);

/// One rank's buffers, used by one message after the other.
class Buffers {
  public:
    /// Allocates `bytes` at once, so that a lack of memory shows before anything is timed.
    explicit Buffers(const BufferPlan& plan, std::uint64_t bytes = 0);

    /// Returns the message's transfer, which is valid until the next call. Throws EnvironmentError
    /// if the memory cannot be allocated.
    comm::Transfer transfer(const Message& message, int root, int rank);

  private:
    void reserve(std::size_t bytes);

    BufferPlan plan_;
    std::shared_ptr<char> memory_;  // zeroed, starts at a page
    std::size_t bytes_ = 0;
};

}  // namespace ranklab::experiments
