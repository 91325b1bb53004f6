#include "report/predict/mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "forecast/step.hpp"
#include "report/frame/readable.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "report/predict/evidence.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::Algorithm;
using forecast::AllreduceCost;
using Why = Refusal::Why;

constexpr double kMiB = 1 << 20;
constexpr std::array kCapsMiB{1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0};
// MPI takes the one that suits the message; libnbc, the started one, has trees.
constexpr std::array kBlocking{Algorithm::ring, Algorithm::recursive_doubling};
constexpr std::array kStarted{Algorithm::tree};
// A message so many times as large as the largest measured one has no cost.
constexpr double kLargest = 4;

// The parts of one forecast.
struct Setup {
    const Evidence& evidence;
    forecast::Placement placement = {};
    const SharedWork* shared = nullptr;
    forecast::SyncPlan plan = {};
    double batch = 0;
    bool in_background = false;  ///< buckets travel in started pieces, else in blocking ones

    std::size_t hosts() const {
        return (placement.ranks + placement.per_host - 1) / placement.per_host;
    }
    bool sums() const { return placement.ranks > 1 && plan.sync != forecast::Sync::none; }
    const std::vector<forecast::MeasuredLevel>& levels() const {
        return in_background ? evidence.background : evidence.blocking;
    }
    AllreduceCost cost(double bytes) const {
        if (in_background)
            return in_pieces(levels(), bytes, forecast::kBackgroundPiece, placement, kStarted);
        const bool queued = plan.sync == forecast::Sync::bucketed;
        return in_pieces(levels(), bytes, queued ? forecast::kBlockingPiece : 0, placement,
                         kBlocking);
    }
};

// One with several ranks, with as many on a host, with more ranks.
const SharedWork* nearest(const std::vector<SharedWork>& shared, std::size_t per_host) {
    const auto worth = [&](const SharedWork& one) {
        const std::size_t ranks = one.run->hosts.size();
        return std::tuple(ranks > 1, one.per_host == per_host, ranks);
    };
    const auto best = std::ranges::max_element(shared, {}, worth);
    return best == shared.end() ? nullptr : &*best;
}

forecast::Sync sync_named(const std::string& name) {
    if (name == "none") return forecast::Sync::none;
    if (name == "flat") return forecast::Sync::flat;
    return name == "per-parameter" ? forecast::Sync::per_parameter : forecast::Sync::bucketed;
}

std::size_t count_of(std::int64_t number) {
    return static_cast<std::size_t>(number);
}

double micro_batch(const WhatIf& what_if, const Setup& setup) {
    const auto given = [&](const results::Run& run, const char* setting) {
        return what_if.batch_size ? base::real(*what_if.batch_size) : number_of(run, setting, 0);
    };
    if (!what_if.strong) return given(*setup.evidence.profile, "batch-size");
    return given(*setup.shared->run, "global-batch-size") /
           base::real(setup.placement.ranks * setup.plan.accumulate);
}

Setup setup_of(const Evidence& evidence, const WhatIf& what_if, std::size_t ranks) {
    Setup setup{.evidence = evidence};
    std::size_t most = 1;
    for (const auto& one : evidence.shared) most = std::max(most, one.per_host);
    setup.placement = {
        ranks, std::min(ranks, what_if.ranks_per_node ? count_of(*what_if.ranks_per_node) : most)};
    setup.shared = nearest(evidence.shared, setup.placement.per_host);
    const auto& like = *setup.shared->run;
    const double cap = kMiB * what_if.bucket_cap_mb.value_or(number_of(like, "bucket-cap-mb", 25));
    const bool several = like.hosts.size() > 1, one_host = setup.hosts() == 1;
    const std::string sync = what_if.bucket_cap_mb || !several ? "bucketed" : like.setting("sync");
    setup.plan = {.sync = sync_named(what_if.sync.empty() ? sync : what_if.sync),
                  .first_cap_bytes = std::min(cap, kMiB),
                  .cap_bytes = cap,
                  .accumulate = count_of(what_if.accumulate.value_or(1))};
    // What train settles between hosts, and otherwise what it did (docs/overlap.md).
    const bool as_there = several && (model::node_count(like) == 1) == one_host;
    setup.plan.overlaps = as_there ? like.setting("mpi-progress") != "none" : !one_host;
    setup.in_background = setup.plan.sync == forecast::Sync::bucketed &&
                          like.setting("backend") == "mpi" &&
                          (as_there ? like.setting("transfer") == "background" : !one_host);
    setup.batch = micro_batch(what_if, setup);
    return setup;
}

// How much longer the slowest of so many computes than one alone; NaN where too few were seen.
double slowdown(const Setup& setup) {
    const auto& shared = *setup.shared;
    const auto alone = setup.evidence.alone.find(number_of(*shared.run, "batch-size", 0));
    if (alone == setup.evidence.alone.end()) return stats::kNone;
    const auto& [input, forward, backward, optimizer, loader] = alone->second.work;
    return shared.slowest_s / (input + forward + backward + optimizer) *
           forecast::expected_maximum(shared.computing_s, setup.placement.ranks) /
           forecast::expected_maximum(shared.computing_s, shared.run->hosts.size());
}

forecast::SimulatedStep simulated(const Setup& setup, forecast::RankWork work, double slower,
                                  double (*of)(const AllreduceCost&)) {
    for (auto* part : {&work.input_s, &work.forward_s, &work.backward_s, &work.optimizer_s})
        *part *= slower;
    const forecast::Network network{
        [&](double bytes) { return setup.sums() ? of(setup.cost(bytes)) : 0; },
        setup.in_background ? setup.evidence.compute_share : 0};
    return simulate_step({&work, 1}, gradients_of(*setup.evidence.profile), setup.plan, network);
}

// Of the same training, on that many ranks.
std::string train_command(const Setup& setup, std::size_t ranks, const std::string& more) {
    return fmt::format("{}ranklab train --model {} --batch-size {:.0f}{}",
                       ranks > 1 ? fmt::format("mpirun -n {} ", ranks) : "",
                       setup.evidence.profile->setting("model"), setup.batch, more);
}

Refusal network_refusal(const Setup& setup) {
    if (!setup.sums()) return {};
    const auto [ranks, per_host] = setup.placement;
    const std::string start =
        setup.hosts() > 1 ? fmt::format("srun -N2 --ntasks-per-node={} ranklab comm", per_host)
                          : fmt::format("mpirun -n {} ranklab comm", ranks);
    const std::string comm =
        start + (setup.in_background ? " --nonblocking --mpi-progress poll" : "");
    double largest = 0, measured = 0;
    for (const auto& one : buckets_of(gradients_of(*setup.evidence.profile), setup.plan))
        largest = std::max(largest, one.bytes);
    for (const auto& level : setup.levels())
        measured = std::max(measured, level.messages.back().bytes);
    if (std::isnan(setup.cost(largest).s) ||
        (setup.in_background && std::isnan(setup.evidence.compute_share)))
        return {setup.hosts() > 1 ? Why::level_not_crossed : Why::no_network, comm};
    if (setup.plan.sync == forecast::Sync::bucketed)
        largest = std::min(
            largest, setup.in_background ? forecast::kBackgroundPiece : forecast::kBlockingPiece);
    if (largest > kLargest * measured)
        return {Why::message_too_large,
                fmt::format("{} -e {:.0f}M", comm, std::ceil(largest / kMiB))};
    return {};
}

Refusal refusal_of(const Setup& setup, bool force) {
    const std::size_t ranks = setup.placement.ranks;
    if (!force && ranks > kFarthest * setup.evidence.most_ranks)
        return {Why::too_far, train_command(setup, (ranks + kFarthest - 1) / kFarthest, "")};
    if (!setup.evidence.alone.contains(setup.batch))
        return {Why::batch_not_measured, train_command(setup, 1, "")};
    const std::size_t measured = setup.shared->run->hosts.size();
    if (std::isnan(slowdown(setup)))
        return {Why::few_samples,
                train_command(setup, measured, fmt::format(" --steps {}", ranks / measured + 1))};
    return network_refusal(setup);
}

MechanismForecast forecast_of(const Setup& setup, bool force) {
    MechanismForecast found{.ranks = setup.placement.ranks, .refusal = refusal_of(setup, force)};
    if (found.refusal.why != Why::none) return found;
    const auto& alone = setup.evidence.alone.at(setup.batch);
    const double slower = slowdown(setup),
                 half = std::max(alone.half_width, setup.shared->half_width);
    const auto step = simulated(setup, alone.work, slower, [](const auto& cost) { return cost.s; });
    const auto low = [](const AllreduceCost& cost) { return cost.range.low; };
    const auto high = [](const AllreduceCost& cost) { return cost.range.high; };
    found.step_s = step.step_s;
    found.range = {simulated(setup, alone.work, slower * (1 - half), low).step_s,
                   simulated(setup, alone.work, slower * (1 + half), high).step_s};
    found.compute_s = step.compute_s;
    found.exposed_s = step.exposed_s;
    double largest = 0;
    for (const auto& one : step.reductions) largest = std::max(largest, one.bytes);
    if (setup.sums()) found.algorithm = setup.cost(largest).algorithm;
    return found;
}

}  // namespace

std::vector<results::Run> runs_for_mechanism(const model::ChosenRuns& chosen) {
    std::vector<results::Run> runs;
    const auto take = [&](results::Run&& run) { runs.push_back(std::move(run)); };
    chosen.visit(results::Detail::all, take,
                 [](const auto& run) { return run.command == "train"; });
    chosen.file().visit(results::Detail::summaries, model::is_comm, take);
    return runs;
}

std::vector<MechanismForecast> mechanism_forecast(std::span<const results::Run> runs,
                                                  const WhatIf& what_if,
                                                  std::span<const std::size_t> ranks, bool force) {
    const Evidence evidence = evidence_in(runs, what_if.precision);
    std::vector<MechanismForecast> found;
    for (const std::size_t one : ranks) {
        if (evidence.profile != nullptr) {
            found.push_back(forecast_of(setup_of(evidence, what_if, one), force));
            continue;
        }
        const std::string precision =
            what_if.precision.empty() ? "" : " --precision " + what_if.precision;
        found.push_back(
            {.ranks = one,
             .refusal = {Why::no_layers, "ranklab train --profile layers" + precision}});
    }
    return found;
}

Frame frame_of(const std::vector<MechanismForecast>& forecasts) {
    Frame frame{.title = "Forecast of a step, by simulating it"};
    frame.columns = {{.name = "ranks", .key = true},
                     {.name = "step_time_s", .unit = "s", .interval = true, .head = "step"},
                     {.name = "compute_s", .unit = "s", .head = "computing"},
                     {.name = "exposed_s", .unit = "s", .head = "exposed communication"},
                     {.name = "allreduce"},
                     {.name = "refused"}};
    for (const auto& one : forecasts) {
        const bool refused = one.refusal.why != Why::none;
        frame.rows.push_back(
            {{Cell(one.ranks), Cell(one.step_s, one.range), Cell(one.compute_s),
              Cell(one.exposed_s), refused ? Cell() : Cell(std::string(name_of(one.algorithm))),
              refused ? Cell(name_of(one.refusal.why)) : Cell()}});
        if (refused)
            frame.notes.push_back(counted(one.ranks, "rank") + ": " + sentence(one.refusal));
    }
    frame.drop_empty_columns();
    return frame;
}

std::string json_of(const std::vector<MechanismForecast>& forecasts) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& one : forecasts)
        all.push_back({{"ranks", one.ranks},
                       {"step_time_s", one.step_s},
                       {"low", one.range.low},
                       {"high", one.range.high},
                       {"compute_s", one.compute_s},
                       {"exposed_s", one.exposed_s},
                       {"allreduce", name_of(one.algorithm)},
                       {"why", name_of(one.refusal.why)},
                       {"command", one.refusal.command}});
    return json_line({{"quantity", "step_time_s"}, {"forecasts", all}});
}

std::vector<CapAdvice> bucket_cap_advice(std::span<const results::Run> runs, const WhatIf& what_if,
                                         std::size_t ranks) {
    const std::size_t only[] = {ranks};
    const auto with = [&](std::optional<double> cap) {
        WhatIf other = what_if;
        other.sync = "bucketed";
        if (cap) other.bucket_cap_mb = cap;
        return mechanism_forecast(runs, other, only, false).front();
    };
    const auto now = with(std::nullopt);
    std::vector<CapAdvice> advice;
    for (const double cap : kCapsMiB) {
        const auto one = with(cap);
        if (one.refusal.why != Why::none || now.refusal.why != Why::none) return {};
        // Both ends of the range move together: they are of the same runs.
        const double a = now.range.low / one.range.low, b = now.range.high / one.range.high,
                     gain = now.step_s / one.step_s;
        advice.push_back({cap, one, {gain, {std::min({a, b, gain}), std::max({a, b, gain})}}});
    }
    std::ranges::stable_sort(advice, {}, [](const auto& one) { return one.forecast.step_s; });
    return advice;
}

}  // namespace ranklab::report::predict
