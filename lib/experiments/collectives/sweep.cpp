#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "base/handle.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/pattern.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "host/process.hpp"
#include "measure/samples.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kAnnouncement = 100e-6;   // s: a broadcast to all ranks, on a quiet network
constexpr double kBetweenAsks = 0.25;      // s: between checks for signals and the time limit
constexpr double kMostGathered = 1 << 20;  // calls x ranks gathered at once: 8 MiB
constexpr int kRounds = 4;
constexpr int kFewestARound = 5;  // calls

// Returns the calls of each round: at most kRounds rounds, of at least kFewestARound calls each.
std::vector<int> rounds_of(int calls, bool in_one) {
    const int rounds = in_one ? 1 : std::clamp(calls / kFewestARound, 1, kRounds);
    std::vector<int> each;
    for (int round = 0; round < rounds; ++round)
        each.push_back(calls / rounds + (round < calls % rounds ? 1 : 0));
    return each;
}

template <class Value>
void shuffle(std::vector<Value>& values, std::mt19937_64& random) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

// Returns the random partner of each rank in a round; the rank itself if it has no partner.
std::vector<int> partners_of_round(std::vector<int> members, std::size_t ranks, std::uint64_t round,
                                   std::uint64_t seed) {
    std::mt19937_64 random(seed * 1'000'003 + round);
    shuffle(members, random);
    std::vector<int> partners(ranks);
    std::iota(partners.begin(), partners.end(), 0);
    for (std::size_t i = 1; i < members.size(); i += 2)
        std::swap(partners[members[i]], partners[members[i - 1]]);
    return partners;
}

class Sweeper : base::Immovable {
  public:
    Sweeper(const CollectivesOptions& options, const RunContext& context)
        : options_(options),
          context_(context),
          control_(context.control),
          data_(options.backend.make(control_)),
          sweep_{.options = options, .hosts = comm::gather_texts(control_, host::host_name())},
          levels_(make_levels(
              *data_, control_, sweep_.hosts,
              options.settings.scope != "job" && !options.model && options.pair_members.empty())),
          clocks_(control_, sweep_.hosts),
          buffers_(options.buffers, options.model ? 0 : options.buffer_bytes),
          ahead_s_(std::max(kAnnouncement, 40 * clocks_.error_s())),
          stop_(control_, options.common.time_limit) {
        plan();
        context_.started("making the communicator of the timed messages");
    }

    Sweep run() {
        auto& progress = context_.progress;
        progress.counts("visits");
        context_.counting.begins();
        auto& done = sweep_.visits_done;
        while (done < order_.size() && !stop_.interrupted()) {
            progress.activity(text_of(done));
            clocks_.refresh();
            if (options_.model)
                time_buckets();
            else
                has_pairs() ? time_pairs(done) : time_message(order_[done]);
            if (done == 0 && context_.start_up != nullptr)
                context_.start_up->finish("the first message size");
            if (!stop_.interrupted() && ++done < order_.size()) stop_.ask();
            progress.update(done, order_.size(), base::real(done) / stop_.seconds(), "visits/s",
                            text_of(done));
        }
        if (std::ranges::all_of(sweep_.rows, [](const MessageRow& row) { return row.us.empty(); }))
            stop_if_asked(control_, "before anything was measured", stop_.signal());
        context_.counting.ends();
        sweep_.visits_planned = order_.size();
        sweep_.clocks = clocks_.offsets();
        sweep_.stopped_by = stop_.signal();
        sweep_.hit_time_limit = stop_.late();
        return std::move(sweep_);
    }

  private:
    struct Visit {
        std::size_t row = 0;
        int calls = 0;
        bool last = false;  // the message's last visit
    };

    void plan() {
        auto& rows = sweep_.rows;
        for (const Level& level : levels_) {
            const std::size_t first = rows.size();
            for (const auto& message : planned_messages(options_, level.ranks)) {
                const bool rooted = message.operation == comm::Operation::broadcast ||
                                    message.operation == comm::Operation::reduce;
                const auto root = static_cast<int>(options_.settings.root) % level.ranks;
                rows.push_back({.message = message,
                                .level = level.name,
                                .root = rooted ? root : -1,
                                .bucket = options_.model ? static_cast<int>(rows.size()) : -1});
            }
            plan_rounds(first);
        }
    }

    // Plans the visits of the rows from `first` on, in the same order on all ranks.
    void plan_rounds(std::size_t first) {
        if (options_.model) return order_.push_back({});  // one visit times all buckets
        if (has_pairs()) return order_.resize(*options_.settings.rounds);
        std::mt19937_64 random(options_.common.seed);
        const auto calls = rounds_of(options_.calls, options_.between == CallSync::nothing_loop);
        for (std::size_t round = 0; round < calls.size(); ++round) {
            std::vector<Visit> visits;
            for (std::size_t row = first; row < sweep_.rows.size(); ++row)
                visits.push_back({row, calls[round], round + 1 == calls.size()});
            if (round > 0)  // the first round goes from small to large, as users expect
                shuffle(visits, random);
            order_.insert(order_.end(), visits.begin(), visits.end());
        }
    }

    std::string text_of(std::size_t visit) const {
        if (visit >= order_.size()) return "finishing";
        if (options_.model) return "the buckets of " + options_.model->model;
        if (has_pairs()) return "messages in pairs";
        const MessageRow& row = sweep_.rows[order_[visit].row];
        return fmt::format("{} of {}", comm::name_of(row.message.operation),
                           base::human_bytes(static_cast<double>(row.message.bytes())));
    }

    bool has_pairs() const { return !options_.pair_members.empty(); }

    Caller caller_of(const MessageRow& row, Buffers& buffers) const {
        return caller_of(*std::ranges::find(levels_, row.level, &Level::name), row, buffers);
    }
    Caller caller_of(const Level& level, const MessageRow& row, Buffers& buffers) const {
        const auto& fault = options_.fault;
        Caller caller{.level = level,
                      .clock_offset_s = clocks_.mine(),
                      .ahead_s = ahead_s_,
                      .clock_error_s = clocks_.error_s(),
                      .sleep_s = fault.sleeps_on_rank == control_.rank() ? fault.sleep_s : 0};
        if (!level.active) return caller;
        const int rank = level.data->rank();
        caller.takes_part = comm::takes_part(row.message.operation, rank, level.ranks);
        caller.transfer = buffers.transfer(row.message, std::max(0, row.root), rank);
        return caller;
    }

    void time_message(const Visit& visit) {
        MessageRow& row = sweep_.rows[visit.row];
        Caller caller = caller_of(row, buffers_);
        const CallTimes times = time_visit(visit, caller);
        row.late_begins += comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max);
        add_times(row, times);
        if (row.is_barrier() && options_.between == CallSync::barrier)
            check_barrier(row, times, caller.level);
        if (stop_.interrupted() || !visit.last) return;
        if (!row.is_barrier()) row.wrong = check(row.message, caller);
        if (!stop_.interrupted() && has_started_form(row.message)) time_started_form(row, caller);
    }

    CallTimes time_visit(const Visit& visit, Caller& caller) {
        const bool loop = options_.between == CallSync::nothing_loop;
        double call_s = warm_up(caller), loops_s = 0;
        int done = 0;
        CallTimes times;
        while (!stop_.interrupted() && done < visit.calls) {
            const int now = calls_at_once(call_s, visit.calls - done);
            const auto some = time_calls(caller, options_.between, now);
            times.add(some);
            done += now;
            loops_s += some.seconds.front() * now;
            const double wall_s = comm::reduced(control_, some.wall_s, comm::ReduceOp::max);
            call_s = wall_s / now;
            if (wall_s > kBetweenAsks / 2) stop_.ask();
        }
        if (loop) times.seconds.assign(1, loops_s / done);  // one mean over all calls
        return times;
    }

    // Returns the seconds of a call on the slowest rank. If a rank learned of an agreed time too
    // late, later times are announced twice as far ahead.
    double warm_up(Caller& caller) {
        if (options_.warmup == 0) return kBetweenAsks;
        const bool window = options_.between == CallSync::window;
        const auto times =
            time_calls(caller, window ? CallSync::window : CallSync::nothing, options_.warmup);
        if (comm::reduced<double>(control_, times.late_begins, comm::ReduceOp::max) > 0)
            caller.ahead_s = ahead_s_ *= 2;
        return comm::reduced(control_, times.wall_s, comm::ReduceOp::max) / options_.warmup;
    }

    // Returns the calls until the next check, limited by kBetweenAsks and the memory for times.
    int calls_at_once(double call_s, int left) const {
        const double fit =
            std::min(kBetweenAsks / std::max(call_s, 1e-9), kMostGathered / control_.world_size());
        return fit >= left ? left : std::max(1, static_cast<int>(fit));
    }

    // For an operation between two ranks, takes rank 0's time, which contains both directions.
    void add_times(MessageRow& row, const CallTimes& times) {
        const auto operation = row.message.operation;
        const auto policy =
            comm::is_between_two(operation) ? RankReduction::rank_0 : options_.over_ranks;
        const auto all = measure::gather_columns(control_, times.seconds);
        for (std::size_t call = 0; call < all.rows(); ++call)
            row.us.push_back(
                1e6 / comm::messages_of(operation) *
                over_ranks(std::span(all.values).subspan(call * all.ranks, all.ranks), policy));
    }

    void check_barrier(MessageRow& row, const CallTimes& times, const Level& level) {
        const auto early =
            early_leavers(times, *level.control, clocks_.mine(), 2 * clocks_.error_s());
        const std::int64_t of_group = level.control->rank() == 0 ? early : 0;
        row.wrong = row.wrong.value_or(0) + comm::reduced(control_, of_group, comm::ReduceOp::sum);
    }

    // Returns the number of wrong elements in all ranks' results; nullopt with --check 0.
    std::optional<std::int64_t> check(const Message& message, const Caller& caller,
                                      bool started = false) {
        if (options_.settings.check == 0) return std::nullopt;
        constexpr std::int64_t kBetweenEnds = 16;
        std::int64_t wrong = 0;
        for (std::int64_t time = 0; time < options_.settings.check; ++time, ++checks_) {
            if (time % kBetweenEnds == kBetweenEnds - 1 && stop_.ask()) break;
            if (!caller.level.active) continue;
            const bool flips = options_.fault.flips_on_rank == control_.rank();
            wrong += wrong_of_call(message, *caller.level.data, caller.transfer,
                                   {.started = started, .salt = checks_, .flips_a_bit = flips});
        }
        return comm::reduced(control_, wrong, comm::ReduceOp::sum);
    }

    // Operations between two ranks have no non-blocking form, and a non-blocking barrier on a GPU
    // waits for nothing.
    bool has_started_form(const Message& message) const {
        if (!options_.settings.nonblocking || message.in_place ||
            comm::is_between_two(message.operation))
            return false;
        return message.operation != comm::Operation::barrier ||
               options_.backend.memory != comm::Memory::device;
    }

    void time_started_form(MessageRow& row, const Caller& caller) {
        StartedTimes times;
        if (caller.level.active)
            times = time_started(caller, options_.warmup, options_.calls,
                                 options_.settings.progress == "poll", compute_);
        row.started = longest_us(control_, std::move(times), options_.calls);
        if (!row.is_barrier()) row.started_wrong = check(row.message, caller, /*started=*/true);
        stop_.ask();
    }

    void time_pairs(std::size_t round) {
        const auto partners = partners_of_round(options_.pair_members, sweep_.hosts.size(), round,
                                                options_.common.seed);
        const int rank = control_.rank(), other = partners[rank];
        const int lower = std::min(rank, other);
        const Level pair{.name = "job",
                         .ranks = 2,
                         .active = other != rank,
                         .data = data_->split(lower, rank),
                         .control = control_.split(lower, rank)};
        std::vector<std::vector<double>> us;  // of each message, by rank
        for (auto& row : sweep_.rows) {
            auto caller = caller_of(pair, row, buffers_);
            warm_up(caller);
            const auto times = time_calls(caller, CallSync::nothing, options_.calls);
            us.push_back(
                comm::gather_values(control_, 1e6 * stats::quantile(times.seconds, 0.5) /
                                                  comm::messages_of(row.message.operation)));
            if (const auto wrong = check(row.message, caller))
                row.wrong = row.wrong.value_or(0) + *wrong;
        }
        for (std::size_t a = 0; a < partners.size(); ++a) {
            const std::size_t b = partners[a];
            if (b <= a) continue;
            for (std::size_t i = 0; i < us.size(); ++i)
                sweep_.rows[i].us.push_back(std::max(us[i][a], us[i][b]));
            const auto &latency = sweep_.rows.front(), &bandwidth = sweep_.rows.back();
            sweep_.pairs.push_back({round, a, b, latency.us.back(),
                                    bandwidth.message.algbw_GBps(bandwidth.us.back())});
        }
    }

    // As in a training step, each bucket has memory of its own, and each pass reduces all buckets
    // in place.
    void time_buckets() {
        auto& rows = sweep_.rows;
        std::vector<Buffers> memory;
        std::vector<Caller> callers;
        for (const auto& row : rows) {
            memory.emplace_back(options_.buffers);
            callers.push_back(caller_of(row, memory.back()));
        }
        for (int pass = -options_.warmup; pass < options_.calls && !stop_.interrupted(); ++pass) {
            for (std::size_t b = 0; b < rows.size(); ++b) {
                const auto times = time_calls(callers[b], CallSync::barrier, 1);
                if (pass >= 0) add_times(rows[b], times);
            }
            stop_.ask();
        }
        for (std::size_t b = 0; b < rows.size() && !stop_.interrupted(); ++b)
            rows[b].wrong = check(rows[b].message, callers[b]);
    }

    const CollectivesOptions& options_;
    const RunContext& context_;
    comm::Communicator& control_;
    std::unique_ptr<comm::Communicator> data_;
    Sweep sweep_;
    std::vector<Level> levels_;
    measure::JobClocks clocks_;
    Buffers buffers_;
    Compute compute_;
    double ahead_s_;  // s from rank 0's announcement to the announced (agreed) time
    std::vector<Visit> order_;
    std::uint64_t checks_ = 0;  // number of checks made so far
    StopPoll stop_;
};

}  // namespace

Sweep run_sweep(const CollectivesOptions& options, const RunContext& context) {
    return Sweeper(options, context).run();
}

}  // namespace ranklab::experiments
