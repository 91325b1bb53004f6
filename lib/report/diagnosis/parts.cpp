// The POP method's efficiencies (Wagner et al., "A Structured Approach to Performance Analysis",
// Tools for HPC 2017) of parallel steps, with one more factor for the wait for input.
#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::report::diagnosis {
namespace {

using Values = std::vector<double>;

double largest_node_mean(const Values& of_ranks, const std::vector<results::HostRow>& hosts) {
    std::map<std::string, Values> nodes;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        nodes[hosts[rank].host].push_back(of_ranks[rank]);
    double most = 0;
    for (const auto& [node, values] : nodes) most = std::max(most, stats::mean_of_finite(values));
    return most;
}

}  // namespace

Parts::Loss Parts::largest_loss() const {
    Loss largest = between_nodes;
    for (const auto loss : {within_node, input, serialisation, transfer})
        if (lost_s(loss) > lost_s(largest)) largest = loss;
    return largest;
}

// `ideal` is each rank's time on a network that sums in no time: a rank never waits except for the
// last rank's gradients before an update.
Parts parts_of(const results::Run& run, std::size_t first_step, std::size_t end_step) {
    const std::size_t ranks = run.hosts.size(), count = (end_step - first_step) * ranks;
    const bool synchronised = run.says(vocabulary::fact::kSumsGradients);
    const auto samples = [&](std::string_view name) {  // zeros if the run has no such part
        const auto* const found = run.find(name);
        if (found == nullptr || found->samples.size() < end_step * ranks) return Values(count);
        const auto some = std::span(found->samples).subspan(first_step * ranks, count);
        return Values(some.begin(), some.end());
    };
    const auto mean = [&](std::string_view name) { return stats::mean_of_finite(samples(name)); };
    const Values step = samples(vocabulary::kStepTime), input = samples("data_time_s"),
                 wait = samples("sync_exposed_time_s"), update = samples("optimizer_time_s");
    Values computing(ranks), busy(ranks), whole(ranks), ideal(ranks);
    for (std::size_t row = 0; row < count; row += ranks) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::size_t i = row + rank;
            const double own = step[i] - wait[i];
            computing[rank] += own - input[i];
            busy[rank] += own;
            whole[rank] += step[i];
            ideal[rank] += own - update[i];
        }
        if (synchronised) ideal.assign(ranks, std::ranges::max(ideal));
        for (std::size_t rank = 0; rank < ranks; ++rank) ideal[rank] += update[row + rank];
    }
    Parts found{
        .level_s = {stats::mean_of_finite(computing), largest_node_mean(computing, run.hosts),
                    std::ranges::max(computing), std::ranges::max(busy), std::ranges::max(ideal),
                    std::ranges::max(whole)},
        .update_s = stats::mean_of_finite(update),
        .reading_s = mean("loader_read_time_s"),
        .decoding_s = mean("loader_decode_time_s") + mean("loader_augment_time_s")};
    auto& levels = found.level_s;
    for (double& level : levels) level /= static_cast<double>(end_step - first_step);
    // Rounding can put a level below the previous one.
    std::partial_sum(levels.begin(), levels.end(), levels.begin(),
                     [](double before, double level) { return std::max(before, level); });
    return found;
}

}  // namespace ranklab::report::diagnosis
