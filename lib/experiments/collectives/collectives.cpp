#include "experiments/collectives/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/options.hpp"
#include "experiments/collectives/sweep.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

class CollectivesPlan final : public Plan {
  public:
    CollectivesPlan(CollectivesOptions settled, int ranks) : settled_(std::move(settled)) {
        const auto messages = planned_messages(settled_, ranks);
        messages_ = messages.size();
        for (const auto& message : messages) {
            const auto need = memory_of(message, settled_.buffers, ranks);
            // With a model each bucket has its own buffers.
            bytes_ = settled_.model ? bytes_ + need : std::max(bytes_, need);
        }
        if (!settled_.model) settled_.buffer_bytes = bytes_;
    }

    std::uint64_t bytes() const { return bytes_; }
    std::vector<options::Effective> settings() const override {
        return effective(vocabulary::collectives_settings(), settled_.settings, settled_.common);
    }
    std::vector<results::Setting> facts() const override {
        return {{"messages", fmt::format("{}", messages_), true},
                {"bytes-per-rank", fmt::format("{}", bytes_), true}};
    }
    bool prints_as_nccl_tests() const override { return settled_.settings.format == "nccl-tests"; }
    Runs run(const RunContext& context) const override {
        const Sweep sweep = run_sweep(settled_, context);
        Runs runs;
        fill_collectives_run(runs.all.emplace_back(), sweep, context.control);
        return runs;
    }

  private:
    CollectivesOptions settled_;
    std::size_t messages_ = 0;
    std::uint64_t bytes_ = 0;
};

// "5 buckets, 97.5 MiB"
std::string buckets_text(const std::string& model) {
    const auto rows = bucket_table(model).rows;
    double bytes = 0;
    for (const auto& row : rows) bytes += static_cast<double>(row.bytes);
    return fmt::format("{} bucket{}, {}", rows.size(), rows.size() == 1 ? "" : "s",
                       base::human_bytes(bytes));
}

// Throws OptionError on all ranks if the ranks of a host need more memory than it has free. `each`:
// bytes that this rank needs. Collective.
void check_memory(std::uint64_t each, comm::Communicator& control) {
    comm::all_or_throw(control, [&] {
        const auto free = host::free_memory();
        const double need = static_cast<double>(each) * control.local_size();
        if (!free || need <= static_cast<double>(*free)) return;
        throw base::OptionError(fmt::format(
            "{} rank(s) on {} need {} of memory (send and receive buffers, and as much for "
            "the library), and {} is free; take smaller messages, or start fewer ranks "
            "per host",
            control.local_size(), host::host_name(), base::human_bytes(need),
            base::human_bytes(static_cast<double>(*free))));
    });
}

}  // namespace

std::string Collectives::examples() const {
    return "  mpirun -n 2 ranklab comm                            allreduce, 8 B to 4 MiB\n"
           "  mpirun -n 2 ranklab comm --op all -e 64K            every operation\n"
           "  srun -n 16 ranklab comm --op allreduce,latency      within and between hosts\n"
           "  mpirun -n 2 ranklab comm --from-model resnet50      a model's gradient buckets\n"
           "  mpirun -n 2 ranklab comm -b 1M -e 64M -f 4 -n 20 -d bf16\n"
           "  mpirun -n 2 ranklab comm --nonblocking --mpi-progress thread\n";
}

void Collectives::describe(options::Schema& schema) const {
    std::vector<std::string> names;
    for (const auto& entry : comm::backends()) names.push_back(entry.name);
    schema.append(vocabulary::collectives_settings()).offer("backend", std::move(names));
}

std::vector<Listing> Collectives::listings() const {
    Listing operations{"Operations (--op):", {}};
    for (const auto operation : chosen_operations("all"))
        operations.entries.emplace_back(comm::name_of(operation), summary_of(operation));
    Listing backends{"Backends:", {}};
    for (const auto& entry : comm::backends())
        backends.entries.emplace_back(entry.name, entry.summary);
    Listing models{"Models with gradient buckets (--from-model):", {}};
    for (const auto& name : shipped_models()) models.entries.emplace_back(name, buckets_text(name));
    return {operations, models, backends};
}

LaunchNeeds Collectives::needs(const options::Options& given) const {
    const auto settings = given.fields<vocabulary::CollectivesSettings>();
    const bool alone = settings.backend && comm::backend_named(*settings.backend).one_rank_alone;
    return {.mpi = !alone, .mpi_from_threads = settings.progress == "thread", .threads = 1};
}

std::unique_ptr<Plan> Collectives::settle(const options::Options& given,
                                          const vocabulary::CommonSettings& common,
                                          comm::Communicator& control) const {
    const int ranks = control.world_size();
    CollectivesOptions settled;
    comm::all_or_throw(control, [&] { settled = settle_collectives(given, common, ranks); });
    settle_backend(settled, control);
    std::unique_ptr<CollectivesPlan> plan;
    comm::all_or_throw(
        control, [&] { plan = std::make_unique<CollectivesPlan>(std::move(settled), ranks); });
    check_memory(2 * plan->bytes(), control);  // a library may buffer as much
    return plan;
}

}  // namespace ranklab::experiments
