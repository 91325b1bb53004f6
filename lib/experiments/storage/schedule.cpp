#include "experiments/storage/record.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/repetition.hpp"

namespace ranklab::experiments {
namespace {

using base::Clock;

// A strategy of the command and what it has measured so far.
struct Entry {
    const StorageOptions& options;
    StorageFolder folder;
    Repeater repeater;
    StorageRecord record;
    double seconds = 0;  // in all its repetitions
    bool complete = false, failed = false;

    Entry(const StorageOptions& settled, const RunContext& context)
        : options(settled),
          folder(context.control, options),
          repeater(options, context.control, context.progress) {
        record.convergence = convergence_of(options.target_ci, options.repetitions);
    }
    std::int64_t counted() const { return std::ssize(record.writings) - options.warmup(); }
    bool has_counted() const { return counted() > 0 || !record.passes.empty(); }
};

class Schedule : base::Immovable {
  public:
    Schedule(const StorageCommand& command, const RunContext& context)
        : command_(command),
          context_(context),
          random_(static_cast<std::uint64_t>(command.strategies.front().common.seed)) {
        for (const auto& options : command.strategies) {
            entries_.push_back(std::make_unique<Entry>(options, context));
            turn_.of += options.warmup() + options.repetitions;
        }
    }
    // Removes the folders in reverse order: the first entry may also have made the parent folder,
    // which can be removed only once it is empty.
    ~Schedule() {
        while (!entries_.empty()) entries_.pop_back();
    }

    Runs runs() {
        make_rounds();
        if (!failure_ && !any_has_counted())
            stop_if_asked(context_.control, "before anything was measured", signal_);
        Runs runs;
        runs.failure = failure_;
        for (const auto& entry : entries_) add_run(*entry, runs.all);
        auto calls = calls_table(runs.all);
        if (entries_.size() > 1 && !runs.all.empty()) {
            runs.all.push_back(compared(runs.all, entries_.size(), signal_));
            runs.all.back().config = settings_of(command_.settings);
        }
        const auto& options = entries_.front()->options;
        if (options.profile && !runs.all.empty())
            runs.all.back().tables.push_back(std::move(calls));
        if (options.trace && !runs.all.empty()) write_trace(*options.trace, runs.all.back());
        return runs;
    }

  private:
    // If the file cannot be written, the runs are kept and `run` gets the failure.
    void write_trace(const std::string& path, results::Run& run) {
        try {
            std::vector<std::string> names;
            std::vector<Repeater::Traced> mine;
            for (const auto& entry : entries_) {
                names.push_back(entry->options.entry.name);
                mine.push_back(entry->repeater.traced());
            }
            experiments::write_trace(path, names, mine, context_.control);
        } catch (const base::Error& error) {  // on all ranks
            add_failure(run, base::describe_failure(error));
        }
    }
    void make_rounds() {
        std::vector<Entry*> left;
        for (const auto& entry : entries_) left.push_back(entry.get());
        while (!left.empty()) {
            // All ranks have the same seed, and so the same order.
            if (left.size() > 1) std::shuffle(left.begin(), left.end(), random_);
            for (auto* entry : left) {
                make_one(*entry);
                if (signal_ != 0) return;
            }
            std::erase_if(left, [](const auto* entry) { return entry->complete || entry->failed; });
        }
    }
    void make_one(Entry& entry) {
        StopPoll stop(context_.control);
        stop.ask();
        signal_ = stop.signal();
        if (signal_ != 0) return;
        try {
            turn_.number = std::min(turn_.number + 1, turn_.of);
            entry.complete = !repeat(entry);
            remove_files(entry);
        } catch (const std::exception& error) {  // on all ranks
            const int code = base::number_of(base::describe_failure(error).code);
            signal_ = std::max(0, code - 128);
            if (signal_ == 0) fail(entry, code);
            if (!failure_ && (signal_ == 0 || !any_has_counted()))
                failure_ = std::current_exception();
        }
    }
    // Makes the next repetition. Returns whether another one follows.
    bool repeat(Entry& entry) {
        if (entry.counted() == 0) context_.counting.begins();
        if (context_.start_up != nullptr)
            context_.start_up->finish("preparing the first repetition");
        const auto begin = Clock::now();
        std::optional<Clock::time_point> deadline;
        if (const double limit = entry.options.time_limit(); limit > 0)
            deadline = begin + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(limit - entry.seconds));
        auto made = entry.repeater.make(entry.counted() + 1, turn_, deadline);
        if (made) entry.record.add(std::move(*made), entry.options, entry.repeater.strategy());
        entry.seconds += base::seconds_since(begin);
        const bool more = goes_on(entry, made.has_value());
        if (!more) context_.counting.ends();
        return more;
    }
    // `whole`: the time limit did not cut the repetition. --read-only makes one repetition only.
    bool goes_on(Entry& entry, bool whole) {
        const auto& options = entry.options;
        const auto is_late = [&] {
            return options.time_limit() > 0 &&
                   comm::from_root(context_.control, entry.seconds > options.time_limit());
        };
        const bool late = !whole || (options.write() && is_late());
        const bool done = options.write() ? entry.counted() >= options.repetitions : whole;
        entry.record.hit_time_limit = late && !done;
        if (!options.write()) return false;
        const auto most =
            most_samples(options.target_ci, options.time_limit() > 0, options.repetitions);
        return done ? !has_enough(entry, late || entry.counted() >= most) : !late;
    }
    // After the planned repetitions: true if --target-ci is reached, or no repetition may follow.
    bool has_enough(Entry& entry, bool is_last) {
        auto& convergence = entry.record.convergence;
        const auto counted = entry.counted();
        if (convergence.due(counted) ||
            (is_last && convergence.wanted() && counted > convergence.seen())) {
            std::vector<double> since;
            const auto& writings = entry.record.writings;
            for (auto w = static_cast<std::size_t>(entry.options.warmup() + convergence.seen());
                 w < writings.size(); ++w)
                since.push_back(writings[w].job_s);
            convergence.look(context_.control, since);
        }
        return convergence.reached() || is_last;
    }
    void end_early(Entry& entry, int exit_code) {
        entry.record.ended_by = exit_code;
        entry.repeater.abandon();
        context_.counting.ends();
    }
    void fail(Entry& entry, int exit_code) {
        entry.failed = true;
        end_early(entry, exit_code);
        try {
            remove_files(entry);
        } catch (const base::Error&) {
            return;  // the first error is reported
        }
    }
    // Only one strategy's files lie in the folder at a time.
    void remove_files(Entry& entry) {
        if (entries_.size() > 1 && !entry.options.keeps_files()) entry.repeater.remove();
    }
    bool any_has_counted() const {
        return std::ranges::any_of(entries_,
                                   [](const auto& entry) { return entry->has_counted(); });
    }
    void add_run(Entry& entry, std::vector<results::Run>& runs) {
        if (!entry.complete && !entry.failed) end_early(entry, 128 + signal_);
        if (!entry.complete && !entry.has_counted()) return;
        if (!entry.options.keeps_files()) entry.repeater.remove();
        auto& run = runs.emplace_back();
        fill_storage_run(run, entry.record, entry.options, context_.control);
        run.config = settings_of(effective<vocabulary::StorageSettings>(
            vocabulary::storage_settings(), entry.options, entry.options.common));
        if (entries_.size() == 1) return;
        run.duration_s = entry.seconds;
    }

    const StorageCommand& command_;
    const RunContext& context_;
    std::vector<std::unique_ptr<Entry>> entries_;
    Turn turn_{.number = 0, .of = 0};
    std::mt19937_64 random_;
    int signal_ = 0;
    std::exception_ptr failure_;  // of the first strategy that failed
};

}  // namespace

Runs run_schedule(const StorageCommand& command, const RunContext& context) {
    return Schedule(command, context).runs();
}

}  // namespace ranklab::experiments
