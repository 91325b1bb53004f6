// What to try, with gains by the measured parts (docs/why.md has the formulae).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diagnosis/parts.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using forecast::Loss;

constexpr double kNoticeable = 3;                      // percent; less is not worth a try
constexpr double kMostWorkers = 16, kMostGrowth = 16;  // of a batch
constexpr std::size_t kMostAdvice = 3;

class Advisor {
  public:
    Advisor(const results::Run& run, const Measured& measured, const Place& place)
        : run_(run), measured_(measured), place_(place) {}

    void add_workers() {
        const double now = setting_of(run_, "workers"), best = saved(measured_.whole, kMostWorkers);
        double workers = now + 1;
        while (workers < kMostWorkers && saved(measured_.whole, workers) < 0.98 * best) ++workers;
        add(Remedy::workers, workers, false,
            [&](const Parts& p) { return saved(p, workers) / p.found.step_s(); });
    }
    // The sum of the gradients and the update take as long for a batch of any size.
    void add_batch() {
        const auto fixed = [](const Parts& p) {
            return (p.update_s + p.found.lost_s(Loss::transfer)) / p.found.step_s();
        };
        const double share = fixed(measured_.whole);
        double growth = 2;
        while (growth < kMostGrowth && share > 0.1 * (growth * (1 - share) + share)) growth *= 2;
        add(Remedy::batch_size, growth * setting_of(run_, "batch-size"), false,
            [&](const Parts& p) { return (1 - 1 / growth) * fixed(p); });
    }
    void add_bucket_cap() {}  // here the simulated step's advice is to be called
    void add_threads() {
        const double most = std::floor(place_.cores);
        if (most > place_.threads)
            add(Remedy::threads, most, true,
                [&](const Parts& p) { return (1 - place_.threads / most) * computing(p); });
    }
    // A core for each thread, where the host has them.
    void add_cores() {
        if (place_.ranks * place_.threads <= place_.host_cpus)
            add(Remedy::cores_of_rank, place_.threads, true, [&](const Parts& p) {
                return (1 - place_.own_cores / place_.threads) * computing(p);
            });
    }
    // What the ranks wait for each other: at most that is saved by fewer ranks, each with cores of
    // its own, or where ranks are free to leave a core that others use (or bound to none of these).
    void add_for_waiting(Remedy remedy, double value) {
        if (place_.ranks > 1)
            add(remedy, value, true, [](const Parts& p) {
                return seconds_of(p.found, Bound::imbalance) / p.found.step_s();
            });
    }

    std::vector<Advice> best() {
        std::ranges::stable_sort(all_, std::greater(),
                                 [](const auto& one) { return one.gain.number; });
        all_.resize(std::min(all_.size(), kMostAdvice));
        return std::move(all_);
    }

  private:
    template <class Gain>
    void add(Remedy remedy, double value, bool at_most, const Gain& gain) {
        Cell cell = estimate(measured_, [&](const Parts& p) { return 100 * gain(p); });
        if (at_most) cell.interval = {0, std::fmax(cell.number, cell.interval.high)};
        if (cell.number >= kNoticeable)
            all_.push_back({remedy, fmt::to_string(value), cell, at_most});
    }
    static double computing(const Parts& p) { return p.found.level_s.front() / p.found.step_s(); }
    // A step is no faster than without its wait for samples, than the threads that make them (HDF5
    // reads for one at a time), and than the rank's cores do all of the work.
    double step_with(const Parts& p, double workers) const {
        const double rest = p.found.step_s() - p.found.lost_s(Loss::input),
                     loader = p.reading_s + p.decoding_s,
                     work = p.decoding_s + p.found.level_s.front() * place_.threads;
        if (workers == 0) return rest + loader;
        return std::max({rest, loader / workers, run_.setting("data") == "hdf5" ? p.reading_s : 0,
                         place_.cores > 0 ? work / place_.cores : 0});
    }
    double saved(const Parts& p, double workers) const {
        return step_with(p, setting_of(run_, "workers")) - step_with(p, workers);
    }

    const results::Run& run_;
    const Measured& measured_;
    const Place& place_;
    std::vector<Advice> all_;
};

}  // namespace

std::vector<Advice> advice_for(const results::Run& run, Cause cause, const Measured& measured,
                               const Place& place) {
    Advisor advisor(run, measured, place);
    const double cores = place.cores * place.ranks;  // of the host's ranks
    const double fewer = std::max(1.0, std::floor(cores / place.threads)) * place.nodes;
    const bool bound = place.own_cores < cores;
    if (cause == Cause::slow_input || cause == Cause::costly_loader) advisor.add_workers();
    if (cause == Cause::threads_on_cores) advisor.add_cores();
    if (cause == Cause::ranks_on_cores) advisor.add_for_waiting(Remedy::ranks, fewer);
    if (cause == Cause::late_rank || cause == Cause::uneven_steps || cause == Cause::other_load)
        advisor.add_for_waiting(bound ? Remedy::unbind : Remedy::bind, 0);
    if (cause == Cause::transfer || cause == Cause::small_batch) {
        advisor.add_batch();
        advisor.add_bucket_cap();
    }
    if (cause == Cause::none || cause == Cause::small_batch) advisor.add_threads();
    return advisor.best();
}

}  // namespace ranklab::report::diagnosis
