// What to try against the cause of a run's bound, and bounds of the time per sample that it saves,
// from what the run measured (docs/why.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/predict/mechanism.hpp"

namespace ranklab::report::diagnosis {
namespace {

using model::Parts, model::Steps;

constexpr double kRounding = 5;  // percent: bounds are multiples of it
// Two runs of one kind differ by this share, beside other load by more.
constexpr double kBetweenRuns = 0.01, kBesideOthers = 0.1;

class Advice {
  public:
    explicit Advice(const Steps& all) : all_(all), p_(all.whole) {}

    // Adds an option that saves at most and at least these seconds of a step; NaN: not known.
    void add(const std::string& option, double most_s, double least_s = stats::kNone) {
        const double percent = p_.percent_of(most_s),
                     off = is_quiet() ? kBetweenRuns : kBesideOthers,
                     most = kRounding * std::ceil((percent + off * (100 - percent)) / kRounding),
                     remain = (1 + off) * (100 - p_.percent_of(least_s)),
                     least = kRounding * std::floor((100 - remain) / kRounding);
        if (percent <= 0) return;
        rows_.push_back({{option, least > 0 ? Cell(least) : Cell(), most}});
    }

    // The fewest loader threads with nearly the shortest step. A step takes at least as long as the
    // step without its wait for samples, the loader's work per thread (or its reading, if threads
    // read in turn), and all work of a host over the cores that ranklab can have.
    void add_workers() {
        const double rest = p_.step_s() - p_.lost_s(Parts::input),
                     reads = all_.run.says(fact::kReadsInTurn) ? p_.reading_s : 0,
                     work = (p_.decoding_s + p_.computing_s() * all_.threads) * all_.ranks,
                     shortest = std::fmax(std::max(rest, reads), work / all_.host_cores),
                     workers = std::clamp(std::ceil(0.98 * p_.loader_s() / shortest), 1.0, 16.0);
        const double saved = p_.step_s() - std::fmax(shortest, p_.loader_s() / workers);
        if (saved > 0) add(fmt::format("--workers {}", workers), if_quiet(saved));
    }
    // 2 to 16 times the batch, so that the update and the sum take at most a tenth of the step.
    // The update and the sum take the same time for any batch. The sum's time is the least of ten
    // blocks, since it also contains waits for other ranks.
    void add_batch() {
        const double fixed = p_.percent_of(p_.fixed_s()),
                     wanted = std::exp2(std::ceil(std::log2(9 * fixed / (100 - fixed)))),
                     growth = std::clamp(wanted, 2.0, 16.0), saved = 1 - 1 / growth;
        add(fmt::format("--batch-size {}",
                        growth * predict::number_of(all_.run, setting::kBatchSize, 0)),
            saved * p_.step_s(),
            saved * (p_.update_s + p_.lost_s(Parts::transfer) - above_least_s(Parts::transfer)));
    }
    // Other processes also slow what computes beside them, and make ranks wait for each other.
    void add_quiet_host(const std::string& option) {
        double most = all_.other_load_s();
        if (!all_.blocks.empty())
            most += p_.lost_s(Parts::serialisation) + above_least_s(Parts::transfer) +
                    p_.computing_s() -
                    std::ranges::min(all_.blocks, {}, &Parts::computing_s).computing_s();
        add(option, most, all_.other_load_s() / 2);
    }
    void add_threads() {
        const double threads = all_.threads_for_cores();
        if (all_.has_idle_cores())
            add(fmt::format("--threads {}", threads),
                if_quiet((1 - all_.threads / threads) * p_.computing_s()));
    }
    // Threads that take turns also lose time to the switches, which count as computing: more than
    // their waits may be saved, and some of the waits overlap.
    void add_cores() {
        const auto cpus = base::number_in(all_.run.fact(fact::kLogicalCpus));
        const double waited = all_.own_threads_s();
        if (all_.ranks * all_.threads <= cpus.value_or(0))
            add(fmt::format("mpirun --map-by slot:PE={} --bind-to core", all_.threads),
                if_quiet(waited + p_.computing_s() / 2), if_quiet(0.75 * waited));
    }
    // Fewer ranks make more steps, each at most as long as a rank's computing now. Computing gets
    // shorter without switches between ranks, by all waits for cores at most. It contains these
    // waits if the kernel does not count them.
    void add_ranks() {
        const double threads = all_.threads, cores = all_.host_cores,
                     ranks = std::max(1.0, std::floor(cores / threads)),
                     share = all_.run.find("core_wait_time_s") != nullptr
                                 ? 1
                                 : cores / (all_.ranks * threads),
                     alone = share * p_.computing_s() * all_.ranks / ranks,
                     least = p_.step_s() - alone;
        add(fmt::format("mpirun -n {}{}", ranks * base::real(model::node_count(all_.run)),
                        threads > 1 ? fmt::format(" --map-by slot:PE={}", threads) : ""),
            if_quiet(std::fmax(least, all_.own_threads_s())), if_quiet(least));
    }
    // Sorted by the upper bound, the largest first; options without a number last.
    Frame frame() {
        Frame frame{.title = "What to try, and the time per sample that it saves"};
        frame.columns =
            columns_of("option* try | at_least_percent [%] at least | at_most_percent [%] at most");
        std::ranges::stable_sort(rows_, std::greater(),
                                 [](const Row& row) { return std::fmax(row.cells[2].number, 0); });
        frame.rows = std::move(rows_);
        frame.notes = std::move(notes_);
        frame.drop_empty_columns();
        return frame;
    }

  private:
    // The loss minus its least value in any of ten blocks; without blocks, the whole loss.
    double above_least_s(Parts::Loss loss) const {
        double least = all_.blocks.empty() ? 0 : p_.lost_s(loss);
        for (const auto& block : all_.blocks) least = std::min(least, block.lost_s(loss));
        return p_.lost_s(loss) - least;
    }
    bool is_quiet() const { return all_.others <= vocabulary::kMostOtherLoad * all_.host_cores; }
    // Beside other load, threads and ranks on further cores may save nothing, or take longer.
    double if_quiet(double saved) {
        if (is_quiet()) return saved;
        notes_ = {"no number: other processes used the cores, or their use was not measured"};
        return stats::kNone;
    }

    const Steps& all_;
    const Parts& p_;
    std::vector<Row> rows_;
    std::vector<std::string> notes_;
};

}  // namespace

Frame advice_for(const Steps& all, Cause cause) {
    const auto is = [&](auto... causes) { return ((cause == causes) || ...); };
    Advice advice(all);
    if (is(Cause::replicas))
        advice.add(fmt::format("mpirun -n {} ranklab train --mode ddp",
                               all.run.setting(setting::kReplicas)),
                   stats::kNone);
    if (is(Cause::not_measured) && all.run.find_table("waterfall") == nullptr)
        advice.add("--ablation", stats::kNone);
    if (is(Cause::costly_loader, Cause::slow_input)) advice.add_workers();
    if (is(Cause::transfer, Cause::small_batch)) advice.add_batch();
    if (is(Cause::idle_cores, Cause::small_batch)) advice.add_threads();
    if (is(Cause::launches)) {
        advice.add("--cuda-graph", stats::kNone);
        advice.add("--batch-size, several times as large", stats::kNone);
    }
    if (is(Cause::threads_on_cores)) advice.add_cores();
    if (is(Cause::ranks_on_cores)) advice.add_ranks();
    if (is(Cause::late_rank) && all.own_cores < all.host_cores)
        advice.add("mpirun --bind-to none", stats::kNone);
    if (is(Cause::other_load))
        advice.add_quiet_host(all.run.fact("environment", "SLURM_JOB_ID").empty()
                                  ? "end the other processes"
                                  : "sbatch --exclusive");
    return advice.frame();
}

}  // namespace ranklab::report::diagnosis
