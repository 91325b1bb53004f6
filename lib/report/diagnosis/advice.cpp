// Options to try, with gains by the measured parts (docs/why.md has the formulae).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/diagnosis/parts.hpp"
#include "report/predict/evidence.hpp"
#include "report/predict/mechanism.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using forecast::Loss;

constexpr double kNoticeable = 3;                      // percent; less is not worth a try
constexpr double kMostWorkers = 16, kMostGrowth = 16;  // of a batch
constexpr std::size_t kMostAdvice = 3;

double computing_s(const Parts& p) {
    return seconds_of(p.found, Bound::compute);
}
double waiting_s(const Parts& p) {
    return seconds_of(p.found, Bound::imbalance);
}

class Advisor {
  public:
    Advisor(const results::Run& run, const Measured& measured, const Place& place,
            std::vector<Advice> more)
        : run_(run), measured_(measured), place_(place), all_(std::move(more)) {}

    void add_workers() {
        const double now = setting_of(run_, "workers");
        const auto saved_s = [&](const Parts& p, double workers) {
            return step_with(p, now) - step_with(p, workers);
        };
        double workers = now + 1;
        while (workers < kMostWorkers &&
               saved_s(measured_.whole, workers) < 0.98 * saved_s(measured_.whole, kMostWorkers))
            ++workers;
        add(Remedy::workers, workers, {}, [&](const Parts& p) { return saved_s(p, workers); });
    }
    void add_batch() {
        const double share = measured_.whole.share_of(measured_.whole.fixed_s());
        double growth = 2;
        while (growth < kMostGrowth && share > 0.1 * (growth * (1 - share) + share)) growth *= 2;
        add(Remedy::batch_size, growth * setting_of(run_, "batch-size"),
            {stats::kNone, 100 * (1 - 1 / growth)},
            [&](const Parts& p) { return (1 - 1 / growth) * p.fixed_s(); });
    }
    // `now` of the cores that `then` threads could have.
    void add_cores(Remedy remedy, double now, double then) {
        if (now < then)
            add(remedy, then, {0, 0},
                [&](const Parts& p) { return (1 - now / then) * computing_s(p); });
    }
    void add_for_waiting(Remedy remedy, double value) {
        if (place_.ranks > 1) add(remedy, value, {0, 0}, waiting_s);
    }

    std::vector<Advice> best() {
        std::ranges::stable_sort(all_, {}, [](const Advice& one) {
            return std::pair(one.gain.interval.low <= 0, -one.gain.number);
        });
        all_.resize(std::min(all_.size(), kMostAdvice));
        return std::move(all_);
    }

  private:
    // The interval holds `open`, too: all that the rest of the gain, which is not measured, may be.
    template <class Saved>
    void add(Remedy remedy, double value, const stats::Interval& open, const Saved& saved_s) {
        Cell gain =
            estimate(measured_, [&](const Parts& p) { return 100 * p.share_of(saved_s(p)); });
        auto& [low, high] = gain.interval;
        const bool in_part = std::isfinite(open.high);
        if (in_part) low = std::fmin(std::fmin(gain.number, low), open.low);
        if (in_part) high = std::fmax(std::fmax(gain.number, high), open.high);
        if (gain.number >= kNoticeable)
            all_.push_back({remedy, fmt::to_string(value), gain, in_part});
    }
    // The longest of: a step without its wait for samples; the threads that make them (HDF5 reads
    // for one at a time); all of the work on the rank's cores.
    double step_with(const Parts& p, double workers) const {
        const double rest = p.found.step_s() - p.found.lost_s(Loss::input),
                     loader = p.reading_s + p.decoding_s,
                     work = p.decoding_s + computing_s(p) * place_.threads;
        if (workers == 0) return rest + loader;
        return std::max({rest, loader / workers, run_.setting("data") == "hdf5" ? p.reading_s : 0,
                         place_.all_cores > 0 ? work * place_.ranks / place_.all_cores : 0});
    }

    const results::Run& run_;
    const Measured& measured_;
    const Place& place_;
    std::vector<Advice> all_;
};

}  // namespace

double setting_of(const results::Run& run, const char* name) {
    return base::number_in(run.setting(name)).value_or(0);
}

std::vector<Advice> bucket_cap_for(const results::ResultFile& file, const results::Run& run) {
    const auto differs = [&](const results::Run& other) {
        return other.command == "train" && (other.setting("model") != run.setting("model") ||
                                            other.setting("data") != run.setting("data") ||
                                            other.setting("precision") != run.setting("precision"));
    };
    if (run.setting("sync") != "bucketed") return {};
    auto runs = predict::runs_for_mechanism({file, {}});
    std::erase_if(runs, differs);
    const auto best = predict::best_bucket_cap(
        runs,
        {.batch_size = setting_of(run, "batch-size"),
         .ranks_per_node = predict::ranks_per_host(run),
         .bucket_cap_mb = setting_of(run, "bucket-cap-mb")},
        run.hosts.size());
    if (!best || !(best->gain.ratio >= 1 / (1 - kNoticeable / 100))) return {};
    const auto saved = [](double ratio) { return 100 * (1 - 1 / ratio); };
    const auto& [ratio, ci] = best->gain;
    return {{Remedy::bucket_cap, fmt::to_string(best->cap_mb),
             Cell(saved(ratio), {saved(ci.low), saved(ci.high)})}};
}

std::vector<Advice> advice_for(const results::Run& run, Cause cause, const Measured& measured,
                               const Place& place, std::vector<Advice> more) {
    Advisor advisor(run, measured, place, std::move(more));
    const double fewer = std::max(1.0, std::floor(place.all_cores / place.threads));
    const bool bound = place.own_cores < place.all_cores;
    if (cause == Cause::slow_input || cause == Cause::costly_loader) advisor.add_workers();
    if (cause == Cause::transfer || cause == Cause::small_batch) advisor.add_batch();
    if (cause == Cause::ranks_on_cores) advisor.add_for_waiting(Remedy::ranks, fewer * place.nodes);
    if (cause == Cause::late_rank || cause == Cause::other_load)
        advisor.add_for_waiting(bound ? Remedy::unbind : Remedy::bind, 0);
    if (cause == Cause::threads_on_cores && place.ranks * place.threads <= place.host_cpus)
        advisor.add_cores(Remedy::cores_of_rank, place.own_cores, place.threads);
    if (cause == Cause::none || cause == Cause::small_batch)
        advisor.add_cores(Remedy::threads, place.threads,
                          std::floor(place.all_cores / place.ranks));
    return advisor.best();
}

}  // namespace ranklab::report::diagnosis
