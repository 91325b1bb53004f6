// The POP method's efficiencies (Wagner et al., "A Structured Approach to Performance Analysis",
// Tools for HPC 2017) of parallel steps, relative to a typical rank, with factors for the wait for
// input and for cores.
#include "report/model/steps.hpp"

#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include "base/numbers.hpp"

namespace ranklab::report::model {
namespace {

using Values = std::vector<double>;

// The lower median: of two ranks the faster one, so that a late rank's whole delay counts.
double typical(Values values) {
    const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

double slowest_node(const Values& of_ranks, const std::vector<results::HostRow>& hosts) {
    std::map<std::string, Values> nodes;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        nodes[hosts[rank].host].push_back(of_ranks[rank]);
    double most = 0;
    for (const auto& [node, values] : nodes) most = std::max(most, typical(values));
    return most;
}

// A measurement of the steps first .. end - 1, step by step, of all ranks; zeros if not stored.
Values samples_of(const results::Run& run, std::string_view name, std::size_t first,
                  std::size_t end) {
    const std::size_t ranks = run.hosts.size(), count = (end - first) * ranks;
    const auto* const found = run.find(name);
    if (found == nullptr || found->samples.size() < end * ranks) return Values(count);
    const auto some = std::span(found->samples).subspan(first * ranks, count);
    return {some.begin(), some.end()};
}

// Time per step that ranks waited for a straggler, beyond the time that the phases explain: the
// straggler handed its gradients over late.
double handover_s(const results::Run& run, double explained_s) {
    if (run.fact(fact::kStepStraggler).empty()) return 0;
    double waited_s = 0;
    for (const auto& row : model::rows_of(run, "waiting"))
        waited_s = std::max(waited_s, row.number("waited_for_others_s"));
    return waited_s > 2 * explained_s ? waited_s - explained_s : 0;
}

// From the waterfall of an ablation, whose negative parts count as 0.
Parts parts_of_trials(const results::Run& run) {
    Parts found;
    const auto add = [&](std::size_t level, const char* part) {
        for (const auto& row : model::rows_of(run, "waterfall"))
            if (row.text("part") == part)
                for (; level < found.level_s.size(); ++level)
                    found.level_s[level] += std::max(0.0, row.number("step_s"));
    };
    add(0, "compute");
    add(1 + Parts::input, "input");
    add(1 + Parts::within_node, "imbalance");
    add(1 + Parts::transfer, "communication");
    return found;
}

void add_cores(Steps& all) {
    const auto& first = all.run.hosts.front();
    std::set<std::size_t> of_host;
    for (const auto& row : all.run.hosts) {
        if (row.host != first.host) continue;
        ++all.ranks;
        of_host.merge(base::numbers_in(row.cores).value_or(std::set<std::size_t>()));
    }
    const bool on_gpu = all.run.setting(setting::kDevice) == "cuda";
    if (on_gpu || first.threads == 0 || of_host.empty()) return;
    all.threads = first.threads;
    all.own_cores = base::real(base::numbers_in(first.cores).value_or(of_host).size());
    all.host_cores = base::real(of_host.size());
    all.others = base::number_in(all.run.fact("place", "others_cores")).value_or(stats::kNone);
}

// Divides the waits for cores between other processes and ranklab's own threads. Own threads that
// outnumber the host's cores wait for each other: computing time x (threads / cores - 1). The rest
// is due to other processes, at most the CPU time that these used.
// Returns the share of the waits that is a loss: waits for ranklab's loader and helper threads stay
// with the computing, if the load by other processes was measured.
double share_cores(Steps& all) {
    const Parts& p = all.whole;
    const double waited_s = p.lost_s(Parts::cores),
                 wanted = (all.threads + p.decoding_s / p.step_s()) * all.ranks,
                 own_s = p.computing_s() * std::fmax(0, wanted / all.host_cores - 1),
                 most_s = std::fmax(0, all.others) * p.step_s();
    if (waited_s <= 0) return 0;
    const double others = std::clamp(waited_s - own_s, 0.0, most_s) / waited_s,
                 share = all.oversubscribed() || std::isnan(all.others) ? 1 : others;
    all.others_share = share > 0 ? others / share : 0;
    return share;
}

}  // namespace

Parts::Loss Parts::largest_loss() const {
    Loss largest = replicas;
    for (std::size_t i = 1; i < kLosses; ++i)
        if (lost_s(Loss(i)) > lost_s(largest)) largest = Loss(i);
    return largest;
}

// `ideal` is each rank's time on cores of its own and a network that sums in no time: a rank never
// waits except for the last rank's gradients before an update. `shared` has the waits for cores.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step,
               double core_share) {
    if (first_step == end_step) return parts_of_trials(run);
    const std::size_t ranks = run.hosts.size();
    const auto steps = static_cast<double>(end_step - first_step);
    const bool synchronised = run.says(fact::kSumsGradients);
    const auto samples = [&](std::string_view name) {
        return samples_of(run, name, first_step, end_step);
    };
    const auto mean = [&](std::string_view name) { return stats::mean_of_finite(samples(name)); };
    const Values step = samples(vocabulary::kStepTime), input = samples("data_time_s"),
                 sync = samples("sync_exposed_time_s"), update = samples("optimizer_time_s"),
                 gather = samples("gather_exposed_time_s"), cores = samples("core_wait_time_s"),
                 in_sync = samples("core_wait_in_sync_time_s");
    // Without workers a compute thread makes the batch, and waits for its core there, too.
    const Values making = run.setting(setting::kWorkers) == "0" ? samples("loader_decode_time_s")
                                                                : Values(step.size());
    Values wait(step.size()), moving(step.size());
    std::ranges::transform(sync, gather, wait.begin(), std::plus());
    for (const auto* phase :
         {"scatter_time_s", "replicate_time_s", "gather_time_s", "reduce_time_s"})
        std::ranges::transform(moving, samples(phase), moving.begin(), std::plus());
    Values computing(ranks), useful(ranks), busy(ranks), whole(ranks), ideal(ranks), shared(ranks),
        updating(ranks);
    double shared_in_sync = 0;
    for (std::size_t row = 0; row < step.size(); row += ranks) {
        double most_in_sync = 0, transfer = std::numeric_limits<double>::infinity();
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::size_t i = row + rank;
            const double own = step[i] - wait[i], rest = std::max(0.0, own - input[i]),
                         at_work = rest + std::min(input[i], making[i]),
                         lost = at_work > 0
                                    ? core_share * std::min(cores[i], at_work) * rest / at_work
                                    : 0;
            // Moving data is assumed to wait for cores for the same share of its time as computing.
            const double use = own - lost - input[i];
            computing[rank] += use - (rest > 0 ? std::min(moving[i], rest) * use / rest : 0);
            useful[rank] += use;
            busy[rank] += own - lost;
            whole[rank] += step[i];
            ideal[rank] += own - lost - update[i];
            shared[rank] += own - update[i];
            most_in_sync = std::max(most_in_sync, in_sync[i]);
            transfer = std::min(transfer, wait[i]);  // of the last rank
        }
        for (Values* const times : {&ideal, &shared})
            if (synchronised) times->assign(ranks, std::ranges::max(*times));
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            updating[rank] += update[row + rank];
            ideal[rank] += update[row + rank];
            shared[rank] += update[row + rank];
        }
        shared_in_sync += core_share * std::min(most_in_sync, transfer);
    }
    const double slowest = std::ranges::max(shared) + shared_in_sync;
    Parts found{
        .level_s = {typical(computing), typical(useful), typical(busy),
                    slowest_node(busy, run.hosts), std::ranges::max(busy), std::ranges::max(ideal),
                    slowest, slowest + steps * handover_s(run, (slowest - typical(busy)) / steps),
                    std::ranges::max(whole)},
        .update_s = typical(updating) / steps,
        .reading_s = mean("loader_read_time_s"),
        .decoding_s = mean("loader_decode_time_s") + mean("loader_augment_time_s"),
        .slowest_rank = static_cast<std::size_t>(std::ranges::max_element(busy) - busy.begin())};
    auto& levels = found.level_s;
    for (double& level : levels) level = std::min(level, levels.back()) / steps;
    // A typical rank of a node may be faster than a typical rank of all nodes.
    std::partial_sum(levels.begin(), levels.end(), levels.begin(),
                     [](double before, double level) { return std::max(before, level); });
    return found;
}

Steps steps_of(const results::Run& run) {
    Steps all{run};
    const auto* const step = run.find(vocabulary::kStepTime);
    const std::size_t count = step == nullptr ? 0 : step->rows(), ranks = run.hosts.size();
    const bool has_parts =
        count > 0 && step->columns == ranks && (!run.says(fact::kWaitsInBackward) || ranks == 1);
    all.measured = has_parts || run.find_table("waterfall") != nullptr;
    if (!all.measured) return all;
    add_cores(all);
    all.whole = parts_of(run, 0, has_parts ? count : 0);
    if (!has_parts) return all;
    const double core_share = share_cores(all);
    all.whole = parts_of(run, 0, count, core_share);
    all.steps_s = static_cast<double>(count) * all.whole.step_s();
    for (std::size_t i = 0; count >= kBlocks * kFewestSteps && i < kBlocks; ++i)
        all.blocks.push_back(
            parts_of(run, i * count / kBlocks, (i + 1) * count / kBlocks, core_share));
    return all;
}

}  // namespace ranklab::report::model
