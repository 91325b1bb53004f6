#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/storage/folder.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/record.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

LaunchNeeds needs(const options::Options& given) {
    const auto chosen = chosen_strategies(given.fields<vocabulary::StorageSettings>().strategy);
    return {.mpi = std::ranges::any_of(chosen, &io::StrategyEntry::parallel), .threads = 1};
}

Plan planned_run(const options::Options& given, const vocabulary::CommonSettings& common,
                 comm::Communicator& control) {
    StorageCommand settled;
    long double bytes = 0;
    comm::all_or_throw(control, [&] {
        settled = settle_storage(given, common);
        for (const auto& options : settled.strategies) {
            bytes = std::max(bytes, footprint(options, options.entry).records);
            if (options.write()) check_fits(options);
        }
        if (control.rank() > 0) return;
        for (const auto& options : settled.strategies)
            if (options.write()) check_files(options);
    });
    return {.settings = settled.settings,
            .facts = {{"bytes", fmt::format("{:.0f}", bytes), true}},
            .run = [settled](const RunContext& context) {
                const auto& strategies = settled.strategies;
                double need = 0;  // bytes: a record, or this rank's rows of it, per process
                for (const auto& one : strategies)
                    if (const int writers = one.entry.participants(context.control.world_size());
                        context.control.rank() < writers)
                        need = std::max(need, 8 * base::real(one.values_per_record()) *
                                                  (1 + one.entry.workers(one)) /
                                                  (one.entry.by_rows(one) ? writers : 1));
                need_memory(context.control, need, "a record per process", {"size", "workers"},
                            strategies.front().common.force);
                return run_schedule(settled, context);
            }};
}

}  // namespace

Experiment io_experiment() {
    auto strategies = names_of(io::strategies());
    strategies.emplace_back("all");
    return {
        .command = "io",
        .summary =
            "Writes the same numbers in ten ways, from a text file per record to "
            "collective parallel HDF5, reads them back, and times every phase.",
        .examples =
            "  ranklab io\n"
            "      every strategy once, small, and their table\n"
            "  mpirun -n 2 ranklab io --strategy all --size 1000 -i 7\n"
            "      with intervals, on two ranks\n"
            "  ranklab sweep io --strategy process-queue --workers 1,2,4\n"
            "      how it scales over processes\n"
            "  srun -n 16 ranklab io --strategy hdf5-parallel-collective \\\n"
            "      --layout single -n 1000 -e\n"
            "  ranklab io --strategy binary -n 100 --cold -C -R\n"
            "      read from the device, or exit code 7\n"
            "  ranklab report results/ranklab.h5 --plots plots\n"
            "      the ladder's picture\n",
        .options = options::Schema()
                       .append(vocabulary::storage_settings())
                       .offer("strategy", std::move(strategies)),
        .listings =
            [] {
                return std::vector{listing_of("Strategies, in ladder order:", io::strategies())};
            },
        .needs = needs,
        .settle = planned_run};
}

}  // namespace ranklab::experiments
