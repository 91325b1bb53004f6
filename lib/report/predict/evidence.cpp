#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"
#include "report/predict/mechanism.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::predict {
namespace {

using results::Run;

// The options on which a rank's work on one sample depends, with their values. Options with the
// value "" or "false" are left out, so that an unset flag equals one that an older version lacks.
std::map<std::string, std::string> sample_work(const Run& run) {
    std::map<std::string, std::string> work;
    for (const auto& [key, value, number] : run.config)
        if (!value.empty() && value != "false" &&
            vocabulary::matters_to(vocabulary::SettingUse::sample_work, key, value))
            work[key] = value;
    return work;
}

// Whether the run stores the steps of each rank, and its phases tell computing from waiting.
bool is_training(const Run& run) {
    const auto* const step = run.find(vocabulary::kStepTime);
    return run.command == "train" && run.valid && run.cut_short().empty() &&
           run.setting(setting::kReplicas).empty() && !run.says(fact::kWaitsInBackward) &&
           step != nullptr && step->columns == run.hosts.size() &&
           run.find("backward_time_s") != nullptr && number_of(run, setting::kAccumulate, 1) == 1;
}

bool is_profiled(const Run& run) {
    return run.find_table("layers") != nullptr;
}

// Most ranks on one host.
std::size_t ranks_per_host(const Run& run) {
    std::map<std::string, std::size_t> hosts;
    std::size_t most = 1;
    for (const auto& row : run.hosts) most = std::max(most, ++hosts[row.host]);
    return most;
}

double median_of(const Run& run, std::string_view name) {
    return std::fmax(run.median(name), 0);  // 0: not measured
}

double half_width_of(const stats::Summary& summary) {
    const double half = (summary.ci95.high - summary.ci95.low) / 2 / summary.median;
    return std::isfinite(half) ? half : 0;
}

AloneWork alone_in(const Run& run) {
    forecast::RankWork work{.forward_s = median_of(run, "forward_time_s"),
                            .backward_s = median_of(run, "backward_time_s"),
                            .optimizer_s = median_of(run, "optimizer_time_s")};
    const double own_s = median_of(run, vocabulary::kStepTime) -
                         median_of(run, "sync_exposed_time_s") - work.forward_s - work.backward_s -
                         work.optimizer_s;
    const double workers = number_of(run, setting::kWorkers, 0);
    for (const char* part : {"loader_read_time_s", "loader_decode_time_s", "loader_augment_time_s"})
        if (workers > 0) work.loader_s += median_of(run, part) / workers;
    // With workers, simulate_step() derives the wait from loader_s: data_time_s would count twice.
    work.input_s = std::max(0.0, own_s - (workers > 0 ? median_of(run, "data_time_s") : 0));
    return {work, half_width_of(run.find(vocabulary::kStepTime)->summary)};
}

SharedWork shared_in(const Run& run) {
    SharedWork found{.run = &run,
                     .per_host = ranks_per_host(run),
                     .batch = number_of(run, setting::kBatchSize, 0)};
    const auto* const step = run.find(vocabulary::kStepTime);
    found.computing_s = step->samples;
    for (const char* waiting : {"sync_exposed_time_s", "gather_exposed_time_s"})
        if (const auto* const wait = run.find(waiting); wait != nullptr)
            for (std::size_t i = 0; i < wait->samples.size(); ++i)
                found.computing_s.at(i) -= wait->samples[i];
    // Gradient sums in backward would count as computing; steps without communication have none.
    const auto* apart = run.find("step_without_communication_s");
    const auto summary = run.says(fact::kSumsInBackward) && apart != nullptr
                             ? apart->summary
                             : stats::summarise(step->largest_of(found.computing_s));
    found.slowest_s = summary.median;
    found.half_width = half_width_of(summary);
    return found;
}

void add_training(Evidence& found, const Run& run) {
    found.most_ranks = std::max(found.most_ranks, run.hosts.size());
    found.shared.push_back(shared_in(run));
    if (run.hosts.size() > 1) return;
    const AloneWork alone = alone_in(run);
    const auto [place, is_new] = found.alone.try_emplace(found.shared.back().batch, alone);
    if (is_new || is_profiled(run)) return;
    auto& newest = place->second;
    const double off = (alone.work.forward_s + alone.work.backward_s) /
                       (newest.work.forward_s + newest.work.backward_s);
    newest.half_width = std::max(newest.half_width, std::abs(off - 1));
}

// Does not replace the times of runs added before, which are newer.
void add_levels(forecast::MeasuredNetwork& network, const Run& run,
                const std::vector<model::Message>& calls) {
    for (const auto& one : calls) {
        const auto ranks = static_cast<std::size_t>(one.ranks);
        const forecast::Placement on{ranks, one.level == "job"    ? ranks_per_host(run)
                                            : one.level == "host" ? ranks
                                                                  : 1};
        auto time = model::time_of(one);
        if (!(time.range.low > 0)) time.range = {time.s, time.s};
        network.levels[on].try_emplace(base::real(one.bytes), time);
    }
}

// Share of computing that an allreduce takes, at the size nearest to a background piece, or NaN.
double compute_share_of(const std::vector<model::Message>& calls) {
    const auto nearest = std::ranges::max_element(calls, {}, [](const model::Message& one) {
        const double ratio = base::real(one.bytes) / forecast::kBackgroundPiece;
        return std::min(ratio, 1 / ratio);
    });
    if (nearest == calls.end()) return stats::kNone;
    const auto at = [&](const char* column) { return nearest->stored.number(column); };
    return std::clamp((at("overall_us") - at("compute_us")) / at("pure_us"), 0.0, 1.0);
}

void add_network(Evidence& found, const Run& run) {
    found.most_ranks = std::max(found.most_ranks, run.hosts.size());
    const std::string dtype = model::gradient_type(*found.profile);
    const auto background = model::allreduces_in(run, "nonblocking", dtype);
    add_levels(found.blocking, run, model::allreduces_in(run, "messages", dtype));
    add_levels(found.background, run, background);
    double& share = found.compute_share[model::node_count(run) > 1 ? 1 : 0];
    if (std::isnan(share)) share = compute_share_of(background);
}

// The gradients in the order of backward, with their bytes after compression.
std::vector<forecast::Gradient> gradients_of(const Run& profile) {
    const double narrower =
        model::gradient_type(profile) == profile.setting(setting::kCompress) ? 0.5 : 1;
    double backward_s = 0;
    std::vector<forecast::Gradient> gradients;
    for (const auto& row : model::rows_of(profile, "layers")) {
        backward_s += row.number("backward_s");
        if (const double bytes = row.number("parameter_bytes"); bytes > 0)  // attention has none
            gradients.push_back({narrower * bytes, row.number("gradient_ready_s")});
    }
    for (auto& gradient : gradients) gradient.ready = std::min(1.0, gradient.ready / backward_s);
    std::ranges::stable_sort(gradients, {}, &forecast::Gradient::ready);
    return gradients;
}

}  // namespace

bool is_same_work(const Run& a, const Run& b) {
    return sample_work(a) == sample_work(b);
}

double number_of(const Run& run, std::string_view name, double otherwise) {
    return base::number_in(run.setting(name)).value_or(otherwise);
}

Evidence evidence_in(std::span<const Run> runs, const std::string& precision) {
    std::vector<const Run*> newest;
    for (const auto& run : runs) newest.push_back(&run);
    std::ranges::stable_sort(newest, std::greater(),
                             [](const Run* run) { return run->started_utc; });
    Evidence found;
    if (const auto training = std::ranges::find(newest, std::string("train"), &Run::command);
        training != newest.end())
        found.newest = (*training)->argv;
    for (const auto* run : newest)
        if (found.profile == nullptr && is_training(*run) && run->hosts.size() == 1 &&
            is_profiled(*run) &&
            (precision.empty() || run->setting(setting::kPrecision) == precision))
            found.profile = run;
    if (found.profile == nullptr) return found;
    const Run& profile = *found.profile;
    found.gradients = gradients_of(profile);
    // Profiling costs time: runs without it are added first, and take precedence.
    for (const bool profiled : {false, true})
        for (const auto* run : newest)
            if (is_training(*run) && is_same_work(*run, profile) && is_profiled(*run) == profiled)
                add_training(found, *run);
    std::erase_if(found.shared, [&](const auto& one) { return !found.alone.contains(one.batch); });
    for (const auto* run : newest)
        if (run->command == "comm" && run->valid && model::measures_network(*run) &&
            run->setting(setting::kBackend) == profile.setting(setting::kBackend))
            add_network(found, *run);
    for (auto* network : {&found.blocking, &found.background})
        std::erase_if(network->levels, [](const auto& level) { return level.second.size() < 2; });
    return found;
}

}  // namespace ranklab::report::predict
