#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kTelling = 100e-6;  // seconds: a word to all ranks of the job, on a quiet network
constexpr double kBetweenAsks = 0.25;      // seconds: so often a sweep can be ended
constexpr double kMostGathered = 1 << 20;  // calls x ranks at once: 8 MiB
constexpr int kRounds = 4;
constexpr int kFewestARound = 5;     // calls
constexpr double kLoadedLoop = 0.1;  // seconds: several time slices of the kernel
constexpr int kMostLoaded = 100;     // times as many calls as without a load

// On several hosts all levels are timed unless an option excludes them.
bool wants_levels(const CollectivesOptions& options, const HostsOfJob& hosts) {
    return options.settings.scope == "all" ||
           (options.settings.scope == "auto" && !options.model && hosts.has_levels());
}

// So many calls in each round; all in one where there are few.
std::vector<int> rounds_of(int calls, bool in_one) {
    const int rounds = in_one ? 1 : std::clamp(calls / kFewestARound, 1, kRounds);
    std::vector<int> each;
    for (int round = 0; round < rounds; ++round)
        each.push_back(calls / rounds + (round < calls % rounds ? 1 : 0));
    return each;
}

}  // namespace

Sweep::Sweep(const CollectivesOptions& options, const comm::BackendEntry& backend,
             comm::Communicator& data, comm::Communicator& control, std::function<bool()> ends)
    : options_(options),
      backend_(backend),
      control_(control),
      ends_(std::move(ends)),
      hosts_(hosts_of_job(control)),
      levels_(make_levels(data, control, hosts_, wants_levels(options, hosts_))),
      clocks_(control, hosts_.by_rank),
      arrivals_(static_cast<std::size_t>(control.world_size())),
      buffers_(options.buffers, options.memory),
      ahead_s_(std::max(kTelling, 40 * clocks_.error_s())) {
    plan();
}

void Sweep::plan() {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        const Level& of = levels_[level];
        for (const bool loaded : {false, true}) {
            if (loaded && !options_.settings.with_load) continue;
            const std::size_t first = rows_.size();
            for (const auto& message : planned_messages(options_, backend_, of.ranks)) {
                const bool rooted = message.operation == comm::Operation::broadcast ||
                                    message.operation == comm::Operation::reduce;
                rows_.push_back({.message = message,
                                 .level = of.name,
                                 .load = loaded ? "loaded" : "idle",
                                 .ranks = of.ranks,
                                 .root = rooted ? root_at(of) : -1,
                                 .bucket = options_.model ? static_cast<int>(rows_.size()) : -1});
            }
            plan_rounds(first, level, loaded);
        }
    }
}

// The rows from `first` on; the same order on all ranks.
void Sweep::plan_rounds(std::size_t first, std::size_t level, bool loaded) {
    if (options_.model) return order_.push_back({});  // all buckets in one visit
    std::mt19937_64 lot(static_cast<std::uint64_t>(options_.common.seed));
    const auto calls =
        rounds_of(options_.policy.calls, options_.policy.between == CallSync::nothing_loop);
    for (std::size_t round = 0; round < calls.size(); ++round) {
        std::vector<Visit> visits;
        for (std::size_t row = first; row < rows_.size(); ++row)
            visits.push_back({row, level, calls[round], loaded, round + 1 == calls.size()});
        if (round > 0)  // the first goes from small to large, as people expect
            for (std::size_t i = visits.size(); i > 1; --i)
                std::swap(visits[i - 1], visits[lot() % i]);
        order_.insert(order_.end(), visits.begin(), visits.end());
    }
}

bool Sweep::step() {
    const Visit& visit = order_.at(done_);
    clocks_.refresh();
    if (visit.loaded && load_ == nullptr) load_ = std::make_unique<Load>();
    if (!visit.loaded) load_.reset();
    const bool whole = options_.model ? time_buckets() : time_message(visit);
    if (whole) ++done_;
    if (!whole || done_ == order_.size()) load_.reset();
    return whole;
}

std::string Sweep::next() const {
    if (done_ >= order_.size()) return "finishing";
    if (options_.model) return "the buckets of " + options_.model->model;
    const MessageRow& row = rows_[order_[done_].row];
    return fmt::format("{} of {}", comm::name_of(row.message.operation),
                       base::human_bytes(static_cast<double>(row.message.bytes(row.ranks))));
}

bool Sweep::has_times() const {
    return std::ranges::any_of(rows_, [](const MessageRow& row) { return !row.us.empty(); });
}

int Sweep::root_at(const Level& level) const {
    return static_cast<int>(options_.settings.root) % level.ranks;
}

Sweep::PreparedCalls Sweep::made_of(const Message& message, Buffers& buffers, Level& level) {
    PreparedCalls made;
    if (!level.active) return made;
    made.takes_part = comm::takes_part(message.operation, level.data->rank(), level.ranks);
    made.transfers = buffers.transfers(message, root_at(level), level.ranks, level.data->rank());
    for (const auto& transfer : made.transfers)
        made.calls.push_back(backend_.prepare(*level.data, transfer));
    return made;
}

Caller Sweep::caller_of(const PreparedCalls& made, const Level& level) const {
    return {
        .data = *level.data,
        .control = *level.control,
        .calls = made.calls,
        .clock_offset_s = clocks_.mine(),
        .ahead_s = ahead_s_,
        .clock_error_s = clocks_.error_s(),
        .sleep_s = options_.fault.sleeps_on_rank == control_.rank() ? options_.fault.sleep_s : 0};
}

void Sweep::add_times(MessageRow& row, const CallTimes& times) {
    const auto us =
        us_over_ranks(control_, times.seconds, row.message.operation, options_.policy.over_ranks);
    row.us.insert(row.us.end(), us.begin(), us.end());
}

// Where a level has several groups, each goes its own way: a rank is late among its own.
void Sweep::note_arrivals(const CallTimes& times, const Level& level) {
    auto behind = behind_the_first(times, *level.control, clocks_.mine());
    // Without anything between two calls a rank runs ahead: it is not the others that are late.
    if (!begins_together(options_.policy.between)) behind.clear();
    arrivals_.add(measure::gather_columns(control_, behind), clocks_.error_s());
}

// Chooses so few calls that the sweep can end soon, and that calls x ranks take little memory of
// each rank.
int Sweep::calls_at_once(double call_s, int left) const {
    const double fit =
        std::min(kBetweenAsks / std::max(call_s, 1e-9), kMostGathered / control_.world_size());
    return fit >= left ? left : std::max(1, static_cast<int>(fit));
}

// This rank's part of so many calls; of ranks that have none, as many times that are none.
CallTimes Sweep::make_calls(const PreparedCalls& made, Level& level, CallSync between, int calls) {
    CallTimes times;
    if (level.active) times = time_calls(caller_of(made, level), between, calls);
    if (made.takes_part) return times;
    times.seconds.assign(between == CallSync::nothing_loop ? 1 : static_cast<std::size_t>(calls),
                         stats::kNone);
    times.came_s = times.seconds;
    return times;
}

// The warm-up says how long a call takes, the slowest rank's.
double Sweep::warm_up(const PreparedCalls& made, Level& level) {
    const int calls = options_.policy.warmup;
    if (calls == 0) return kBetweenAsks;
    const bool window = options_.policy.between == CallSync::window;
    const auto times =
        make_calls(made, level, window ? CallSync::window : CallSync::nothing, calls);
    if (comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max) > 0) ahead_s_ *= 2;
    return comm::reduced(control_, times.wall_s, comm::ReduceOp::max) / calls;
}

// Beside a load the loop lasts until the kernel has had its turns.
CallTimes Sweep::time_visit(const Visit& visit, const PreparedCalls& made, Level& level) {
    double call_s = warm_up(made, level);
    double made_s = 0;
    const bool loop = options_.policy.between == CallSync::nothing_loop;
    const auto wants_more = [&](int done) {
        if (done < visit.calls) return true;
        return visit.loaded && !loop && made_s < kLoadedLoop && done < kMostLoaded * visit.calls;
    };
    CallTimes times;
    double loops_s = 0;
    int done = 0;
    while (!ended_ && wants_more(done)) {
        const int now = calls_at_once(call_s, visit.calls > done ? visit.calls - done : done);
        const auto some = make_calls(made, level, options_.policy.between, now);
        times.add(some);
        done += now;
        loops_s += some.seconds.front() * now;
        const double wall_s = comm::reduced(control_, some.wall_s, comm::ReduceOp::max);
        call_s = wall_s / now;
        made_s += wall_s;
        if (wall_s > kBetweenAsks / 2) ended_ = ends_();
    }
    if (loop) {  // one number, of all calls
        times.seconds.assign(1, loops_s / done);
        times.came_s.resize(1);
    }
    return times;
}

bool Sweep::time_message(const Visit& visit) {
    MessageRow& row = rows_[visit.row];
    Level& level = levels_[visit.level];
    const bool is_barrier = row.message.operation == comm::Operation::barrier;
    const PreparedCalls made = made_of(row.message, buffers_, level);
    const double load_before = load_ ? load_->cpu_seconds() : 0, begin = measure::clock_seconds();
    const CallTimes times = time_visit(visit, made, level);
    const double took = measure::clock_seconds() - begin;
    if (load_) {
        const double share = std::min(1.0, (load_->cpu_seconds() - load_before) / took);
        const auto shares = comm::gather_values(control_, level.active ? share : stats::kNone);
        row.load_shares.push_back(over_ranks(shares, RankReduction::mean));
    } else {
        note_arrivals(times, level);
    }
    row.late_begins += comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max);
    add_times(row, times);
    if (is_barrier && options_.policy.between == CallSync::barrier) {
        const auto early =
            early_leavers(times, *level.control, clocks_.mine(), 2 * clocks_.error_s());
        const auto all =
            comm::reduced(control_, level.control->rank() == 0 ? early : 0, comm::ReduceOp::sum);
        row.wrong = row.wrong.value_or(0) + all;
    }
    if (ended_ || !visit.last) return !ended_;
    if (!is_barrier) row.wrong = check(row.message, made, level, Form::run);
    return !starts(row.message) || time_started_form(row, made, level);
}

// Between two ranks there is no started form, and on a GPU a barrier's means nothing.
bool Sweep::starts(const Message& message) const {
    if (!options_.nonblocking || message.in_place || comm::is_between_two(message.operation))
        return false;
    return message.operation != comm::Operation::barrier || backend_.memory != comm::Memory::device;
}

// Elements of all ranks' results that are wrong; nothing where no check is asked for.
std::optional<std::int64_t> Sweep::check(const Message& message, const PreparedCalls& made,
                                         const Level& level, Form form) {
    if (options_.policy.checks == 0) return std::nullopt;
    constexpr int kBetweenEnds = 16;
    std::int64_t wrong = 0;
    for (int time = 0; time < options_.policy.checks; ++time, ++checks_) {
        if (time % kBetweenEnds == kBetweenEnds - 1 && ends_()) break;
        if (!level.active) continue;
        const std::size_t which = static_cast<std::size_t>(time) % made.calls.size();
        const bool flips = options_.fault.flips_on_rank == control_.rank();
        wrong += wrong_of_call(message, *level.data, made.transfers[which], *made.calls[which],
                               {.form = form, .salt = checks_, .flips_a_bit = flips});
    }
    return comm::reduced(control_, wrong, comm::ReduceOp::sum);
}

bool Sweep::time_started_form(MessageRow& row, const PreparedCalls& made, Level& level) {
    StartedTimes times;
    if (level.active)
        times =
            time_started(caller_of(made, level), options_.policy, *options_.nonblocking, compute_);
    row.started = longest_us(control_, std::move(times), options_.policy.calls);
    if (row.message.operation != comm::Operation::barrier)
        row.started_wrong = check(row.message, made, level, Form::started);
    ended_ = ends_();
    return !ended_;
}

// Each bucket has memory of its own, as in training, and all of them are reduced in place in each
// pass.
bool Sweep::time_buckets() {
    Level& level = levels_.front();
    std::vector<Buffers> memory;
    std::vector<PreparedCalls> made;
    for (const auto& row : rows_) {
        memory.emplace_back(options_.buffers);
        made.push_back(made_of(row.message, memory.back(), level));
    }
    for (int pass = -options_.policy.warmup; pass < options_.policy.calls && !ended_; ++pass) {
        for (std::size_t b = 0; b < made.size(); ++b) {
            const auto times = time_calls(caller_of(made[b], level), CallSync::barrier, 1);
            if (pass < 0) continue;
            add_times(rows_[b], times);
            note_arrivals(times, level);
        }
        ended_ = ends_();
    }
    if (ended_) return false;
    for (std::size_t b = 0; b < made.size(); ++b)
        rows_[b].wrong = check(rows_[b].message, made[b], level, Form::run);
    return true;
}

}  // namespace ranklab::experiments
