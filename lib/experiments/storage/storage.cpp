#include "experiments/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/record.hpp"
#include "experiments/storage/repetitions.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

// One strategy of the command.
struct Strategy {
    StorageOptions options;
    StorageFolder folder;
    Repetitions repetitions;
    bool complete = false, failed = false;

    Strategy(StorageOptions settled, const RunContext& context)
        : options(std::move(settled)),
          folder(context.control, options),
          repetitions(options, context) {}
};

// The repetitions of all strategies: a round makes one of each, in random order. When a strategy
// fails the others go on; a signal ends them all.
class Ladder : base::Immovable {
  public:
    Ladder(const std::vector<StorageOptions>& settled, const RunContext& context)
        : context_(context),
          asked_(settled.size()),
          lot_(static_cast<std::uint64_t>(settled.front().common.seed)) {
        for (const auto& options : settled) {
            all_.push_back(std::make_unique<Strategy>(options, context));
            turn_.of += options.warmup() + options.repetitions;
        }
    }

    // The first strategy's folder has made the folder of all.
    ~Ladder() {
        while (!all_.empty()) all_.pop_back();
    }

    // The runs in ladder order, and the comparison of several. A strategy that ended before its
    // first whole repetition has none.
    Runs runs() {
        climb();
        if (!failure_ && !has_counted()) refuse_after_a_stop(context_.control, signal_);
        Runs runs;
        runs.failure = failure_;
        for (const auto& strategy : all_) add_run(*strategy, runs.all);
        if (asked_ > 1 && !runs.all.empty())
            runs.all.push_back(compared(runs.all, asked_, signal_));
        return runs;
    }

  private:
    void climb() {
        std::vector<Strategy*> left;
        for (const auto& strategy : all_) left.push_back(strategy.get());
        while (!left.empty()) {
            // The order is the same on all ranks.
            if (left.size() > 1) std::shuffle(left.begin(), left.end(), lot_);
            for (auto* strategy : left) {
                make_one(*strategy);
                if (signal_ != 0) return;
            }
            std::erase_if(left, [](const auto* one) { return one->complete || one->failed; });
        }
    }
    void make_one(Strategy& strategy) {
        StopPoll stop(context_.control);
        stop.ask();
        signal_ = stop.signal();
        if (signal_ != 0) return;
        try {
            turn_.number = std::min(turn_.number + 1, turn_.of);
            strategy.complete = !strategy.repetitions.make(turn_);
            remove_files(strategy);
        } catch (const std::exception& error) {  // on all ranks
            const int code = base::number_of(base::describe_failure(error).code);
            signal_ = std::max(0, code - 128);
            if (signal_ == 0) fail(strategy, code);
            if (!failure_ && (signal_ == 0 || !has_counted())) failure_ = std::current_exception();
        }
    }
    // Otherwise all strategies' files would lie there at once.
    void remove_files(Strategy& strategy) const {
        if (asked_ > 1 && !strategy.options.keeps_files()) strategy.repetitions.remove();
    }
    void fail(Strategy& strategy, int exit_code) const {
        strategy.failed = true;
        strategy.repetitions.end_early(exit_code);
        try {
            remove_files(strategy);
        } catch (const base::Error&) {
            return;  // it is reported
        }
    }
    bool has_counted() const {
        return std::ranges::any_of(all_,
                                   [](const auto& one) { return one->repetitions.has_counted(); });
    }
    void add_run(Strategy& strategy, std::vector<results::Run>& runs) {
        if (!strategy.complete && !strategy.failed) strategy.repetitions.end_early(128 + signal_);
        if (!strategy.complete && !strategy.repetitions.has_counted()) return;
        const auto record = strategy.repetitions.finish();
        auto& run = runs.emplace_back();
        fill_storage_run(run, record, strategy.options, context_.control);
        if (asked_ == 1) return;
        run.config = strategy.options.config;
        run.duration_s = strategy.repetitions.seconds();
    }

    const RunContext& context_;
    Turn turn_{.number = 0, .of = 0};
    std::size_t asked_;
    std::vector<std::unique_ptr<Strategy>> all_;
    std::mt19937_64 lot_;
    int signal_ = 0;
    std::exception_ptr failure_;  // of the first that failed
};

class StoragePlan final : public Plan {
  public:
    explicit StoragePlan(StorageCommand settled) : settled_(std::move(settled)) {
        for (const auto& options : settled_.strategies) {
            bytes_ = std::max(bytes_, footprint(options.job, options.entry).records);
            if (options.write()) check_fits(options);
        }
    }
    std::vector<options::Effective> settings() const override {
        return effective(vocabulary::storage_settings(), settled_.settings, settled_.common);
    }
    std::vector<results::Setting> facts() const override {
        return {{"bytes", fmt::format("{:.0f}", bytes_), true}};
    }
    Runs run(const RunContext& context) const override {
        return Ladder(settled_.strategies, context).runs();
    }

  private:
    StorageCommand settled_;
    long double bytes_ = 0;
};

}  // namespace

std::string Storage::examples() const {
    return "  ranklab io                                                     every strategy once, "
           "small, and their table\n"
           "  mpirun -n 2 ranklab io --strategy all --size 1000 -i 7         with intervals, on "
           "two ranks\n"
           "  ranklab sweep io --strategy process-queue --workers 1,2,4      how it scales over "
           "processes\n"
           "  srun -n 16 ranklab io --strategy hdf5-parallel-collective --layout single -n 1000 "
           "-e\n"
           "  ranklab io --strategy binary -n 100 --cold -C -R               read from the device, "
           "or exit code 7\n"
           "  ranklab report results/ranklab.h5 --plots plots                the ladder's "
           "picture\n";
}

void Storage::describe(options::Schema& schema) const {
    std::vector<std::string> names;
    for (const auto& entry : io::strategies()) names.push_back(entry.name);
    names.emplace_back("all");
    schema.append(vocabulary::storage_settings()).offer("strategy", std::move(names));
}

std::vector<Listing> Storage::listings() const {
    Listing listing{"Strategies, in ladder order:", {}};
    for (const auto& entry : io::strategies())
        listing.entries.emplace_back(entry.name, entry.summary);
    return {listing};
}

LaunchNeeds Storage::needs(const options::Options& given) const {
    const auto chosen = chosen_strategies(given.fields<vocabulary::StorageSettings>().strategy);
    return {.mpi = std::ranges::any_of(chosen, &io::StrategyEntry::parallel), .threads = 1};
}

std::unique_ptr<Plan> Storage::settle(const options::Options& given,
                                      const vocabulary::CommonSettings& common,
                                      comm::Communicator& control) const {
    std::unique_ptr<Plan> plan;
    comm::all_or_throw(control, [&] {
        const auto settled = settle_storage(given, common);
        plan = std::make_unique<StoragePlan>(settled);
        if (control.rank() != 0) return;
        for (const auto& options : settled.strategies)
            if (options.write()) check_files(options);
    });
    return plan;
}

}  // namespace ranklab::experiments
