#include "experiments/shared/stop_poll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"

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
    comm::all_or_throw(control, [&] {
        if (const int signal = base::StopSignals::received(); signal != 0)
            throw base::Interrupted(
                fmt::format("stopped by {} {}", base::StopSignals::name_of(signal), where), signal);
    });
}

void refuse_after_a_stop(comm::Communicator& control, int signal) {
    if (signal == 0) return;
    comm::all_or_throw(control, [&] {
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

void mark_early_end(results::Run& run, bool at_time_limit, int signal, const std::string& where,
                    const std::string& more) {
    if (run.valid && at_time_limit) {
        run.exit_code = static_cast<int>(base::ExitCode::time_limit);
        run.warnings.insert(run.warnings.begin(), "the time limit ended the run " + where);
    }
    mark_stopped(run, signal, where + ": the numbers cover what was done" + more);
}

}  // namespace ranklab::experiments
