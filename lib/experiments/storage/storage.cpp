#include "experiments/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/pinned.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/keep_pace.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/ladder.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/record.hpp"
#include "experiments/storage/rung.hpp"
#include "io/binding_ceiling.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kFewestCeilings = 3;

// One strategy's repetitions: what is timed, and the passes of reading after each.
class Repetitions {
  public:
    Repetitions(const StorageOptions& options, const Surroundings& surroundings)
        : options_(options),
          control_(surroundings.control),
          rung_(options, surroundings.control, surroundings.progress) {
        record_.convergence = options.convergence;
        if (options.time_limit_s > 0)
            rung_.stop_when([this] { return clock_.used() > options_.time_limit_s; });
    }

    /// True while there is another one to make.
    bool make() {
        const Clock::Turn turn(clock_);
        const Mark before{record_.writes.size(), record_.reads.size(), record_.ceilings.size()};
        const auto i = static_cast<std::int64_t>(record_.writes.size()) - options_.warmup;
        const bool reads = options_.read && (i >= 0 || !options_.write);
        bool whole = false;
        try {
            whole = (!options_.write || write(i)) && (!reads || read(std::max<std::int64_t>(0, i) + 1));
        } catch (...) {
            drop_from(before);
            throw;
        }
        if (!whole) drop_from(before);
        const bool late = !whole || time_is_up();
        if (options_.write) return goes_on(late);
        record_.hit_time_limit = !whole;
        return false;
    }

    StorageRecord finish() {
        if (!options_.keep) rung_.remove();
        return std::move(record_);
    }
    /// What is measured by now.
    const StorageRecord& so_far() const { return record_; }
    bool has_counted() const {
        return std::ssize(record_.writes) > options_.warmup || !record_.reads.empty();
    }
    void remove() { rung_.remove(); }
    int participants() const { return rung_.participants(); }

  private:
    // Of this run's own turns alone.
    class Clock {
      public:
        class Turn : base::Pinned {
          public:
            explicit Turn(Clock& clock) : clock_(clock) { clock_.begin_ = std::chrono::steady_clock::now(); }
            ~Turn() { clock_.before_ = clock_.used(); }

          private:
            Clock& clock_;
        };
        double used() const { return before_ + base::seconds_since(begin_); }

      private:
        double before_ = 0;
        std::chrono::steady_clock::time_point begin_;
    };

    struct Mark {
        std::size_t writes, reads, ceilings;
    };
    // A repetition that the time limit cut is not one.
    void drop_from(const Mark& mark) {
        record_.writes.resize(mark.writes);
        record_.reads.resize(mark.reads);
        record_.ceilings.resize(mark.ceilings);
    }

    bool goes_on(bool late) {
        const auto counted = static_cast<std::int64_t>(record_.writes.size()) - options_.warmup;
        const bool done = counted >= options_.repetitions;
        record_.hit_time_limit = late && !done;
        return done ? !enough(counted, late || counted >= options_.most_repetitions) : !late;
    }

    // After the planned repetitions: whether the target is reached, or there are no more to come.
    bool enough(std::int64_t counted, bool ends) {
        auto& convergence = record_.convergence;
        if (convergence.due(counted) || (ends && convergence.wanted() && counted > convergence.seen())) {
            std::vector<double> since;
            for (auto w = static_cast<std::size_t>(options_.warmup + convergence.seen());
                 w < record_.writes.size(); ++w)
                since.push_back(record_.writes[w].job_s);
            convergence.look(control_, since);
        }
        return convergence.reached() || ends;
    }

    // The ceilings are measured before one repetition and after the next: what drifts hits both alike.
    // False where the time limit cut it.
    bool write(std::int64_t repetition) {
        const bool ceilings = options_.ceilings && repetition >= 0;
        const bool before = (repetition + options_.warmup) % 2 == 0;
        if (ceilings && before) measure_ceilings();
        record_.writes.push_back(rung_.write());
        if (on_any(rung_.was_cut())) return false;
        record_.tables = rung_.strategy().tables();
        record_.warnings = rung_.strategy().warnings();
        if (ceilings && !before) measure_ceilings();
        return true;
    }

    // The same bytes by as many writers, beside each repetition: the machine's mood is then that of the
    // rung's. Where there are few repetitions, several times: one measurement is no best.
    void measure_ceilings() {
        comm::together_politely(
            control_,
            [&] {
                if (!rung_.takes_part()) return;
                const auto times = (kFewestCeilings + options_.repetitions - 1) / options_.repetitions;
                for (std::int64_t i = 0; i < times; ++i)
                    record_.ceilings.push_back(io::measure_ceilings(rung_.ranks(), ceiling_work()));
            },
            [this] { rung_.wait_for("measure what the machine can do"); });
    }
    io::CeilingWork ceiling_work() {
        const auto& [job, strategy] = std::tie(options_.job, options_.strategy);
        return {.directory = job.directory,
                .records = job.files,
                .bytes_per_record = static_cast<std::uint64_t>(strategy.bytes_per_record(job.size)),
                .rows = io::writes_by_rows(strategy, job) ? job.size : 0,
                .fsync = job.fsync,
                .memory_copy = static_cast<std::int64_t>(record_.ceilings.size()) < kFewestCeilings,
                .shared_file = strategy.shared_file,
                .workers = io::writers_at_once(strategy, job),
                .worker_program = job.worker_program,
                .between = [this] { rung_.beat(); }};
    }

    // Read by others than those who wrote: --reorder makes it so where it is timed; otherwise what was
    // written is read once more for it. False where the time limit cut it.
    bool read(std::int64_t repetition) {
        const ReadPlan plan = rung_.readers().timed(options_.reorder);
        const bool by_others =
            control_.world_size() == 1 || (options_.reorder && plan.who == rung_.readers().check().who);
        const bool compare = options_.verify && !options_.check_write && by_others;
        bool whole = !options_.check_write || check(repetition);
        if (whole && options_.cold) rung_.evict(plan);
        for (int number = 1; whole && number <= options_.reads; ++number) {
            const bool now = (compare && number == 1) || options_.check_read;
            whole = pass(repetition, fmt::format("read {}", number), plan, now);
        }
        if (whole && options_.verify && !compare && !options_.check_write) whole = check(repetition);
        return whole;
    }
    bool check(std::int64_t repetition) { return pass(repetition, "check", rung_.readers().check(), true); }
    // Between two passes all ranks look at the clock: a late one stops within its pass.
    bool pass(std::int64_t repetition, const std::string& kind, const ReadPlan& plan, bool compare) {
        record_.reads.push_back({static_cast<int>(repetition), kind, plan.who, rung_.read(plan, compare)});
        return !on_any(rung_.was_cut());
    }

    // Rank 0's clock for all.
    bool time_is_up() {
        return options_.time_limit_s > 0 && from_root(clock_.used() > options_.time_limit_s);
    }
    bool from_root(bool yes) {
        auto word = static_cast<std::int64_t>(yes);
        control_.broadcast(comm::view(std::span(&word, 1)), 0);
        return word != 0;
    }
    bool on_any(bool yes) {
        if (!(options_.time_limit_s > 0)) return false;
        auto word = static_cast<std::int64_t>(yes);
        control_.allreduce(comm::view(std::span(&word, 1)), comm::ReduceOp::max);
        return word != 0;
    }

    const StorageOptions& options_;
    comm::Communicator& control_;
    StorageRung rung_;
    StorageRecord record_;
    Clock clock_;
};

class StorageWork final : public Work {
  public:
    StorageWork(const StorageOptions& options, const Surroundings& surroundings)
        : options_(options),
          surroundings_(surroundings),
          folder_(surroundings.control, options_),
          repetitions_(options_, surroundings) {}
    bool repeat() override {
        const base::StopSignals stop;
        const auto so_far = [this] { return run_of(repetitions_.so_far()); };
        try {
            const bool goes_on = repetitions_.make();
            if (goes_on) pace_.keep_if_due(surroundings_, so_far);
            return goes_on;
        } catch (const comm::AloneError&) {
            throw;
        } catch (const base::Error& error) {  // all ranks are here
            if (base::is_stop(error) && repetitions_.has_counted()) pace_.keep(surroundings_, so_far);
            throw;
        }
    }
    // Otherwise all variants' files would lie there at once.
    void rest() override {
        if (options_.write && !options_.keep) repetitions_.remove();
    }
    results::Run finish() override { return run_of(repetitions_.finish()); }

  private:
    results::Run run_of(const StorageRecord& record) const {
        results::Run run;
        fill_storage_run(run, record, options_, repetitions_.participants(), surroundings_.control);
        return run;
    }

    StorageOptions options_;
    Surroundings surroundings_;
    KeepPace pace_;
    StorageFolder folder_;
    Repetitions repetitions_;
};

}  // namespace

std::string Storage::examples() const {
    return "  ranklab io                                                     every rung once, small, and "
           "their "
           "table\n"
           "  mpirun -n 2 ranklab io --strategy all --size 1000 -i 7         with intervals, on two ranks\n"
           "  ranklab io --strategy process-queue --sweep-workers 1,2,4      how it scales over processes\n"
           "  srun -n 16 ranklab io --strategy hdf5-parallel-collective --layout single -n 1000 -e\n"
           "  ranklab io --strategy binary -n 100 --cold -C -R               read from the device, or exit "
           "code 7\n"
           "  ranklab report results/ranklab.h5 --plots plots                the ladder's picture\n";
}

void Storage::describe(options::Schema& schema) const {
    describe_storage(schema);
}

std::vector<Listing> Storage::listings() const {
    Listing listing{"Strategies, in ladder order:", {}};
    for (const auto& entry : io::strategies()) listing.entries.emplace_back(entry.name, entry.summary);
    return {listing};
}

bool Storage::needs_mpi(const options::Options& options) const {
    const auto chosen = chosen_strategies(options);
    return std::any_of(chosen.begin(), chosen.end(), [](const auto& entry) { return entry.needs_mpi; });
}

std::vector<results::Setting> Storage::resolve(options::Options& options, int world_size) const {
    options.resolve_default("warmup", "0");
    options.resolve_default("ranks", fmt::format("{}", world_size));
    if (options.text("ceilings") == "auto")
        options.choose("ceilings", options.integer("repetitions") > 1 ? "on" : "off");
    const auto settled = storage_options(options, world_size);
    const Footprint needed = footprint(settled.job, settled.strategy);
    if (settled.write) check_fits(settled);
    return {{"bytes", fmt::format("{:.0f}", needed.records), true}};
}

std::vector<Variant> Storage::variants(const options::Options& options) const {
    return ladder_variants(options);
}

std::string Storage::line_of(const results::Run& run) const {
    return ladder_line(run);
}

std::vector<results::Table> Storage::compare(const std::vector<results::Run>& runs) const {
    return {ladder_table(runs)};
}

std::unique_ptr<Work> Storage::begin(const Surroundings& surroundings) {
    return std::make_unique<StorageWork>(
        storage_options(surroundings.options, surroundings.control.world_size()), surroundings);
}

results::Run Storage::run(const Surroundings& surroundings) {
    const auto work = begin(surroundings);
    while (work->repeat()) {
    }
    return work->finish();
}

}  // namespace ranklab::experiments
