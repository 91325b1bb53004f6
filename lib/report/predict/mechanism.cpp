#include "report/predict/mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::AllreduceTime;
using Why = Refusal::Why;

constexpr double kMiB = 1 << 20;
constexpr std::size_t kFarthest = 64;  // times the ranks of the largest run
constexpr std::size_t kMostHeld = 32;  // newest runs that a forecast is compared with
constexpr double kMostMiss = 2;        // measured over simulated step of a run, or its inverse

// The parts of one forecast.
struct Setup {
    const Evidence& evidence;
    const SharedWork& shared;
    forecast::Placement on = {};
    double batch = 0;
    std::size_t micro_batches = 1;
    std::vector<forecast::Gradient> buckets = {};
    bool in_background = false;  // true: background allreduces; false: blocking
    forecast::Sharded sharded = {};
    double piece_bytes = HUGE_VAL, largest_bytes = 0;  // pieces of a message; largest message

    bool between_hosts() const { return on.ranks > on.per_host; }
    double compute_share() const {
        return in_background ? evidence.compute_share[between_hosts() ? 1 : 0] : 0;
    }
    AllreduceTime time_of(double bytes) const {
        return in_pieces(in_background ? evidence.background : evidence.blocking, bytes,
                         piece_bytes, on);
    }
};

// Takes transfer and MPI progress from the run `like`. If that run has one rank, or only one of run
// and forecast spans hosts, takes train's defaults (docs/overlap.md). A strategy that reduces each
// parameter alone is forecast in buckets.
void settle_allreduces(Setup& setup, const WhatIf& what_if, const results::Run& like) {
    const bool is_of_several = like.hosts.size() > 1, between_hosts = setup.between_hosts(),
               as_there = is_of_several && (model::node_count(like) > 1) == between_hosts;
    setup.sharded.stage =
        static_cast<int>(what_if.zero.value_or(std::int64_t(number_of(like, setting::kZero, 0))));
    if (setup.sharded.stage > 0) setup.sharded.sharing_ranks = base::real(setup.on.ranks);
    const bool as_like = what_if.sync.empty() && is_of_several && !what_if.bucket_cap_mb;
    results::Run named;  // sums as --sync NAME does; without a name in buckets, as train does
    named.config = {{std::string(setting::kMode), "ddp"},
                    {std::string(setting::kSync), what_if.sync}};
    const auto& summing = as_like ? like : named;
    if (!summing.says(fact::kSumsGradients) || setup.on.ranks < 2) return;
    const bool is_flat = summing.says(fact::kSumsAtOnce);
    if (!is_flat && like.says(fact::kBackendMemory, vocabulary::FactWord::host)) {
        setup.in_background =
            as_there ? like.setting(setting::kTransfer) == "background" : between_hosts;
        setup.piece_bytes =
            setup.in_background ? forecast::kBackgroundPiece : forecast::kBlockingPiece;
    }
    const bool overlaps =
        !is_flat && (as_there ? like.setting(setting::kMpiProgress) != "none" : between_hosts);
    const double cap =
        is_flat ? HUGE_VAL
                : kMiB * what_if.bucket_cap_mb.value_or(number_of(like, setting::kBucketCap, 25));
    const double first_cap = is_flat ? cap : std::min(cap, kMiB);
    setup.buckets =
        buckets_of(setup.evidence.gradients, first_cap, setup.sharded.stage == 3 ? first_cap : cap);
    for (auto& bucket : setup.buckets) {
        if (!overlaps) bucket.ready = 1;
        setup.largest_bytes =
            std::max(setup.largest_bytes, std::min(bucket.bytes, setup.piece_bytes));
    }
}

// `like`: the run whose way to sum gradients is kept; nullptr: the chosen shared work's.
Setup setup_of(const Evidence& evidence, const WhatIf& what_if, std::size_t ranks,
               const results::Run* like = nullptr) {
    const auto& all = evidence.shared;
    const std::size_t per_host = std::min(
        ranks, what_if.ranks_per_node ? static_cast<std::size_t>(*what_if.ranks_per_node)
                                      : std::ranges::max(all, {}, &SharedWork::per_host).per_host);
    // Prefers a run of several ranks, then one with `per_host` ranks per host, then more ranks.
    const auto& shared = *std::ranges::max_element(all, {}, [&](const SharedWork& one) {
        const std::size_t its = one.run->hosts.size();
        return std::tuple(its > 1, one.per_host == per_host, its);
    });
    const auto micro_batches = static_cast<std::size_t>(what_if.accumulate.value_or(1));
    const double batch = what_if.batch_size ? base::real(*what_if.batch_size)
                                            : number_of(*evidence.profile, setting::kBatchSize, 0);
    Setup setup{
        .evidence = evidence,
        .shared = shared,
        .on = {ranks, per_host},
        .batch = what_if.strong ? std::ceil(batch / base::real(ranks * micro_batches)) : batch,
        .micro_batches = micro_batches};
    settle_allreduces(setup, what_if, like == nullptr ? *shared.run : *like);
    return setup;
}

// How much longer the slowest of the ranks computes than a rank alone; NaN with too few samples.
double slowdown(const Setup& setup) {
    if (setup.on.ranks == 1) return 1;
    const auto& shared = setup.shared;
    return shared.slowest_s / setup.evidence.alone.at(shared.batch).work.compute_s() *
           forecast::expected_maximum(shared.computing_s, setup.on.ranks) /
           forecast::expected_maximum(shared.computing_s, shared.run->hosts.size());
}

// The command that measures this training on `ranks` ranks.
std::string train_command(const Setup& setup, std::size_t ranks, const std::string& more) {
    return fmt::format("{}{} --batch-size {:.0f}{}",
                       ranks > 1 ? fmt::format("mpirun -n {} ", ranks) : "", setup.shared.run->argv,
                       setup.batch, more);
}

// The command that measures the largest message on ranks placed as in the forecast.
std::string comm_command(const Setup& setup) {
    const std::size_t per_host = setup.on.per_host;
    return fmt::format("mpirun -n {} --map-by ppr:{}:node ranklab comm{} -e {:.0f}M --output {}",
                       setup.between_hosts() ? 2 * per_host : per_host, per_host,
                       setup.in_background ? " --nonblocking --mpi-progress poll" : "",
                       std::ceil(setup.largest_bytes / kMiB),
                       base::shell_path(setup.shared.run->setting(setting::kOutput)));
}

Refusal refusal_of(const Setup& setup, bool force) {
    const std::size_t ranks = setup.on.ranks, measured = setup.shared.run->hosts.size();
    if (!force && ranks > kFarthest * setup.evidence.most_ranks)
        return {Why::too_far, train_command(setup, (ranks + kFarthest - 1) / kFarthest, "")};
    if (!setup.evidence.alone.contains(setup.batch))
        return {Why::batch_not_measured, train_command(setup, 1, "")};
    if (std::isnan(slowdown(setup)))
        return {Why::few_samples,
                train_command(setup, measured, fmt::format(" --steps {}", ranks / measured + 1))};
    if (std::isnan(setup.time_of(setup.largest_bytes).s) || std::isnan(setup.compute_share()))
        return {Why::level_not_crossed, comm_command(setup)};
    return {};
}

// Likely step, and the range over the runs' spread and MPI's algorithms.
std::pair<forecast::SimulatedStep, stats::Interval> simulated(const Setup& setup) {
    const auto& alone = setup.evidence.alone.at(setup.batch);
    const double slower = slowdown(setup),
                 half = std::max(alone.half_width, setup.shared.half_width);
    const auto step = [&](double scale, double (*of)(const AllreduceTime&)) {
        forecast::RankWork work = alone.work;
        for (auto* part : {&work.input_s, &work.forward_s, &work.backward_s, &work.optimizer_s})
            *part *= scale * slower;
        return simulate_step(
            work, setup.micro_batches, setup.buckets,
            [&](double bytes) { return of(setup.time_of(bytes)); }, setup.compute_share(),
            setup.sharded);
    };
    return {step(1, [](const auto& time) { return time.s; }),
            {step(1 - half, [](const auto& time) { return time.range.low; }).step_s,
             step(1 + half, [](const auto& time) { return time.range.high; }).step_s}};
}

// A measured run of several ranks beside its simulation.
struct Held {
    const results::Run* run = nullptr;
    double simulated_s = 0, measured_s = 0;
    // How far the run is from the forecast: whether only one of them spans hosts, the ratio of
    // their ranks, whether micro-batches, buckets or the shards differ.
    std::tuple<bool, double, bool> distance = {};

    double miss() const { return measured_s / simulated_s; }
    bool is_placed_alike() const { return !std::get<0>(distance); }
};

// Those of the newest runs that have several ranks and can be simulated, the nearest first.
std::vector<Held> held_against(const Setup& setup) {
    std::vector<Held> all;
    for (const auto& one : setup.evidence.shared | std::views::take(kMostHeld)) {
        const double ranks = base::real(one.run->hosts.size()), wanted = base::real(setup.on.ranks);
        const WhatIf as_measured{.batch_size = static_cast<std::int64_t>(one.batch),
                                 .ranks_per_node = static_cast<std::int64_t>(one.per_host)};
        const Setup own = setup_of(setup.evidence, as_measured, one.run->hosts.size(), one.run);
        if (ranks < 2 || wanted < 2 || refusal_of(own, true).why != Why::none) continue;
        all.push_back({one.run,
                       simulated(own).first.step_s,
                       one.run->median(vocabulary::kStepTime),
                       {own.between_hosts() != setup.between_hosts(),
                        std::max(ranks, wanted) / std::min(ranks, wanted),
                        one.batch != setup.batch || setup.micro_batches > 1 ||
                            own.sharded.stage != setup.sharded.stage ||
                            own.buckets.size() != setup.buckets.size()}});
    }
    std::ranges::stable_sort(all, {}, &Held::distance);
    return all;
}

// The factor by which the nearest runs miss their simulation, with its range over these runs. If
// none equals the forecast, the miss may also vanish or be squared.
std::pair<double, stats::Interval> miss_of(const std::vector<Held>& held) {
    if (held.empty()) return {1, {1, 1}};
    const auto nearest = held.front().distance;
    const bool is_measured = nearest == std::tuple(false, 1.0, false);
    std::vector<double> logs, ends(is_measured ? 0 : 1, 1.0);
    for (const auto& one : held) {
        if (one.distance != nearest) break;
        logs.push_back(std::log(one.miss()));
        ends.push_back(is_measured ? one.miss() : std::pow(one.miss(), 2));
    }
    const auto [low, high] = std::ranges::minmax(ends);
    return {held.front().is_placed_alike() ? std::exp(stats::mean_of_finite(logs)) : 1,
            {low, high}};
}

std::string text_of(const std::vector<Held>& held) {
    if (held.empty() || !held.front().is_placed_alike())
        return "no run of several ranks is placed like this forecast";
    const auto& one = held.front();
    return fmt::format("run {} of {} took {}, its simulation {}", one.run->id,
                       counted(one.run->hosts.size(), "rank"), readable(one.measured_s, "s"),
                       readable(one.simulated_s, "s"));
}

// What makes the numbers of these runs doubtful.
std::vector<std::string> caveats_of(const std::set<const results::Run*>& runs) {
    std::vector<std::string> found;
    for (const auto* run : runs)
        for (const auto& one : model::caveats_of(*run))
            if (one.kind != CaveatKind::single_run)
                found.push_back(fmt::format("run {}: {}", run->id, sentence(one)));
    return found;
}

MechanismForecast forecast_of(const Setup& setup, bool force) {
    const auto& profile = *setup.evidence.profile;
    MechanismForecast found{
        .ranks = setup.on.ranks,
        .work = profile.setting(setting::kModel) + ", " + profile.setting(setting::kPrecision),
        .batch = setup.batch,
        .refusal = refusal_of(setup, force)};
    if (found.refused()) return found;
    const auto held = held_against(setup);
    const auto [miss, range] = miss_of(held);
    found.notes =
        caveats_of({&profile, setup.shared.run, held.empty() ? &profile : held.front().run});
    if (setup.on.ranks > 1) found.held = text_of(held);
    if (!force && std::max(miss, 1 / miss) > kMostMiss) {
        found.refusal = {Why::misses_its_runs,
                         found.held + "; measure: " + train_command(setup, setup.on.ranks, "")};
        return found;
    }
    const auto [step, span] = simulated(setup);
    found.step_s = miss * step.step_s;
    found.range = {range.low * span.low, range.high * span.high};
    found.compute_s = std::min(found.step_s, step.compute_s);
    found.algorithm = setup.time_of(setup.largest_bytes).algorithm;
    return found;
}

}  // namespace

std::vector<results::Run> runs_for_mechanism(const model::ChosenRuns& chosen) {
    std::vector<results::Run> runs;
    const auto take = [&](results::Run&& run) { runs.push_back(std::move(run)); };
    chosen.visit(results::Detail::all, take,
                 [](const auto& run) { return run.command == "train"; });
    chosen.file().visit(
        results::Detail::summaries, [](const auto& run) { return run.command == "comm"; }, take);
    return runs;
}

std::vector<MechanismForecast> mechanism_forecast(std::span<const results::Run> runs,
                                                  const WhatIf& what_if,
                                                  std::span<const std::size_t> ranks, bool force) {
    const Evidence evidence = evidence_in(runs, what_if.precision);
    std::vector<MechanismForecast> found;
    const std::string profile =
        evidence.newest + " --profile layers" +
        (what_if.precision.empty() ? "" : " --precision " + what_if.precision);
    for (const std::size_t one : ranks)
        found.push_back(evidence.profile == nullptr
                            ? MechanismForecast{.ranks = one, .refusal = {Why::no_layers, profile}}
                            : forecast_of(setup_of(evidence, what_if, one), force));
    return found;
}

Frame frame_of(const std::vector<MechanismForecast>& forecasts) {
    Frame frame{.title = "Forecast of a step, by simulating it"};
    if (const auto& work = forecasts.back().work; !work.empty()) frame.title += ": " + work;
    frame.columns = columns_of(
        "ranks* | what* | step_time_s+- [s] step | batch_size batch | compute_s [s] computing | "
        "exposed_s [s] exposed | allreduce");
    for (const auto& one : forecasts) {
        auto& [cells, caveats, members] = frame.rows.emplace_back(
            Row{{one.ranks, one.refused() ? name_of(one.refusal.why) : "forecast",
                 Cell(one.step_s, one.range), one.batch, one.compute_s, one.step_s - one.compute_s,
                 one.refused() ? "" : name_of(one.algorithm)}});
        if (const auto said = one.refused() ? sentence(one.refusal) : one.held; !said.empty())
            caveats.push_back({CaveatKind::said, said});
        for (const auto& note : one.notes) caveats.push_back({CaveatKind::said, note});
    }
    if (frame.has_numbers(frame.find("step_time_s")))
        frame.notes = {"step: simulated, times what the nearest run took over its simulation"};
    return frame;
}

}  // namespace ranklab::report::predict
