#include "experiments/collectives/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/options.hpp"
#include "experiments/collectives/sweep.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

class CollectivesPlan final : public Plan {
  public:
    CollectivesPlan(CollectivesOptions settled, comm::BackendEntry backend,
                    const std::vector<Message>& messages, int ranks)
        : settled_(std::move(settled)), backend_(std::move(backend)), messages_(messages.size()) {
        MemoryNeed most, sum;
        for (const auto& message : messages) {
            const auto need = memory_of(message, settled_.buffers, ranks);
            most = {std::max(most.send, need.send), std::max(most.receive, need.receive)};
            sum = {sum.send + need.send, sum.receive + need.receive};
        }
        if (!settled_.model)
            settled_.memory = most;  // with a model each bucket has its own buffers
        bytes_ = settled_.model ? sum.send + sum.receive : most.send + most.receive;
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
        const Sweep sweep = run_sweep(settled_, backend_, context);
        Runs runs;
        fill_collectives_run(runs.all.emplace_back(), sweep, context.control);
        return runs;
    }

  private:
    CollectivesOptions settled_;
    comm::BackendEntry backend_;
    std::size_t messages_;
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

Listing operations_listing() {
    Listing all{"Operations (--op):", {}};
    for (std::size_t i = 0; i < comm::kOperationNames.size(); ++i)
        all.entries.emplace_back(comm::kOperationNames[i],
                                 summary_of(static_cast<comm::Operation>(i)));
    return all;
}

}  // namespace

std::string Collectives::examples() const {
    return "  mpirun -n 2 ranklab comm                            allreduce, 8 B to 4 MiB\n"
           "  mpirun -n 2 ranklab comm --op all -e 64K            every operation\n"
           "  srun -n 16 ranklab comm --op allreduce,latency      of hosts, and between them\n"
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
    Listing backends{"Backends:", {}};
    for (const auto& entry : comm::backends())
        backends.entries.emplace_back(entry.name, entry.summary);
    Listing models{"Models with gradient buckets (--from-model):", {}};
    for (const auto& name : shipped_models()) models.entries.emplace_back(name, buckets_text(name));
    return {operations_listing(), models, backends};
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
    const auto backend = settle_backend(settled, control);
    std::unique_ptr<CollectivesPlan> plan;
    comm::all_or_throw(control, [&] {
        const auto messages = planned_messages(settled, backend, ranks);
        plan = std::make_unique<CollectivesPlan>(std::move(settled), backend, messages, ranks);
    });
    check_memory(2 * plan->bytes(), control);  // a library may buffer as much
    return plan;
}

}  // namespace ranklab::experiments
