#include "experiments/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/ladder.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/place.hpp"
#include "experiments/storage/record.hpp"
#include "experiments/storage/repetitions.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

// One strategy of the command.
struct Strategy {
    StorageOptions options;
    StorageFolder folder;
    Repetitions repetitions;

    Strategy(StorageOptions settled, const RunContext& context)
        : options(std::move(settled)),
          folder(context.control, options),
          repetitions(options, context) {}
};

// The repetitions of all strategies: a round makes one of each, in random order.
class Ladder {
  public:
    Ladder(const std::vector<StorageOptions>& settled, const RunContext& context)
        : context_(context), lot_(static_cast<std::uint64_t>(settled.front().common.seed)) {
        for (const auto& options : settled) all_.push_back(std::make_unique<Strategy>(options, context));
    }

    // False where a signal or a failure ended it.
    bool climb() {
        auto left = all_;
        while (!left.empty()) {
            if (left.size() > 1) std::shuffle(left.begin(), left.end(), lot_);  // the same on all ranks
            std::vector<std::shared_ptr<Strategy>> next;
            for (const auto& strategy : left) {
                const bool goes_on = repeat(*strategy);
                if (signal_ != 0) return false;
                if (goes_on) next.push_back(strategy);
            }
            left = std::move(next);
        }
        return true;
    }
    // Those with a whole repetition, in ladder order.
    std::vector<results::Run> runs() {
        if (signal_ != 0 && !has_counted()) refuse_after_a_stop(context_.control, signal_);
        std::vector<results::Run> runs;
        for (const auto& strategy : all_) {
            if (!strategy->repetitions.has_counted()) continue;
            if (signal_ != 0) strategy->repetitions.stop(signal_);
            auto& run = runs.emplace_back();
            const auto& options = strategy->options;
            const auto record = strategy->repetitions.finish();
            fill_storage_run(run, record, options, strategy->repetitions.participants(), context_.control);
            if (all_.size() > 1) run.config = options.config;
            run.duration_s = all_.size() > 1 ? strategy->repetitions.seconds() : 0;
        }
        return runs;
    }

  private:
    bool repeat(Strategy& strategy) {
        StopPoll stop(context_.control);
        stop.ask();
        signal_ = stop.signal();
        if (signal_ != 0) return false;
        try {
            const bool goes_on = strategy.repetitions.make();
            // Otherwise all strategies' files would lie there at once.
            if (all_.size() > 1 && strategy.options.write && !strategy.options.keeps_files)
                strategy.repetitions.remove();
            return goes_on;
        } catch (const base::Error& error) {  // on all ranks
            if (!base::is_stop(error)) throw;
            signal_ = base::stop_of(error);
            if (!has_counted()) throw;
            return false;
        }
    }
    bool has_counted() const {
        return std::ranges::any_of(all_, [](const auto& one) { return one->repetitions.has_counted(); });
    }

    const RunContext& context_;
    std::vector<std::shared_ptr<Strategy>> all_;
    std::mt19937_64 lot_;
    int signal_ = 0;
};

class StoragePlan final : public Plan {
  public:
    explicit StoragePlan(std::vector<StorageOptions> settled) : settled_(std::move(settled)) {
        for (const auto& options : settled_) {
            bytes_ = std::max(bytes_, footprint(options.job, options.entry).records);
            if (options.write) check_fits(options);
        }
    }
    std::vector<results::Setting> facts() const override {
        return {{"bytes", fmt::format("{:.0f}", bytes_), true}};
    }
    void agree(options::Options&, comm::Communicator& control) override {
        comm::together(control, [&] {
            if (control.rank() != 0) return;
            for (const auto& options : settled_)
                if (options.write) check_files(options);
        });
    }
    Runs run(const RunContext& context) override {
        Ladder ladder(settled_, context);
        Runs runs;
        try {
            ladder.climb();
        } catch (const base::Error&) {
            if (settled_.size() == 1) throw;
            runs.failure = std::current_exception();
        }
        runs.all = ladder.runs();
        if (settled_.size() > 1 && !runs.all.empty()) runs.all.push_back(compared(runs.all, settled_.size()));
        return runs;
    }

  private:
    std::vector<StorageOptions> settled_;  // one a strategy
    long double bytes_ = 0;
};

}  // namespace

std::string Storage::examples() const {
    return "  ranklab io                                                     every strategy once, small, and "
           "their "
           "table\n"
           "  mpirun -n 2 ranklab io --strategy all --size 1000 -i 7         with intervals, on two ranks\n"
           "  ranklab sweep io --strategy process-queue --workers 1,2,4      how it scales over processes\n"
           "  srun -n 16 ranklab io --strategy hdf5-parallel-collective --layout single -n 1000 -e\n"
           "  ranklab io --strategy binary -n 100 --cold -C -R               read from the device, or exit "
           "code 7\n"
           "  ranklab report results/ranklab.h5 --plots plots                the ladder's picture\n";
}

void Storage::describe(options::Schema& schema) const {
    std::vector<std::string> names;
    for (const auto& entry : io::strategies()) names.push_back(entry.name);
    names.emplace_back("all");
    schema.append(vocabulary::storage_settings()).offer("strategy", std::move(names));
}

std::vector<Listing> Storage::listings() const {
    Listing listing{"Strategies, in ladder order:", {}};
    for (const auto& entry : io::strategies()) listing.entries.emplace_back(entry.name, entry.summary);
    return {listing};
}

bool Storage::needs_mpi(const options::Options& options) const {
    const auto chosen = chosen_strategies(options.fields<vocabulary::StorageSettings>().strategy);
    return std::any_of(chosen.begin(), chosen.end(), [](const auto& entry) { return entry.needs_mpi; });
}

std::unique_ptr<Plan> Storage::settle(options::Options& options, int world_size) {
    return std::make_unique<StoragePlan>(settle_storage(options, world_size));
}

}  // namespace ranklab::experiments
