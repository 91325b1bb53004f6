#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/options.hpp"
#include "experiments/collectives/sweep.hpp"
#include "experiments/shared/experiment.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

// "5 buckets, 97.5 MiB"
std::string buckets_text(const std::string& model) {
    const auto rows = bucket_table(model).rows;
    double bytes = 0;
    for (const auto& row : rows) bytes += static_cast<double>(row.bytes);
    return fmt::format("{} bucket{}, {}", rows.size(), rows.size() == 1 ? "" : "s",
                       base::human_bytes(bytes));
}

std::vector<Listing> listings() {
    Listing operations{"Operations (--op):", {}};
    for (const auto operation : chosen_operations("all"))
        operations.entries.emplace_back(comm::name_of(operation), summary_of(operation));
    operations.entries.emplace_back(
        kPairs, "rounds of disjoint pairs of nodes, all at once: latency and bandwidth of each");
    Listing models{"Models with gradient buckets (--from-model):", {}};
    for (const auto& name : shipped_models()) models.entries.emplace_back(name, buckets_text(name));
    return {operations, listing_of("Backends:", comm::backends()), models};
}

LaunchNeeds needs(const options::Options& given) {
    const auto settings = given.fields<vocabulary::CollectivesSettings>();
    const bool alone =
        settings.backend && entry_of(comm::backends(), *settings.backend).one_rank_alone;
    return {.mpi = !alone, .mpi_from_threads = false, .threads = 1};
}

std::vector<options::Effective> effective_of(const CollectivesOptions& settled) {
    return effective(vocabulary::collectives_settings(), settled.settings, settled.common);
}

Runs run(const CollectivesOptions& settled, const RunContext& context) {
    // MPI or NCCL may copy the send and receive buffers into buffers of its own.
    need_memory(context.control, 2 * static_cast<double>(settled.buffer_bytes),
                "send and receive buffers, and as much for the library", {"sizes"},
                settled.common.force);
    const Sweep sweep = run_sweep(settled, context);
    Runs runs;
    auto& made = runs.all.emplace_back();
    made.config = settings_of(effective_of(settled));
    fill_collectives_run(made, sweep, context.control);
    return runs;
}

Plan planned_run(const options::Options& given, const vocabulary::CommonSettings& common,
                 comm::Communicator& control) {
    const int ranks = control.world_size();
    CollectivesOptions settled;
    std::size_t messages = 0;
    comm::all_or_throw(control, [&] { settled = settle_collectives(given, common, ranks); });
    settle_backend(settled, control);
    comm::all_or_throw(control, [&] {
        const auto planned = planned_messages(settled, ranks);
        messages = planned.size();
        for (const auto& message : planned) {
            const auto need = memory_of(message, settled.buffers);  // buckets share no memory
            auto& bytes = settled.buffer_bytes;
            bytes = settled.model ? bytes + need : std::max(bytes, need);
        }
    });
    return {.settings = effective_of(settled),
            .facts = {{"messages", fmt::to_string(messages), true},
                      {"bytes-per-rank", fmt::to_string(settled.buffer_bytes), true}},
            .run = [settled](const RunContext& context) { return run(settled, context); }};
}

}  // namespace

Experiment comm_experiment() {
    return {.command = "comm",
            .summary =
                "Times collectives and point-to-point messages over MPI or NCCL, size by "
                "size, and checks every element of the results.",
            .examples =
                "  mpirun -n 2 ranklab comm                            allreduce, 8 B to 4 MiB\n"
                "  mpirun -n 2 ranklab comm --op all -e 64K            every operation\n"
                "  srun -n 16 ranklab comm --op allreduce,latency      within and between hosts\n"
                "  srun -N 16 ranklab comm --op pairs                  nodes in pairs, in turn\n"
                "  mpirun -n 2 ranklab comm --from-model resnet50      a model's gradient buckets\n"
                "  mpirun -n 2 ranklab comm -b 1M -e 64M -f 4 -n 20 -d bf16\n"
                "  mpirun -n 2 ranklab comm --nonblocking --mpi-progress poll\n",
            .options = options::Schema()
                           .append(vocabulary::collectives_settings())
                           .offer("backend", names_of(comm::backends())),
            .listings = listings,
            .needs = needs,
            .settle = planned_run};
}

}  // namespace ranklab::experiments
