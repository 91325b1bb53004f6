#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/pattern.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kMicro = 1e6;

// How long each call was waited for by the group's first.
std::vector<double> behind_the_first(const measure::RankSamples& came, std::size_t rank) {
    std::vector<double> behind;
    for (std::size_t call = 0; call < came.rows(); ++call) {
        double first = HUGE_VAL;
        for (std::size_t other = 0; other < came.ranks; ++other)
            first = std::fmin(first, came.at(call, other));
        behind.push_back(came.at(call, rank) - first);
    }
    return behind;
}

// The least sure of all clocks.
double error_of(const std::vector<measure::ClockOffset>& clocks) {
    return std::ranges::max(clocks, {}, &measure::ClockOffset::error_s).error_s;
}

// Of the first element's last byte: in no type is that within what a sum may be off.
void flip_a_bit(const comm::BufferView& result) {
    if (result.count == 0) return;
    static_cast<unsigned char*>(result.data)[comm::size_of(result.dtype) - 1] ^= 1U;
}

}  // namespace

std::string MessageRow::name() const {
    std::string text = message.name(ranks);
    if (load != "idle") text += ":" + load;
    if (level != "job") text += ":" + level;
    return text;
}

Sweep::Sweep(const CollectivesOptions& options, const comm::BackendEntry& backend, comm::Communicator& data,
             comm::Communicator& control)
    : options_(options),
      backend_(backend),
      control_(control),
      levels_(make_levels(data, control,
                          options.is("levels", "all") ||
                              (options.is("levels", "auto") && !options.model && has_levels(control)))),
      buffers_(options.buffers),
      clocks_(measure::clock_offsets(control)),
      arrivals_(static_cast<std::size_t>(control.world_size()), error_of(clocks_)) {
    plan();
}

void Sweep::plan() {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        for (const bool loaded : {false, true}) {
            if (loaded && !options_.with_load()) continue;
            if (options_.model) units_.push_back({level, loaded, {}});
            for (const auto& message : planned_messages(options_, backend_, levels_[level].ranks))
                units_.push_back({level, loaded, message});
        }
    }
}

void Sweep::step() {
    const Unit& unit = units_.at(done_);
    if (unit.loaded && load_ == nullptr) load_ = std::make_unique<Load>();
    if (!unit.loaded) load_.reset();
    Level& level = levels_[unit.level];
    if (options_.model) {
        time_buckets();
    } else {
        time_message(unit, level);
        if (options_.nonblocking && !unit.message.in_place && can_start(unit.message.operation))
            time_started_form(unit, level);
    }
    ++done_;
    if (done_ == units_.size()) load_.reset();
}

std::string Sweep::next() const {
    if (done_ >= units_.size()) return "looking at the clocks";
    const Unit& unit = units_[done_];
    if (options_.model) return "the buckets of " + options_.model->model;
    return fmt::format("{} of {}", comm::name_of(unit.message.operation),
                       base::human_bytes(static_cast<double>(unit.message.bytes(levels_[unit.level].ranks))));
}

void Sweep::finish() {
    clocks_at_end_ = measure::clock_offsets(control_);
}

int Sweep::root_at(const Level& level) const {
    return static_cast<int>(options_.integer("root")) % level.ranks;
}

double Sweep::sleep_s() const {
    return options_.fault.sleeps_on_rank == control_.rank() ? options_.fault.sleep_s : 0;
}

std::vector<std::unique_ptr<comm::Prepared>> Sweep::prepared(const std::vector<comm::Transfer>& transfers,
                                                             Level& level) {
    std::vector<std::unique_ptr<comm::Prepared>> calls;
    for (const auto& transfer : transfers) calls.push_back(backend_.prepare(*level.data, transfer));
    return calls;
}

Caller Sweep::caller_of(const std::vector<std::unique_ptr<comm::Prepared>>& calls, const Level& level) const {
    constexpr double kTelling = 100e-6;  // a word to all ranks of the job, on a quiet network
    return {.data = *level.data,
            .control = *level.control,
            .calls = calls,
            .clock_offset_s = clocks_[static_cast<std::size_t>(control_.rank())].offset_s,
            .ahead_s = std::max(kTelling, 40 * error_of(clocks_)),
            .sleep_s = sleep_s()};
}

// Of all ranks of the job; NaN of those that had no part in it.
measure::RankSamples Sweep::gathered(const std::vector<double>& mine, std::size_t rows, bool there) {
    return measure::gather_columns(control_, there ? mine : std::vector<double>(rows, stats::kNone));
}

std::vector<double> Sweep::folded(const measure::RankSamples& all, double factor) const {
    std::vector<double> us;
    for (std::size_t call = 0; call < all.rows(); ++call)
        us.push_back(factor * over_ranks(std::span(all.values).subspan(call * all.ranks, all.ranks),
                                         options_.policy.over_ranks));
    return us;
}

// Where a level has several groups, each goes its own way: a rank is late among its own.
void Sweep::note_arrivals(const CallTimes& times, std::size_t rows, bool there, const Level& level) {
    std::vector<double> came = there ? times.came_s : std::vector<double>(rows, stats::kNone);
    for (double& at : came) at -= clocks_[static_cast<std::size_t>(control_.rank())].offset_s;
    came_ = measure::gather_columns(*level.control, came);
    const auto behind =
        gathered(behind_the_first(came_, static_cast<std::size_t>(level.control->rank())), rows, there);
    const auto loops = gathered({times.off_core_s, times.wall_s}, 2, true);
    const std::span all(loops.values);
    const bool apart = options_.policy.between != Between::nothing_loop;
    const auto row = [&](std::size_t which) {
        const auto cells = all.subspan(which * loops.ranks, loops.ranks);
        return std::vector<double>(cells.begin(), cells.end());
    };
    arrivals_.add(apart ? behind : measure::RankSamples{behind.ranks, {}}, row(0), row(1));
}

MessageRow Sweep::row_of(const Unit& unit, const Level& level) const {
    const auto operation = unit.message.operation;
    const bool rooted = operation == comm::Operation::broadcast || operation == comm::Operation::reduce;
    return {.message = unit.message,
            .level = level.name,
            .load = unit.loaded ? "loaded" : "idle",
            .ranks = level.ranks,
            .root = rooted ? root_at(level) : -1,
            .us = {},
            .wrong = {}};
}

void Sweep::time_message(const Unit& unit, Level& level) {
    MessageRow row = row_of(unit, level);
    const auto operation = unit.message.operation;
    const bool loop = options_.policy.between == Between::nothing_loop;
    const std::size_t rows = loop ? 1 : static_cast<std::size_t>(options_.policy.calls);
    CallTimes times;
    std::vector<std::unique_ptr<comm::Prepared>> calls;
    std::vector<comm::Transfer> transfers;
    if (level.active) {
        const int rank = level.data->rank();
        transfers = buffers_.transfers(unit.message, root_at(level), level.ranks, rank);
        calls = prepared(transfers, level);
        times = time_calls(caller_of(calls, level), options_.policy);
    }
    const bool there = level.active && comm::takes_part(operation, level.data->rank(), level.ranks);
    const auto seconds = gathered(times.seconds, rows, there);
    note_arrivals(times, rows, there, level);
    row.us = folded(seconds, kMicro / comm::messages_of(operation));
    if (operation == comm::Operation::barrier && !loop && options_.policy.between == Between::barrier)
        row.wrong = early_leavers(there ? times.seconds : std::vector<double>(rows, stats::kNone), level);
    else if (operation != comm::Operation::barrier)
        row.wrong = check(unit.message, level, transfers, calls, row.checked);
    rows_.push_back(std::move(row));
}

// Calls of a barrier that a rank left before another one came, by more than the clocks' error.
std::int64_t Sweep::early_leavers(const std::vector<double>& mine, const Level& level) {
    const auto seconds = measure::gather_columns(*level.control, mine);
    std::int64_t wrong = 0;
    for (std::size_t call = 0; call < seconds.rows(); ++call) {
        double last_came = -HUGE_VAL;
        double first_left = HUGE_VAL;
        for (std::size_t rank = 0; rank < seconds.ranks; ++rank) {
            const double came = came_.at(call, rank);
            if (std::isnan(came)) continue;
            last_came = std::max(last_came, came);
            first_left = std::min(first_left, came + seconds.at(call, rank));
        }
        if (first_left < last_came - 2 * error_of(clocks_)) ++wrong;
    }
    return comm::reduced<std::int64_t>(control_, level.control->rank() == 0 ? wrong : 0, comm::ReduceOp::sum);
}

// Each check has numbers of its own, so that what an earlier call left is wrong.
std::optional<std::int64_t> Sweep::check(const Message& message, Level& level,
                                         const std::vector<comm::Transfer>& transfers,
                                         std::vector<std::unique_ptr<comm::Prepared>>& calls,
                                         std::int64_t& compared) {
    if (options_.policy.checks == 0) return std::nullopt;
    std::int64_t wrong = 0;
    std::int64_t elements = 0;
    for (int time = 0; time < options_.policy.checks; ++time, ++salt_) {
        if (!level.active) continue;
        const std::size_t which = static_cast<std::size_t>(time) % calls.size();
        const int rank = level.data->rank();
        const Pattern pattern(message, level.ranks, salt_);
        const HostSide host(transfers[which]);
        fill_message(message, pattern, host.host(), rank);
        host.to_device();
        calls[which]->run();
        level.data->synchronize();
        const auto result = host.fetched(calls[which]->result());
        if (options_.fault.flips_on_rank == control_.rank()) flip_a_bit(result);
        wrong += static_cast<std::int64_t>(
            wrong_in(message, pattern, result, transfers[which].root, rank, level.ranks));
        elements += static_cast<std::int64_t>(result.count);
    }
    compared = comm::reduced(control_, elements, comm::ReduceOp::sum);
    return comm::reduced(control_, wrong, comm::ReduceOp::sum);
}

void Sweep::time_started_form(const Unit& unit, Level& level) {
    StartedRow row;
    row.message = unit.message;
    row.level = level.name;
    row.load = unit.loaded ? "loaded" : "idle";
    row.ranks = level.ranks;
    StartedTimes times;
    if (level.active) {
        const auto transfers =
            buffers_.transfers(unit.message, root_at(level), level.ranks, level.data->rank());
        const auto calls = prepared(transfers, level);
        times = time_started(caller_of(calls, level), options_.policy, *options_.nonblocking, compute_);
    }
    const auto rows = static_cast<std::size_t>(options_.policy.calls);
    const auto longest = [&](std::vector<double> StartedTimes::*part) {
        auto us = gathered(times.*part, rows, level.active);
        std::vector<double> all;
        for (std::size_t call = 0; call < us.rows(); ++call)
            all.push_back(kMicro * over_ranks(std::span(us.values).subspan(call * us.ranks, us.ranks),
                                              OverRanks::longest));
        return all;
    };
    row.pure = longest(&StartedTimes::pure);
    row.compute = longest(&StartedTimes::compute);
    row.overall = longest(&StartedTimes::overall);
    row.init = longest(&StartedTimes::init);
    row.test = longest(&StartedTimes::test);
    row.wait = longest(&StartedTimes::wait);
    started_.push_back(std::move(row));
}

// Each bucket has memory of its own, as in training, and all of them are reduced in place in each pass.
void Sweep::time_buckets() {
    Level& level = levels_.front();
    BucketRows found;
    std::vector<Buffers> memory;
    std::vector<std::vector<comm::Transfer>> transfers;
    std::vector<std::vector<std::unique_ptr<comm::Prepared>>> calls;
    for (const auto& bucket : options_.model->rows) {
        Message message{.operation = comm::Operation::allreduce, .dtype = bucket.dtype, .in_place = true};
        message.part = static_cast<std::size_t>(bucket.elements);
        memory.emplace_back(options_.buffers);
        transfers.push_back(memory.back().transfers(message, 0, level.ranks, level.data->rank()));
        calls.push_back(prepared(transfers.back(), level));
        found.messages.push_back(message);
    }
    found.us.resize(calls.size());
    Policy one_call = options_.policy;
    one_call.calls = 1;
    for (int pass = -options_.policy.warmup; pass < options_.policy.calls; ++pass) {
        one_call.warmup = 0;
        for (std::size_t b = 0; b < calls.size(); ++b) {
            const auto times = time_calls(caller_of(calls[b], level), one_call);
            if (pass >= 0) found.us[b].push_back(times.seconds.front());
        }
    }
    for (std::size_t b = 0; b < calls.size(); ++b) {
        found.us[b] = folded(gathered(found.us[b], 0, true), kMicro);
        std::int64_t compared = 0;
        found.wrong.push_back(check(found.messages[b], level, transfers[b], calls[b], compared));
    }
    buckets_ = std::move(found);
}

}  // namespace ranklab::experiments
