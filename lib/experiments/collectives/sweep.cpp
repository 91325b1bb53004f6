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

constexpr double kMicro = 1e6;
constexpr double kTelling = 100e-6;        // seconds: a word to all ranks of the job, on a quiet network
constexpr double kBetweenAsks = 0.25;      // seconds: so often a sweep can be ended
constexpr double kMostGathered = 1 << 20;  // calls x ranks at once: 8 MiB
constexpr int kRounds = 4;
constexpr int kFewestARound = 5;     // calls
constexpr double kLoadedLoop = 0.1;  // seconds: several time slices of the kernel
constexpr int kMostLoaded = 100;     // times as many calls as without a load

// Of several hosts all parts are timed where that is not forbidden.
bool wants_levels(const CollectivesOptions& options, const HostsOfJob& hosts) {
    return options.settings.levels == "all" ||
           (options.settings.levels == "auto" && !options.model && hosts.has_levels());
}

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

// So many calls in each round; all in one where there are few.
std::vector<int> rounds_of(int calls, bool in_one) {
    const int rounds = in_one ? 1 : std::clamp(calls / kFewestARound, 1, kRounds);
    std::vector<int> each;
    for (int round = 0; round < rounds; ++round)
        each.push_back(calls / rounds + (round < calls % rounds ? 1 : 0));
    return each;
}

}  // namespace

std::string MessageRow::name() const {
    std::string text = message.name(ranks);
    if (load != "idle") text += ":" + load;
    if (level != "job") text += ":" + level;
    return text;
}

Sweep::Sweep(const CollectivesOptions& options, const comm::BackendEntry& backend, comm::Communicator& data,
             comm::Communicator& control, std::function<bool()> ends)
    : options_(options),
      backend_(backend),
      control_(control),
      ends_(std::move(ends)),
      hosts_(hosts_of_job(control)),
      levels_(make_levels(data, control, hosts_, wants_levels(options, hosts_))),
      clocks_(control, hosts_.by_rank),
      arrivals_(static_cast<std::size_t>(control.world_size())),
      checker_(options, control, ends_),
      buffers_(options.buffers, options.memory),
      ahead_s_(std::max(kTelling, 40 * clocks_.error_s())) {
    plan();
}

void Sweep::plan() {
    if (options_.model) {
        order_.push_back({});
        return;
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        const Level& of = levels_[level];
        for (const bool loaded : {false, true}) {
            if (loaded && !options_.with_load()) continue;
            const std::size_t first = rows_.size();
            for (const auto& message : planned_messages(options_, backend_, of.ranks)) {
                const bool rooted = message.operation == comm::Operation::broadcast ||
                                    message.operation == comm::Operation::reduce;
                rows_.push_back({.message = message,
                                 .level = of.name,
                                 .load = loaded ? "loaded" : "idle",
                                 .ranks = of.ranks,
                                 .root = rooted ? root_at(of) : -1});
            }
            plan_rounds(first, level, loaded);
        }
    }
}

// The rows from `first` on; the same order on all ranks.
void Sweep::plan_rounds(std::size_t first, std::size_t level, bool loaded) {
    std::mt19937_64 lot(static_cast<std::uint64_t>(options_.common.seed));
    const auto calls = rounds_of(options_.policy.calls, options_.policy.between == Between::nothing_loop);
    for (std::size_t round = 0; round < calls.size(); ++round) {
        std::vector<Visit> visits;
        for (std::size_t row = first; row < rows_.size(); ++row)
            visits.push_back({row, level, calls[round], loaded, round + 1 == calls.size()});
        if (round > 0)  // the first goes from small to large, as people expect
            for (std::size_t i = visits.size(); i > 1; --i) std::swap(visits[i - 1], visits[lot() % i]);
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
    if (done_ >= order_.size()) return "looking at the clocks";
    if (options_.model) return "the buckets of " + options_.model->model;
    const MessageRow& row = rows_[order_[done_].row];
    return fmt::format("{} of {}", comm::name_of(row.message.operation),
                       base::human_bytes(static_cast<double>(row.message.bytes(row.ranks))));
}

bool Sweep::has_times() const {
    if (buckets_) return !buckets_->us.front().empty();
    return std::ranges::any_of(rows_, [](const MessageRow& row) { return !row.us.empty(); });
}

void Sweep::finish() {
    clocks_.finish();
}

int Sweep::root_at(const Level& level) const {
    return static_cast<int>(options_.settings.root) % level.ranks;
}

Sweep::Made Sweep::made_of(const Message& message, Buffers& buffers, Level& level) {
    Made made;
    if (!level.active) return made;
    made.transfers = buffers.transfers(message, root_at(level), level.ranks, level.data->rank());
    for (const auto& transfer : made.transfers) made.calls.push_back(backend_.prepare(*level.data, transfer));
    return made;
}

Caller Sweep::caller_of(const Made& made, const Level& level) const {
    return {.data = *level.data,
            .control = *level.control,
            .calls = made.calls,
            .clock_offset_s = clocks_.mine(),
            .ahead_s = ahead_s_,
            .clock_error_s = clocks_.error_s(),
            .sleep_s = options_.fault.sleeps_on_rank == control_.rank() ? options_.fault.sleep_s : 0};
}

// Of all ranks of the job; NaN of those that had no part in it.
measure::RankSamples Sweep::gathered(const std::vector<double>& mine, std::size_t rows, bool there) {
    return measure::gather_columns(control_, there ? mine : std::vector<double>(rows, stats::kNone));
}

// Between two ranks the first one's time alone is that of a whole way there and back.
std::vector<double> Sweep::folded(const measure::RankSamples& all, const Message& message) const {
    const auto policy =
        comm::is_between_two(message.operation) ? OverRanks::rank_0 : options_.policy.over_ranks;
    std::vector<double> us;
    for (std::size_t call = 0; call < all.rows(); ++call)
        us.push_back(kMicro / comm::messages_of(message.operation) *
                     over_ranks(std::span(all.values).subspan(call * all.ranks, all.ranks), policy));
    return us;
}

// Where a level has several groups, each goes its own way: a rank is late among its own.
void Sweep::note_arrivals(const CallTimes& times, bool there, const Level& level) {
    const std::size_t rows = times.came_s.size();
    std::vector<double> came = there ? times.came_s : std::vector<double>(rows, stats::kNone);
    for (double& at : came) at -= clocks_.mine();
    const auto group = measure::gather_columns(*level.control, came);
    const auto behind =
        gathered(behind_the_first(group, static_cast<std::size_t>(level.control->rank())), rows, there);
    const auto loops = gathered({times.off_core_s, times.wall_s}, 2, true);
    const std::span all(loops.values);
    const auto row = [&](std::size_t which) {
        const auto cells = all.subspan(which * loops.ranks, loops.ranks);
        return std::vector<double>(cells.begin(), cells.end());
    };
    // Without anything between two calls a rank runs ahead: it is not the others that are late.
    const bool apart = has_barriers(options_.policy.between) || options_.policy.between == Between::window;
    arrivals_.add(apart ? behind : measure::RankSamples{behind.ranks, {}}, row(0), row(1), clocks_.error_s());
}

// So few that the sweep can be ended soon, and that calls x ranks fit into little memory of each rank.
int Sweep::calls_at_once(double call_s, int left) const {
    const double fit = std::min(kBetweenAsks / std::max(call_s, 1e-9), kMostGathered / control_.world_size());
    return fit >= left ? left : std::max(1, static_cast<int>(fit));
}

// This rank's part of so many calls; of ranks that have none, as many times that are none.
CallTimes Sweep::make_calls(const Made& made, Level& level, Between between, int calls) {
    if (level.active) return time_calls(caller_of(made, level), between, calls);
    const std::size_t rows = between == Between::nothing_loop ? 1 : static_cast<std::size_t>(calls);
    CallTimes none;
    none.seconds.assign(rows, stats::kNone);
    none.came_s.assign(rows, stats::kNone);
    return none;
}

// The warm-up says how long a call takes, the slowest rank's.
double Sweep::warm_up(const Made& made, Level& level) {
    const int calls = options_.policy.warmup;
    if (calls == 0) return kBetweenAsks;
    const bool window = options_.policy.between == Between::window;
    const auto times = make_calls(made, level, window ? Between::window : Between::nothing, calls);
    if (comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max) > 0) ahead_s_ *= 2;
    return comm::reduced(control_, times.wall_s, comm::ReduceOp::max) / calls;
}

// Beside a load the loop lasts until the kernel has had its turns.
CallTimes Sweep::time_visit(const Visit& visit, const Made& made, Level& level) {
    double call_s = warm_up(made, level);
    double made_s = 0;
    const bool loop = options_.policy.between == Between::nothing_loop;
    const auto wants_more = [&](int done) {
        if (done < visit.calls) return true;
        return visit.loaded && !loop && made_s < kLoadedLoop && done < kMostLoaded * visit.calls;
    };
    CallTimes times;
    for (int done = 0; !ended_ && wants_more(done);) {
        const int now = calls_at_once(call_s, visit.calls > done ? visit.calls - done : done);
        auto some = make_calls(made, level, options_.policy.between, now);
        if (loop && done > 0) {  // one number, of all calls
            times.seconds[0] = with_more(times.seconds[0], some.seconds[0], static_cast<std::size_t>(done),
                                         static_cast<std::size_t>(now));
            some.seconds.clear(), some.came_s.clear();
        }
        times.add(some);
        done += now;
        const double wall_s = comm::reduced(control_, some.wall_s, comm::ReduceOp::max);
        call_s = wall_s / now;
        made_s += wall_s;
        if (wall_s > kBetweenAsks / 2) ended_ = ends_();
    }
    return times;
}

bool Sweep::time_message(const Visit& visit) {
    MessageRow& row = rows_[visit.row];
    Level& level = levels_[visit.level];
    const auto operation = row.message.operation;
    const Made made = made_of(row.message, buffers_, level);
    const double load_before = load_ ? load_->cpu_seconds() : 0, begin = measure::clock_seconds();
    const CallTimes times = time_visit(visit, made, level);
    const double took = measure::clock_seconds() - begin;
    const bool there = level.active && comm::takes_part(operation, level.data->rank(), level.ranks);
    if (load_)
        note_load(row, std::min(1.0, (load_->cpu_seconds() - load_before) / took), times, level.active);
    else
        note_arrivals(times, there, level);
    note_late_begins(row, times);
    const auto us = folded(gathered(times.seconds, times.seconds.size(), there), row.message);
    row.us.insert(row.us.end(), us.begin(), us.end());
    if (operation == comm::Operation::barrier && options_.policy.between == Between::barrier)
        row.wrong = row.wrong.value_or(0) + early_leavers(times, there, level);
    if (ended_ || !visit.last) return !ended_;
    if (operation != comm::Operation::barrier)
        row.wrong = checker_.wrong(row.message, level, made.transfers, made.calls, Form::run);
    return !starts(row.message) || time_started_form(visit, made, level);
}

bool Sweep::starts(const Message& message) const {
    const bool means_nothing =
        message.operation == comm::Operation::barrier && backend_.memory == comm::Memory::device;
    return options_.nonblocking && !message.in_place && can_start(message.operation) && !means_nothing;
}

// Shares of rows that grow: `now` is of as many calls more.
double Sweep::with_more(double share, double now, std::size_t calls, std::size_t more) {
    const auto old = static_cast<double>(calls);
    const auto some = static_cast<double>(more);
    return old + some > 0 ? (share * old + now * some) / (old + some) : 0;
}

void Sweep::note_load(MessageRow& row, double share, const CallTimes& times, bool active) {
    const auto shares = gathered({share}, 1, active);
    row.load_share = with_more(row.load_share, over_ranks(shares.values, OverRanks::mean), row.us.size(),
                               times.seconds.size());
}

void Sweep::note_late_begins(MessageRow& row, const CallTimes& times) {
    const double late = comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max);
    const std::size_t more = times.seconds.size();
    row.late_share =
        with_more(row.late_share, more > 0 ? late / static_cast<double>(more) : 0, row.us.size(), more);
}

// Calls of a barrier that a rank left before another one came, by more than the clocks' error.
std::int64_t Sweep::early_leavers(const CallTimes& times, bool there, const Level& level) {
    const std::size_t rows = times.came_s.size();
    std::vector<double> came(rows, stats::kNone), left(rows, stats::kNone);
    for (std::size_t call = 0; there && call < rows; ++call) {
        came[call] = times.came_s[call] - clocks_.mine();
        left[call] = came[call] + times.seconds[call];
    }
    const auto all_came = measure::gather_columns(*level.control, came);
    const auto all_left = measure::gather_columns(*level.control, left);
    std::int64_t wrong = 0;
    for (std::size_t call = 0; call < rows; ++call) {
        double last = -HUGE_VAL;
        double first = HUGE_VAL;
        for (std::size_t rank = 0; rank < all_came.ranks; ++rank) {
            last = std::fmax(last, all_came.at(call, rank));
            first = std::fmin(first, all_left.at(call, rank));
        }
        if (first < last - 2 * clocks_.error_s()) ++wrong;
    }
    return comm::reduced<std::int64_t>(control_, level.control->rank() == 0 ? wrong : 0, comm::ReduceOp::sum);
}

bool Sweep::time_started_form(const Visit& visit, const Made& made, Level& level) {
    StartedRow row;
    row.row = visit.row;
    StartedTimes times;
    if (level.active)
        times = time_started(caller_of(made, level), options_.policy, *options_.nonblocking, compute_);
    const auto rows = static_cast<std::size_t>(options_.policy.calls);
    for (const auto& [to, from] : {std::pair{&StartedRow::pure, &StartedTimes::pure},
                                   {&StartedRow::compute, &StartedTimes::compute},
                                   {&StartedRow::overall, &StartedTimes::overall},
                                   {&StartedRow::init, &StartedTimes::init},
                                   {&StartedRow::test, &StartedTimes::test},
                                   {&StartedRow::wait, &StartedTimes::wait}}) {
        const std::vector<double> none(rows, -HUGE_VAL);
        for (const double seconds : measure::largest_of_ranks(control_, level.active ? times.*from : none))
            (row.*to).push_back(kMicro * seconds);
    }
    const auto& message = rows_[visit.row].message;
    if (message.operation != comm::Operation::barrier)
        row.wrong = checker_.wrong(message, level, made.transfers, made.calls, Form::started);
    started_.push_back(std::move(row));
    ended_ = ends_();
    return !ended_;
}

// Each bucket has memory of its own, as in training, and all of them are reduced in place in each pass.
bool Sweep::time_buckets() {
    Level& level = levels_.front();
    std::vector<Buffers> memory;
    std::vector<Made> made;
    buckets_.emplace();
    for (const auto& bucket : options_.model->rows) {
        Message message{.operation = comm::Operation::allreduce, .dtype = bucket.dtype, .in_place = true};
        message.part = static_cast<std::size_t>(bucket.elements);
        memory.emplace_back(options_.buffers);
        made.push_back(made_of(message, memory.back(), level));
        buckets_->messages.push_back(message);
    }
    buckets_->us.resize(made.size());
    buckets_->wrong.resize(made.size());
    for (int pass = -options_.policy.warmup; pass < options_.policy.calls && !ended_; ++pass) {
        time_pass(made, pass >= 0);
        ended_ = ends_();
    }
    if (ended_) return false;
    for (std::size_t b = 0; b < made.size(); ++b)
        buckets_->wrong[b] =
            checker_.wrong(buckets_->messages[b], level, made[b].transfers, made[b].calls, Form::run);
    return true;
}

void Sweep::time_pass(std::vector<Made>& made, bool counts) {
    Level& level = levels_.front();
    for (std::size_t b = 0; b < made.size(); ++b) {
        const auto times = time_calls(caller_of(made[b], level), Between::barrier, 1);
        if (!counts) continue;
        const auto us = folded(gathered(times.seconds, 1, true), buckets_->messages[b]);
        buckets_->us[b].push_back(us.front());
        note_arrivals(times, true, level);
    }
}

}  // namespace ranklab::experiments
