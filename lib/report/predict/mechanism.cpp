#include "report/predict/mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
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
    forecast::Placement on = {};
    const SharedWork* shared = nullptr;
    forecast::SyncPlan plan = {};
    double batch = 0;
    bool several_hosts = false;
    bool in_background = false;  ///< buckets travel in started pieces, else in blocking ones
    double piece_bytes = 0;      ///< 0: whole
    double largest_bytes = 0;    ///< message

    const std::vector<forecast::MeasuredLevel>& levels() const {
        return in_background ? evidence.background : evidence.blocking;
    }
    AllreduceCost cost(double bytes) const {
        if (!(largest_bytes > 0)) return {0, {0, 0}};
        return in_background ? in_pieces(levels(), bytes, piece_bytes, on, kStarted)
                             : in_pieces(levels(), bytes, piece_bytes, on, kBlocking);
    }
};

// One of several ranks, with as many on a host, with more ranks.
const SharedWork* nearest(const std::vector<SharedWork>& shared, std::size_t per_host) {
    return &*std::ranges::max_element(shared, {}, [&](const SharedWork& one) {
        const std::size_t ranks = one.run->hosts.size();
        return std::tuple(ranks > 1, one.per_host == per_host, ranks);
    });
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
    const double batch = what_if.batch_size ? base::real(*what_if.batch_size)
                                            : number_of(*setup.evidence.profile, "batch-size", 0);
    if (!what_if.strong) return batch;
    return std::ceil(batch / base::real(setup.on.ranks * setup.plan.accumulate));
}

// How train sums there, or settles it between hosts (docs/overlap.md).
void settle_transfer(Setup& setup) {
    const auto& like = *setup.shared->run;
    const bool as_there =
        like.hosts.size() > 1 && (model::node_count(like) > 1) == setup.several_hosts;
    const bool is_queued = setup.plan.sync == forecast::Sync::bucketed;
    setup.plan.overlaps = as_there ? like.setting("mpi-progress") != "none" : setup.several_hosts;
    if (like.setting("backend") == "mpi" && is_queued) {
        setup.in_background =
            as_there ? like.setting("transfer") == "background" : setup.several_hosts;
        setup.piece_bytes =
            setup.in_background ? forecast::kBackgroundPiece : forecast::kBlockingPiece;
    }
    if (setup.on.ranks < 2) return;
    for (const auto& one : buckets_of(gradients_of(*setup.evidence.profile), setup.plan))
        setup.largest_bytes = std::max(setup.largest_bytes, one.bytes);
    if (setup.piece_bytes > 0)
        setup.largest_bytes = std::min(setup.largest_bytes, setup.piece_bytes);
}

Setup setup_of(const Evidence& evidence, const WhatIf& what_if, std::size_t ranks) {
    Setup setup{.evidence = evidence};
    std::size_t most = 1;
    for (const auto& one : evidence.shared) most = std::max(most, one.per_host);
    if (what_if.ranks_per_node) most = count_of(*what_if.ranks_per_node);
    setup.on = {ranks, std::min(ranks, most)};
    setup.several_hosts = ranks > most;
    setup.shared = nearest(evidence.shared, setup.on.per_host);
    const auto& like = *setup.shared->run;
    const double cap = kMiB * what_if.bucket_cap_mb.value_or(number_of(like, "bucket-cap-mb", 25));
    const bool is_bucketed = what_if.bucket_cap_mb || like.hosts.size() == 1;
    const std::string sync = is_bucketed ? "bucketed" : like.setting("sync");
    setup.plan = {.sync = sync_named(what_if.sync.empty() ? sync : what_if.sync),
                  .first_cap_bytes = std::min(cap, kMiB),
                  .cap_bytes = cap,
                  .accumulate = count_of(what_if.accumulate.value_or(1))};
    settle_transfer(setup);
    setup.batch = micro_batch(what_if, setup);
    return setup;
}

// How much longer the slowest of so many computes than one alone; NaN where too few were seen.
double slowdown(const Setup& setup) {
    if (setup.on.ranks == 1) return 1;
    const auto& shared = *setup.shared;
    const auto& alone = setup.evidence.alone.at(number_of(*shared.run, "batch-size", 0)).work;
    return shared.slowest_s /
           (alone.input_s + alone.forward_s + alone.backward_s + alone.optimizer_s) *
           forecast::expected_maximum(shared.computing_s, setup.on.ranks) /
           forecast::expected_maximum(shared.computing_s, shared.run->hosts.size());
}

forecast::SimulatedStep simulated(const Setup& setup, forecast::RankWork work, double slower,
                                  double (*of)(const AllreduceCost&)) {
    for (auto* part : {&work.input_s, &work.forward_s, &work.backward_s, &work.optimizer_s})
        *part *= slower;
    const forecast::Network network{[&](double bytes) { return of(setup.cost(bytes)); },
                                    setup.in_background ? setup.evidence.compute_share : 0};
    return simulate_step({&work, 1}, gradients_of(*setup.evidence.profile), setup.plan, network);
}

// Measures this training on that many ranks.
std::string train_command(const Setup& setup, std::size_t ranks, const std::string& more) {
    return fmt::format("{}{} --batch-size {:.0f}{}",
                       ranks > 1 ? fmt::format("mpirun -n {} ", ranks) : "",
                       setup.shared->run->argv, setup.batch, more);
}

Refusal network_refusal(const Setup& setup) {
    const bool share_is_known = !setup.in_background || !std::isnan(setup.evidence.compute_share);
    const std::string comm = fmt::format(
        "mpirun -n {} --map-by ppr:{}:node ranklab comm{} --output {}",
        setup.several_hosts ? 2 * setup.on.per_host : setup.on.per_host, setup.on.per_host,
        setup.in_background ? " --nonblocking --mpi-progress poll" : "",
        base::shell_path(setup.shared->run->setting("output")));
    if (std::isnan(setup.cost(setup.largest_bytes).s) || !share_is_known)
        return {Why::level_not_crossed, comm};
    double measured = 0;
    for (const auto& level : setup.levels())
        measured = std::max(measured, level.messages.back().bytes);
    if (setup.largest_bytes <= kLargest * measured) return {};
    return {Why::message_too_large,
            fmt::format("{} -e {:.0f}M", comm, std::ceil(setup.largest_bytes / kMiB))};
}

Refusal refusal_of(const Setup& setup, bool force) {
    const std::size_t ranks = setup.on.ranks;
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
    MechanismForecast found{.ranks = setup.on.ranks, .refusal = refusal_of(setup, force)};
    if (found.refusal.why != Why::none) return found;
    const auto& alone = setup.evidence.alone.at(setup.batch);
    const double slower = slowdown(setup),
                 half = std::max(alone.half_width, setup.shared->half_width);
    const auto with = [&](double scale, double (*of)(const AllreduceCost&)) {
        return simulated(setup, alone.work, scale * slower, of);
    };
    const auto step = with(1, [](const AllreduceCost& cost) { return cost.s; });
    found.step_s = step.step_s;
    found.range = {with(1 - half, [](const auto& cost) { return cost.range.low; }).step_s,
                   with(1 + half, [](const auto& cost) { return cost.range.high; }).step_s};
    found.compute_s = step.compute_s;
    found.exposed_s = step.exposed_s;
    found.algorithm = setup.cost(setup.largest_bytes).algorithm;
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
    const std::string mend = "ranklab train --profile layers" +
                             (what_if.precision.empty() ? "" : " --precision " + what_if.precision);
    for (const std::size_t one : ranks)
        found.push_back(evidence.profile == nullptr
                            ? MechanismForecast{.ranks = one, .refusal = {Why::no_layers, mend}}
                            : forecast_of(setup_of(evidence, what_if, one), force));
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
    frame.notes.emplace_back(
        "the interval spans the runs' spread and the algorithms that MPI may take");
    return frame;
}

std::string json_of(const std::vector<MechanismForecast>& forecasts) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& one : forecasts) {
        const bool refused = one.refusal.why != Why::none;
        all.push_back({{"ranks", one.ranks},
                       {"value", one.step_s},
                       {"low", one.range.low},
                       {"high", one.range.high},
                       {"compute_s", one.compute_s},
                       {"exposed_s", one.exposed_s},
                       {"allreduce", name_of(one.algorithm)},
                       {"refused", refused},
                       {"reason", refused ? sentence(one.refusal) : ""},
                       {"why", name_of(one.refusal.why)}});
    }
    return json_line({{"quantity", "step_time_s"}, {"unit", "s"}, {"forecasts", all}}) + "\n";
}

std::optional<CapAdvice> best_bucket_cap(std::span<const results::Run> runs, WhatIf what_if,
                                         std::size_t ranks) {
    what_if.sync = "bucketed";
    const Evidence evidence = evidence_in(runs, what_if.precision);
    if (evidence.profile == nullptr) return std::nullopt;
    const auto step = [&] { return forecast_of(setup_of(evidence, what_if, ranks), false); };
    const auto now = step();
    std::optional<CapAdvice> best;
    for (const double cap : kCapsMiB) {
        what_if.bucket_cap_mb = cap;
        const auto one = step();
        const double gain = now.step_s / one.step_s;
        if (std::isnan(gain) || (best && gain <= best->gain.ratio)) continue;
        // Both ends of the range move together: they are of the same runs.
        const double a = now.range.low / one.range.low, b = now.range.high / one.range.high;
        best = {cap, {gain, {std::min({a, b, gain}), std::max({a, b, gain})}}};
    }
    return best;
}

}  // namespace ranklab::report::predict
