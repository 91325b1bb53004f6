#include "experiments/shared/stop_poll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "comm/point_to_point.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kBetweenAsksNs = 250'000'000;

}  // namespace

bool StopPoll::ask() {
    if (signal_ != 0) return true;
    const auto now = Clock::now();
    const std::int64_t units = std::max<std::int64_t>(1, done_ - last_);
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_asked_).count();
    std::int64_t facts[] = {base::StopSignals::received(),
                            std::max<std::int64_t>(1, elapsed / units)};
    control_.allreduce(comm::view(std::span(facts)), comm::ReduceOp::max);
    signal_ = static_cast<int>(facts[0]);
    last_asked_ = now;
    last_ = done_;
    next_ = done_ + std::clamp<std::int64_t>(kBetweenAsksNs / facts[1], 1, kMostUnits);
    return signal_ != 0;
}

void stop_if_asked(comm::Communicator& control, const std::string& where) {
    comm::together(control, [&] {
        if (const int signal = base::StopSignals::received(); signal != 0)
            throw base::Interrupted(
                fmt::format("stopped by {} {}", base::StopSignals::name_of(signal), where), signal);
    });
}

void refuse_after_a_stop(comm::Communicator& control, int signal) {
    if (signal == 0) return;
    comm::together(control, [&] {
        throw base::Interrupted(
            fmt::format("stopped by {}; nothing was measured", base::StopSignals::name_of(signal)),
            signal);
    });
}

void mark_stopped(results::Run& run, int signal, const std::string& what_is_there) {
    if (signal == 0) return;
    run.warnings.insert(
        run.warnings.begin(),
        fmt::format("stopped by {} {}", base::StopSignals::name_of(signal), what_is_there));
    if (run.valid) run.exit_code = 128 + signal;
}

namespace {

constexpr int kTag = 79;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

}  // namespace

int StopNotes::heard() {
    if (signal_ != 0) return signal_;
    signal_ = base::StopSignals::received();
    if (signal_ == 0) return heard_from_others();
    pass_on();
    return signal_;
}

int StopNotes::heard_from_others() {
    if (signal_ != 0 || control_.world_size() == 1) return signal_;
    const auto now = Clock::now();
    if (now - looked_at_ < kBetweenLooks) return 0;
    looked_at_ = now;
    const auto source = comm::probe(control_, comm::kAnyRank, kTag);
    if (!source) return 0;
    take_from(*source);
    if (control_.rank() == 0) pass_on();
    return signal_;
}

// So that a signal to all ranks makes two notes a rank.
void StopNotes::pass_on() {
    has_passed_on_ = true;
    if (control_.rank() != 0) return send_to(0);
    for (int rank = 1; rank < control_.world_size(); ++rank) send_to(rank);
}

void StopNotes::take_from(int rank) {
    std::int32_t note = 0;
    comm::receive(control_, comm::view(std::span(&note, 1)), rank, kTag);
    taken_.insert(rank);
    if (signal_ == 0) signal_ = note;
}

void StopNotes::settle() {
    if (control_.world_size() == 1) return;
    std::int32_t any = has_passed_on_ ? 1 : 0;
    control_.allreduce(comm::view(std::span(&any, 1)), comm::ReduceOp::max);
    if (any == 0) return;
    const auto senders = comm::gather_values(control_, std::int32_t{has_passed_on_});
    for (int rank = 0; rank < control_.world_size(); ++rank) {
        const bool sends_here = rank == 0 ? control_.rank() != 0 : control_.rank() == 0;
        if (sends_here && senders[static_cast<std::size_t>(rank)] != 0 && !taken_.contains(rank))
            take_from(rank);
    }
}

void StopNotes::send_to(int rank) const {
    std::int32_t note = signal_;
    comm::send(control_, comm::view(std::span(&note, 1)), rank, kTag);
}

}  // namespace ranklab::experiments
