#include "experiments/collectives/checker.hpp"

#include "comm/exchange.hpp"
#include "experiments/collectives/pattern.hpp"

namespace ranklab::experiments {
namespace {

// Of the first element's last byte: in no type is that within what a sum may be off.
void flip_a_bit(const comm::BufferView& result) {
    if (result.count == 0) return;
    static_cast<unsigned char*>(result.data)[comm::size_of(result.dtype) - 1] ^= 1U;
}

void make(comm::Prepared& call, Form form) {
    form == Form::run ? call.run() : call.start().wait();
}

}  // namespace

std::optional<std::int64_t> Checker::wrong(const Message& message, Level& level,
                                           std::span<const comm::Transfer> transfers,
                                           std::span<const std::unique_ptr<comm::Prepared>> calls,
                                           Form form) {
    if (options_.policy.checks == 0) return std::nullopt;
    std::int64_t wrong = 0;
    for (int time = 0; time < options_.policy.checks; ++time, ++salt_) {
        if (!level.active) continue;
        const std::size_t which = static_cast<std::size_t>(time) % calls.size();
        wrong += wrong_here(message, level, transfers[which], *calls[which], form);
    }
    return comm::reduced(control_, wrong, comm::ReduceOp::sum);
}

std::int64_t Checker::wrong_here(const Message& message, Level& level, const comm::Transfer& transfer,
                                 comm::Prepared& call, Form form) const {
    const int rank = level.data->rank();
    const Pattern pattern(message, level.ranks, salt_);
    const HostSide host(transfer);
    fill_message(message, pattern, host.host(), rank);
    host.to_device();
    make(call, form);
    level.data->synchronize();
    const auto result = host.fetched(call.result());
    if (options_.fault.flips_on_rank == control_.rank()) flip_a_bit(result);
    return static_cast<std::int64_t>(wrong_in(message, pattern, result, transfer.root, rank, level.ranks));
}

}  // namespace ranklab::experiments
