#include "experiments/shared/stop_poll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
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
                            std::max<std::int64_t>(1, elapsed / units),
                            time_limit_s_ && seconds() > *time_limit_s_ ? 1 : 0};
    control_.allreduce(comm::view(std::span(facts)), comm::ReduceOp::max);
    signal_ = static_cast<int>(facts[0]);
    late_ = late_ || facts[2] != 0;
    last_asked_ = now;
    last_ = done_;
    next_ = done_ + std::clamp<std::int64_t>(kBetweenAsksNs / facts[1], 1, kMostUnits);
    return interrupted();
}

void stop_if_asked(comm::Communicator& control, const std::string& where, int signal) {
    comm::all_or_throw(control, [&] {
        if (signal != 0)
            throw base::Interrupted(
                fmt::format("stopped by {} {}", base::StopSignals::name_of(signal), where), signal);
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
    mark_stopped(run, signal, where + ": the numbers cover only the work done until then" + more);
}

namespace {

constexpr std::int64_t kMostTimesLeast = 20;
constexpr std::int64_t kAsManyAsCome = std::int64_t{1} << 40U;

results::Table looks_table(const measure::Convergence& convergence) {
    results::Rows table("convergence");
    for (const auto& look : convergence.looks()) {
        const auto& found = look.estimate;
        table.add({look.samples, found.value, found.ci.low, found.ci.high, 100 * look.half_width(),
                   100 * convergence.target(), found.effective_n, std::string(found.method)});
    }
    return std::move(table).table();
}

}  // namespace

measure::Convergence convergence_of(const TargetCi& target, std::int64_t least) {
    if (!target) return {};
    return {measure::parse_target(*target), least};
}

std::int64_t most_samples(const TargetCi& target, bool has_time_limit, std::int64_t least) {
    if (!target) return least;
    if (has_time_limit) return kAsManyAsCome;
    return least > kAsManyAsCome / kMostTimesLeast ? kAsManyAsCome : least * kMostTimesLeast;
}

void add_convergence(results::Run& run, const measure::Convergence& convergence,
                     const std::string& unit, std::int64_t least) {
    if (!convergence.wanted()) return;
    const std::string found = convergence.text(unit);
    run.tables.push_back(looks_table(convergence));
    run.add_fact(vocabulary::fact::kConverged, vocabulary::yes_or_no(convergence.reached()),
                 "(" + found + ")");
    if (convergence.reached() || !run.valid || convergence.seen() < least) return;
    if (run.exit_code == 0) run.exit_code = static_cast<int>(base::ExitCode::invalid_measurement);
    run.warnings.insert(
        run.warnings.begin(),
        fmt::format(
            "not converged: {}; give more time (--time-limit), or see docs/reducing_variance.md",
            found));
}

}  // namespace ranklab::experiments
