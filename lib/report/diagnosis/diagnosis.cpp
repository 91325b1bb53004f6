#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "report/diagnosis/parts.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using forecast::Loss;
using results::Run;

constexpr double kSmallBatch = 0.15;  // the update's share of a rank's computing

// Phases of threads that share cores contain each other's time, so that of the losses the wait for
// input alone counts before them. Other processes slow one rank or another.
std::pair<Bound, Cause> verdict_of(const Run& run, const Parts& parts, const Place& place) {
    const auto& found = parts.found;
    const Bound bound = bound_of(found);
    if (bound == Bound::input)
        return {bound, parts.decoding_s > parts.reading_s && run.find_table("ablation") == nullptr
                           ? Cause::costly_loader
                           : Cause::slow_input};
    if (place.own_cores > 0 && place.threads > place.own_cores)
        return {Bound::compute, Cause::threads_on_cores};
    if (place.own_cores > 0 && place.threads > place.cores)
        return {Bound::compute, Cause::ranks_on_cores};
    if (bound != Bound::compute && place.nodes == 1 && run.fact("place", "quiet") == "no")
        return {bound, Cause::other_load};
    if (bound == Bound::imbalance)
        return {bound, 2 * found.lost_s(Loss::serialisation) > seconds_of(found, bound)
                           ? Cause::uneven_steps
                           : Cause::late_rank};
    if (parts.update_s >= kSmallBatch * found.level_s.front() ||
        (bound == Bound::communication && place.nodes == 1))
        return {bound, Cause::small_batch};
    return {bound, bound == Bound::communication ? Cause::transfer : Cause::none};
}

std::string late_rank(const Run& run) {
    const auto* const table = run.find_table("waiting");
    const auto* const last = table == nullptr ? nullptr : table->find<double>("came_last_share");
    if (last == nullptr || last->empty()) return "one rank";
    const auto row = static_cast<std::size_t>(std::ranges::max_element(*last) - last->begin());
    return fmt::format("rank {} on {}", row, model::text_at(*table, "host", row));
}

// What the cause's sentence has a place for.
std::string detail_of(const Run& run, Cause cause, const Parts& parts, const Place& place) {
    switch (cause) {
        case Cause::slow_input:
        case Cause::costly_loader:
            return readable(parts.reading_s + parts.decoding_s, "s");
        case Cause::threads_on_cores:
            return fmt::format("{:g} on {:g}", place.threads, place.own_cores);
        case Cause::ranks_on_cores:
            return fmt::format("{:g} on {:g}", place.threads * place.ranks,
                               place.cores * place.ranks);
        case Cause::late_rank:
            return late_rank(run);
        case Cause::other_load:
            return run.fact("place", "others_cores");
        case Cause::transfer:
            return readable(run.median("reduced_bytes_per_step"), "B");
        case Cause::small_batch:
            return percent_text(100 * (parts.update_s + parts.found.lost_s(Loss::transfer)) /
                                parts.found.step_s());
        default:
            return "";
    }
}

// The start of a run of some steps says nothing about a whole training.
void add_start_up(Diagnosis& found, const Run& run) {
    found.start_up_s = run.median("time_to_first_step_s");
    found.start_up_share = found.start_up_s / std::max(run.duration_s, found.start_up_s);
    if (!run.setting("steps").empty() || !(found.start_up_share > 0.5)) return;
    found.reason = {Bound::start_up, Cause::starting, percent_text(100 * found.start_up_share)};
    found.advice.clear();
}

}  // namespace

Diagnosis diagnose(const Run& run) {
    if (run.command != "train")
        throw base::OptionError(fmt::format("run {} is not a training run, and a diagnosis is of "
                                            "one",
                                            run.id),
                                {"run"});
    Diagnosis found{.run = run.id, .reason = {.cause = Cause::not_measured}, .advice = {Advice()}};
    const auto measured = measured_parts(run);
    if (!measured || run.hosts.empty() || !run.valid) return found;
    const Place place = place_of(run);
    const Parts& parts = measured->whole;
    found.found = parts.found;
    for (std::size_t i = 0; i < forecast::kLosses; ++i)
        found.factors[i] = estimate(
            *measured, [&](const Parts& p) { return p.found.factor(static_cast<Loss>(i)); });
    found.parallel = estimate(*measured, [](const Parts& p) { return p.found.parallel(); });
    const auto [bound, cause] = verdict_of(run, parts, place);
    found.reason = {bound, cause,
                    percent_text(100 * seconds_of(parts.found, bound) / parts.found.step_s()),
                    detail_of(run, cause, parts, place)};
    found.advice = advice_for(run, cause, *measured, place);
    add_start_up(found, run);
    return found;
}

}  // namespace ranklab::report::diagnosis
