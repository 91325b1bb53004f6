// The unit of timing: one message size of one operation, in one form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/backend.hpp"
#include "comm/operation.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// sum, min, max; avg is a sum that is divided by the number of ranks.
struct Reduction {
    comm::ReduceOp op = comm::ReduceOp::sum;
    bool average = false;
};

using base::word_of;  // of an element type
std::string_view word_of(const Reduction& reduction);

std::string_view summary_of(comm::Operation operation);

/// Returns the entries that an option (--op, --datatype, --redop) names, each once, in the order
/// above. It knows nccl-tests' words for types, too. OptionError for an unknown word.
std::vector<comm::Operation> chosen_operations(const std::string& words);
std::vector<comm::DType> chosen_types(const std::string& words);
std::vector<Reduction> chosen_reductions(const std::string& words);

struct Message {
    comm::Operation operation = comm::Operation::allreduce;
    comm::DType dtype = comm::DType::f32;
    Reduction reduction = {};
    bool in_place = false;
    /// The elements of one rank's part (allgather, reduce_scatter, alltoall), else of the whole.
    std::size_t part = 0;

    bool is_in_parts() const;
    std::uint64_t bytes(int ranks) const;
    std::size_t send_count(int ranks) const;
    std::size_t receive_count(int ranks) const;
    /// The bandwidth in GB/s (1e9) of a call that takes `us`, and that on the slowest link: NaN at
    /// one rank.
    double algbw_GBps(double us, int ranks) const;
    double busbw_GBps(double us, int ranks) const;
    /// "allreduce:fp32:sum:1048576", with ":in-place" behind it; "barrier".
    std::string name(int ranks) const;
};

/// Larger sizes are typing errors, and computing with them would overflow.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50U;
void need_possible(std::uint64_t bytes);

/// Sizes in bytes: from `smallest` to `largest`, each `factor` times the one before or, where
/// `step` is not 0, that many bytes more. OptionError where there are none, or implausibly many.
std::vector<std::uint64_t> message_sizes(std::uint64_t smallest, std::uint64_t largest,
                                         double factor, std::uint64_t step);

/// The form of an operation at these sizes, each once: rounded down to whole elements of each rank,
/// and at least one.
std::vector<Message> messages_of(const Message& form, const std::vector<std::uint64_t>& sizes,
                                 int ranks);

/// All forms that the options ask for and the backend has, in the order of the tables.
std::vector<Message> chosen_forms(const vocabulary::CollectivesSettings& settings,
                                  const comm::BackendEntry& backend, int ranks);

}  // namespace ranklab::experiments
