#include "experiments/storage/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/schedule.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

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
        return run_schedule(settled_.strategies, context);
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
