#include "experiments/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/keep_pace.hpp"
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

class StorageWork final : public Work {
  public:
    StorageWork(const StorageOptions& options, const Surroundings& surroundings, int& stopped_by)
        : options_(options),
          surroundings_(surroundings),
          stopped_by_(stopped_by),
          folder_(surroundings.control, options_),
          repetitions_(options_, surroundings) {}
    bool repeat() override {
        whole_ = false;
        if (repetitions_.has_counted()) hear();  // between two repetitions no rank leaves another
        if (stopped_by_ != 0) return end_stopped();
        try {
            const bool goes_on = repetitions_.make();
            whole_ = repetitions_.was_whole();
            if (goes_on) pace_.keep_if_due(surroundings_, [this] { return run_of(repetitions_.so_far()); });
            return goes_on;
        } catch (const comm::AloneError&) {
            throw;
        } catch (const base::Error& error) {  // all ranks are here
            if (!base::is_stop(error)) throw;
            stopped_by_ = base::stop_of(error);
            base::StopSignals::follow();
            if (!repetitions_.has_counted()) throw;
            return end_stopped();
        }
    }
    bool was_whole() const override { return whole_; }
    // Otherwise all variants' files would lie there at once.
    void rest() override {
        if (options_.write && !options_.keep) repetitions_.remove();
    }
    results::Run finish() override {
        auto run = run_of(repetitions_.finish());
        hear();
        signals_.reset();
        return run;
    }

  private:
    // Of several runs in one command the others end, also where this one was whole by then.
    void hear() {
        if (stopped_by_ != 0) return;
        StopPoll stop(surroundings_.control);
        stop.ask();
        stopped_by_ = stop.signal();
        if (stopped_by_ != 0) base::StopSignals::follow();
    }
    // With the whole repetitions as they are; without any there is no run.
    bool end_stopped() {
        if (!repetitions_.has_counted()) refuse_after_a_stop(surroundings_.control, stopped_by_);
        repetitions_.stop(stopped_by_);
        return false;
    }
    results::Run run_of(const StorageRecord& record) const {
        results::Run run;
        fill_storage_run(run, record, options_, repetitions_.participants(), surroundings_.control);
        return run;
    }

    StorageOptions options_;
    Surroundings surroundings_;
    int& stopped_by_;
    std::optional<base::StopSignals> signals_{std::in_place};  // also between two repetitions
    KeepPace pace_;
    bool whole_ = false;
    StorageFolder folder_;
    Repetitions repetitions_;
};

class StoragePlan final : public Plan {
  public:
    StoragePlan(StorageOptions settled, int& stopped_by)
        : settled_(std::move(settled)),
          bytes_(footprint(settled_.job, settled_.strategy).records),
          stopped_by_(stopped_by) {
        if (settled_.write) check_fits(settled_);
    }
    std::vector<results::Setting> facts() const override {
        return {{"bytes", fmt::format("{:.0f}", bytes_), true}};
    }
    void agree(options::Options&, comm::Communicator& control) override {
        comm::together(control, [&] {
            if (control.rank() == 0 && settled_.write) check_files(settled_);
        });
    }
    std::unique_ptr<Work> begin(const Surroundings& surroundings) override {
        refuse_after_a_stop(surroundings.control, stopped_by_);
        return std::make_unique<StorageWork>(settled_, surroundings, stopped_by_);
    }

  private:
    StorageOptions settled_;
    long double bytes_;
    int& stopped_by_;
};

}  // namespace

std::string Storage::examples() const {
    return "  ranklab io                                                     every strategy once, small, and "
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
    const auto chosen = chosen_strategies(options);
    return std::any_of(chosen.begin(), chosen.end(), [](const auto& entry) { return entry.needs_mpi; });
}

std::unique_ptr<Plan> Storage::settle(options::Options& options, int world_size) {
    return std::make_unique<StoragePlan>(settle_storage(options, world_size), stopped_by_);
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

std::vector<results::Fact> Storage::facts_of(const std::vector<results::Run>& runs) const {
    return facts_of_ladder(runs);
}

}  // namespace ranklab::experiments
