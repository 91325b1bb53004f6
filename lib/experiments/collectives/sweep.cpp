#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/buffers.hpp"
#include "experiments/collectives/pattern.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kAnnouncement = 100e-6;   // s: a broadcast to all ranks, on a quiet network
constexpr double kBetweenAsks = 0.25;      // s: between two looks at signals and time limit
constexpr double kMostGathered = 1 << 20;  // calls x ranks gathered at once: 8 MiB
constexpr int kRounds = 4;
constexpr int kFewestARound = 5;     // calls
constexpr double kLoadedLoop = 0.1;  // s: several time slices of the kernel
constexpr int kMostLoaded = 100;     // times as many calls as without a load

bool wants_levels(const CollectivesOptions& options, const HostsOfJob& hosts) {
    return options.settings.scope == "all" ||
           (options.settings.scope == "auto" && !options.model && hosts.has_levels());
}

// The calls of each round. Few calls make one round.
std::vector<int> rounds_of(int calls, bool in_one) {
    const int rounds = in_one ? 1 : std::clamp(calls / kFewestARound, 1, kRounds);
    std::vector<int> each;
    for (int round = 0; round < rounds; ++round)
        each.push_back(calls / rounds + (round < calls % rounds ? 1 : 0));
    return each;
}

class Sweeper : base::Immovable {
  public:
    Sweeper(const CollectivesOptions& options, const comm::BackendEntry& backend,
            const RunContext& context)
        : options_(options),
          backend_(backend),
          context_(context),
          control_(context.control),
          data_(backend.make(control_)),
          hosts_(hosts_of_job(control_)),
          levels_(make_levels(*data_, control_, hosts_, wants_levels(options, hosts_))),
          clocks_(control_, hosts_.by_rank),
          arrivals_(static_cast<std::size_t>(control_.world_size())),
          buffers_(options.buffers, options.memory),
          ahead_s_(std::max(kAnnouncement, 40 * clocks_.error_s())),
          stop_(control_) {
        plan();
        context_.started("making the data plane");
    }

    void run() {
        auto& progress = context_.progress;
        progress.counts("visits");
        context_.counting.begins();
        while (done_ < order_.size() && !ended_) {
            progress.activity(text_of(done_));
            const Visit& visit = order_[done_];
            clocks_.refresh();
            if (visit.loaded != (load_ != nullptr))
                load_ = visit.loaded ? std::make_unique<Load>() : nullptr;
            options_.model ? time_buckets() : time_message(visit);
            if (done_ == 0 && context_.start_up != nullptr)
                context_.start_up->finish("the first message size");
            if (!ended_ && ++done_ < order_.size()) ends();
            progress.update(static_cast<std::int64_t>(done_),
                            static_cast<std::int64_t>(order_.size()),
                            static_cast<double>(done_) / base::seconds_since(began_), "visits/s",
                            text_of(done_));
        }
        load_.reset();
        if (std::ranges::all_of(rows_, [](const MessageRow& row) { return row.us.empty(); }))
            refuse_after_a_stop(control_, stop_.signal());
        context_.counting.ends();
    }
    Sweep take() && {
        return {.options = options_,
                .backend = backend_,
                .hosts = std::move(hosts_),
                .clocks = clocks_.offsets(),
                .arrivals = std::move(arrivals_),
                .rows = std::move(rows_),
                .visits_planned = order_.size(),
                .visits_done = done_,
                .stopped_by = stop_.signal(),
                .hit_time_limit = hit_time_limit_};
    }

  private:
    struct Visit {
        std::size_t row = 0, level = 0;
        int calls = 0;
        bool loaded = false;
        bool last = false;  // of its message
    };
    // The calls of one message on one level.
    struct PreparedCalls {
        std::vector<comm::Transfer> transfers;
        std::vector<std::unique_ptr<comm::Prepared>> calls;
        bool takes_part = false;  // this rank, in the operation
    };

    void plan() {
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const Level& of = levels_[level];
            for (const bool loaded : {false, true}) {
                if (loaded && !options_.settings.with_load) continue;
                const std::size_t first = rows_.size();
                for (const auto& message : planned_messages(options_, backend_, of.ranks)) {
                    const bool rooted = message.operation == comm::Operation::broadcast ||
                                        message.operation == comm::Operation::reduce;
                    rows_.push_back(
                        {.message = message,
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

    // Visits of the rows from `first` on, in the same order on all ranks.
    void plan_rounds(std::size_t first, std::size_t level, bool loaded) {
        if (options_.model) return order_.push_back({});  // one visit times all buckets
        std::mt19937_64 random(static_cast<std::uint64_t>(options_.common.seed));
        const auto calls =
            rounds_of(options_.policy.calls, options_.policy.between == CallSync::nothing_loop);
        for (std::size_t round = 0; round < calls.size(); ++round) {
            std::vector<Visit> visits;
            for (std::size_t row = first; row < rows_.size(); ++row)
                visits.push_back({row, level, calls[round], loaded, round + 1 == calls.size()});
            if (round > 0)  // the first goes from small to large, as users expect
                for (std::size_t i = visits.size(); i > 1; --i)
                    std::swap(visits[i - 1], visits[random() % i]);
            order_.insert(order_.end(), visits.begin(), visits.end());
        }
    }

    // Asks for signals of any rank and looks at rank 0's clock: the same on all ranks.
    bool ends() {
        const double limit = options_.common.time_limit.value_or(0);
        if (!stop_.ask() && limit > 0)
            hit_time_limit_ = comm::from_root(control_, base::seconds_since(began_) > limit);
        ended_ = stop_.signal() != 0 || hit_time_limit_;
        return ended_;
    }

    std::string text_of(std::size_t visit) const {
        if (visit >= order_.size()) return "finishing";
        if (options_.model) return "the buckets of " + options_.model->model;
        const MessageRow& row = rows_[order_[visit].row];
        return fmt::format("{} of {}", comm::name_of(row.message.operation),
                           base::human_bytes(static_cast<double>(row.message.bytes(row.ranks))));
    }

    int root_at(const Level& level) const {
        return static_cast<int>(options_.settings.root) % level.ranks;
    }

    PreparedCalls prepare(const Message& message, Buffers& buffers, Level& level) {
        PreparedCalls prepared;
        if (!level.active) return prepared;
        const int rank = level.data->rank();
        prepared.takes_part = comm::takes_part(message.operation, rank, level.ranks);
        prepared.transfers = buffers.transfers(message, root_at(level), level.ranks, rank);
        for (const auto& transfer : prepared.transfers)
            prepared.calls.push_back(backend_.prepare(*level.data, transfer));
        return prepared;
    }

    Caller caller_of(const PreparedCalls& prepared, const Level& level) const {
        return {.data = *level.data,
                .control = *level.control,
                .calls = prepared.calls,
                .clock_offset_s = clocks_.mine(),
                .ahead_s = ahead_s_,
                .clock_error_s = clocks_.error_s(),
                .sleep_s =
                    options_.fault.sleeps_on_rank == control_.rank() ? options_.fault.sleep_s : 0};
    }

    void time_message(const Visit& visit) {
        MessageRow& row = rows_[visit.row];
        Level& level = levels_[visit.level];
        const PreparedCalls prepared = prepare(row.message, buffers_, level);
        const double load_before = load_ ? load_->cpu_seconds() : 0,
                     begin = measure::clock_seconds();
        const CallTimes times = time_visit(visit, prepared, level);
        const double took = measure::clock_seconds() - begin;
        if (load_) {
            const double share = std::min(1.0, (load_->cpu_seconds() - load_before) / took);
            const auto shares = comm::gather_values(control_, level.active ? share : stats::kNone);
            row.load_shares.push_back(over_ranks(shares, RankReduction::mean));
        } else {
            add_arrivals(times, level);
        }
        row.late_begins += comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max);
        add_times(row, times);
        if (row.is_barrier() && options_.policy.between == CallSync::barrier)
            check_barrier(row, times, level);
        if (ended_ || !visit.last) return;
        if (!row.is_barrier()) row.wrong = check(row.message, prepared, level, Form::run);
        if (!ended_ && has_started_form(row.message)) time_started_form(row, prepared, level);
    }

    // With a load the calls go on until the kernel has scheduled it several times.
    CallTimes time_visit(const Visit& visit, const PreparedCalls& prepared, Level& level) {
        const CallSync between = options_.policy.between;
        const bool loop = between == CallSync::nothing_loop;
        double call_s = warm_up(prepared, level), calls_s = 0, loops_s = 0;
        int done = 0;
        const auto wants_more = [&] {
            return done < visit.calls || (visit.loaded && !loop && calls_s < kLoadedLoop &&
                                          done < kMostLoaded * visit.calls);
        };
        CallTimes times;
        while (!ended_ && wants_more()) {
            const int now = calls_at_once(call_s, visit.calls > done ? visit.calls - done : done);
            const auto some = make_calls(prepared, level, between, now);
            times.add(some);
            done += now;
            loops_s += some.seconds.front() * now;
            const double wall_s = comm::reduced(control_, some.wall_s, comm::ReduceOp::max);
            call_s = wall_s / now;
            calls_s += wall_s;
            if (wall_s > kBetweenAsks / 2) ends();
        }
        if (loop) {  // one mean of all calls
            times.seconds.assign(1, loops_s / done);
            times.came_s.resize(1);
        }
        return times;
    }

    // Makes `calls` calls. Ranks without a part in the operation return NaN times.
    CallTimes make_calls(const PreparedCalls& prepared, Level& level, CallSync between, int calls) {
        CallTimes times;
        if (level.active) times = time_calls(caller_of(prepared, level), between, calls);
        if (prepared.takes_part) return times;
        times.seconds.assign(
            between == CallSync::nothing_loop ? 1 : static_cast<std::size_t>(calls), stats::kNone);
        times.came_s = times.seconds;
        return times;
    }

    // Returns the seconds of a call on the slowest rank. If a rank learned of an agreed moment too
    // late, later moments are announced twice as far ahead.
    double warm_up(const PreparedCalls& prepared, Level& level) {
        const int calls = options_.policy.warmup;
        if (calls == 0) return kBetweenAsks;
        const bool window = options_.policy.between == CallSync::window;
        const auto times =
            make_calls(prepared, level, window ? CallSync::window : CallSync::nothing, calls);
        if (comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max) > 0)
            ahead_s_ *= 2;
        return comm::reduced(control_, times.wall_s, comm::ReduceOp::max) / calls;
    }

    // At most kBetweenAsks long, and little memory for gathering their times.
    int calls_at_once(double call_s, int left) const {
        const double fit =
            std::min(kBetweenAsks / std::max(call_s, 1e-9), kMostGathered / control_.world_size());
        return fit >= left ? left : std::max(1, static_cast<int>(fit));
    }

    void add_times(MessageRow& row, const CallTimes& times) {
        const auto us = us_over_ranks(control_, times.seconds, row.message.operation,
                                      options_.policy.over_ranks);
        row.us.insert(row.us.end(), us.begin(), us.end());
    }

    // A rank is late among the ranks of its own group of the level. Without synchronisation between
    // calls ranks run ahead of each other, so their arrivals say nothing.
    void add_arrivals(const CallTimes& times, const Level& level) {
        auto behind = behind_the_first(times, *level.control, clocks_.mine());
        if (!begins_together(options_.policy.between)) behind.clear();
        arrivals_.add(measure::gather_columns(control_, behind), clocks_.error_s());
    }

    void check_barrier(MessageRow& row, const CallTimes& times, const Level& level) {
        const auto early =
            early_leavers(times, *level.control, clocks_.mine(), 2 * clocks_.error_s());
        const std::int64_t of_group = level.control->rank() == 0 ? early : 0;
        row.wrong = row.wrong.value_or(0) + comm::reduced(control_, of_group, comm::ReduceOp::sum);
    }

    // Returns the wrong elements of all ranks' results; nullopt with --check 0.
    std::optional<std::int64_t> check(const Message& message, const PreparedCalls& prepared,
                                      const Level& level, Form form) {
        if (options_.policy.checks == 0) return std::nullopt;
        constexpr int kBetweenEnds = 16;
        std::int64_t wrong = 0;
        for (int time = 0; time < options_.policy.checks; ++time, ++checks_) {
            if (time % kBetweenEnds == kBetweenEnds - 1 && ends()) break;
            if (!level.active) continue;
            const std::size_t which = static_cast<std::size_t>(time) % prepared.calls.size();
            const bool flips = options_.fault.flips_on_rank == control_.rank();
            wrong += wrong_of_call(message, *level.data, prepared.transfers[which],
                                   *prepared.calls[which],
                                   {.form = form, .salt = checks_, .flips_a_bit = flips});
        }
        return comm::reduced(control_, wrong, comm::ReduceOp::sum);
    }

    // Operations between two ranks have no started form, and a started barrier on a GPU waits for
    // nothing.
    bool has_started_form(const Message& message) const {
        if (!options_.nonblocking || message.in_place || comm::is_between_two(message.operation))
            return false;
        return message.operation != comm::Operation::barrier ||
               backend_.memory != comm::Memory::device;
    }

    void time_started_form(MessageRow& row, const PreparedCalls& prepared, Level& level) {
        StartedTimes times;
        if (level.active)
            times = time_started(caller_of(prepared, level), options_.policy, *options_.nonblocking,
                                 compute_);
        row.started = longest_us(control_, std::move(times), options_.policy.calls);
        if (!row.is_barrier())
            row.started_wrong = check(row.message, prepared, level, Form::started);
        ends();
    }

    // As in a training step, each bucket has memory of its own, and each pass reduces all of them
    // in place.
    void time_buckets() {
        Level& level = levels_.front();
        std::vector<Buffers> memory;
        std::vector<PreparedCalls> prepared;
        for (const auto& row : rows_) {
            memory.emplace_back(options_.buffers);
            prepared.push_back(prepare(row.message, memory.back(), level));
        }
        for (int pass = -options_.policy.warmup; pass < options_.policy.calls && !ended_; ++pass) {
            for (std::size_t b = 0; b < rows_.size(); ++b) {
                const auto times = time_calls(caller_of(prepared[b], level), CallSync::barrier, 1);
                if (pass < 0) continue;
                add_times(rows_[b], times);
                add_arrivals(times, level);
            }
            ends();
        }
        for (std::size_t b = 0; b < rows_.size() && !ended_; ++b)
            rows_[b].wrong = check(rows_[b].message, prepared[b], level, Form::run);
    }

    const CollectivesOptions& options_;
    const comm::BackendEntry& backend_;
    const RunContext& context_;
    comm::Communicator& control_;
    std::unique_ptr<comm::Communicator> data_;
    HostsOfJob hosts_;
    std::vector<Level> levels_;
    JobClocks clocks_;
    Arrivals arrivals_;
    Buffers buffers_;
    Compute compute_;
    std::unique_ptr<Load> load_;
    double ahead_s_;  // from rank 0's announcement of a moment to that moment
    std::vector<MessageRow> rows_;
    std::vector<Visit> order_;
    std::size_t done_ = 0;
    std::uint64_t checks_ = 0;  // made so far
    StopPoll stop_;
    base::Clock::time_point began_ = base::Clock::now();
    bool hit_time_limit_ = false, ended_ = false;
};

}  // namespace

Sweep run_sweep(const CollectivesOptions& options, const comm::BackendEntry& backend,
                const RunContext& context) {
    Sweeper sweeper(options, backend, context);
    sweeper.run();
    return std::move(sweeper).take();
}

}  // namespace ranklab::experiments
