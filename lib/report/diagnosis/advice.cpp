// What to try against the cause of a run's bound, and the time per sample that it saves: a range in
// which the savings lay when such options were followed, or an upper bound (docs/why.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/diagnosis/steps.hpp"
#include "report/predict/evidence.hpp"

namespace ranklab::report::diagnosis {
namespace {

constexpr double kNoticeable = 3;  // least saving to advise, percent
// From options that were followed: what does not depend on the batch takes at least 1.5 updates,
// since forward and backward start their kernels, too, and half of the sum, in which ranks also
// wait for each other; a further core does at least a fifth of a core's work; a rank with cores of
// its own computes at most a quarter longer than one that shares.
constexpr double kLeastUpdates = 1.5, kLeastSum = 0.5, kLeastCore = 0.2, kMostComputing = 1.25;

class Advice {
  public:
    explicit Advice(const Steps& all) : all_(all), p_(all.whole) {}

    // Seconds of a step. Without `least` the most is an upper bound; both are NaN if not known.
    void add(const std::string& option, double least, double most) {
        const double low = p_.percent_of(least), high = p_.percent_of(most);
        if (high < kNoticeable) return;
        const bool is_range = low <= high;
        rows_.push_back({{option, is_range ? Cell((low + high) / 2, {low, high}) : Cell(),
                          is_range ? Cell() : Cell(high)}});
    }
    void add_most(const std::string& option, double most) { add(option, stats::kNone, most); }

    // The fewest loader threads with nearly the shortest step.
    void add_workers() {
        const double now = number(setting::kWorkers), cores = all_.host_cores,
                     sure = sure_cores(now > 0 ? p_.decoding_s / p_.step_s() : 0),
                     fewest = 0.98 * p_.loader_s() / step_with(HUGE_VAL, cores),
                     workers = std::clamp(std::ceil(fewest), 1.0, 16.0);
        add(fmt::format("--workers {}", workers), p_.step_s() - step_with(workers, sure),
            p_.step_s() - step_with(workers, cores));
    }
    // 2 to 16 times the batch, so that the update and the sum take at most a tenth of the step.
    void add_batch() {
        const double fixed = p_.percent_of(p_.fixed_s()),
                     wanted = std::exp2(std::ceil(std::log2(9 * fixed / (100 - fixed)))),
                     growth = std::clamp(wanted, 2.0, 16.0), saved = 1 - 1 / growth,
                     least = kLeastUpdates * p_.update_s + kLeastSum * p_.lost_s(Parts::transfer);
        add(fmt::format("--batch-size {}", growth * number(setting::kBatchSize)),
            saved * std::min(least, p_.step_s()), saved * p_.step_s());
    }
    // From half of the forecast to all of the sum.
    void add_cap(const predict::CapAdvice& cap) {
        const double saved = (1 - 1 / cap.gain) * p_.step_s();
        add(fmt::format("--bucket-cap-mb {}", cap.cap_mb), saved / 2,
            std::max(saved, p_.lost_s(Parts::transfer)));
    }
    void add_threads() {
        const double now = all_.threads, threads = all_.threads_for_cores(),
                     sure = all_.others >= 0 ? sure_cores(0) / all_.ranks : stats::kNone;
        if (threads > now)  // assumes no serial part
            add(fmt::format("--threads {}", threads), (1 - now / sure) * p_.computing_s(),
                (1 - now / threads) * p_.computing_s());
    }
    void add_cores() {
        const auto cpus = base::number_in(all_.run.fact(fact::kLogicalCpus));
        if (all_.ranks * all_.threads <= cpus.value_or(0))
            add_most(fmt::format("mpirun --map-by slot:PE={} --bind-to core", all_.threads),
                     if_quiet(all_.own_threads_s()));
    }
    // Fewer ranks make as many more steps, each as long as the computing of one. Computing contains
    // the waits for cores if the kernel does not count them.
    void add_ranks() {
        const double threads = all_.threads, cores = all_.host_cores,
                     ranks = std::max(1.0, std::floor(cores / threads)),
                     share = all_.run.find("core_wait_time_s") != nullptr
                                 ? 1
                                 : cores / (all_.ranks * threads),
                     alone = share * p_.computing_s() * all_.ranks / ranks;
        add(fmt::format("mpirun -n {}{}", ranks * base::real(model::node_count(all_.run)),
                        threads > 1 ? fmt::format(" --map-by slot:PE={}", threads) : ""),
            if_quiet(p_.step_s() - kMostComputing * alone), if_quiet(p_.step_s() - alone));
    }
    // Known savings before upper bounds, the largest first.
    Frame frame() {
        Frame frame{.title = "What to try, and the time per sample that it saves"};
        frame.columns = {
            {.name = "option", .role = Role::key, .head = "try"},
            {.name = "gain_percent", .unit = "%", .interval = true, .head = "expected saving"},
            {.name = "at_most_percent", .unit = "%", .head = "upper bound"}};
        std::ranges::stable_sort(rows_, std::greater(), [](const Row& row) {
            const Cell &saving = row.cells[1], &at_most = row.cells[2];
            return std::pair(saving.is_number(), std::fmax(saving.number, at_most.number));
        });
        frame.rows = std::move(rows_);
        frame.notes = std::move(notes_);
        frame.drop_empty_columns();
        return frame;
    }

  private:
    double number(std::string_view setting) const {
        return predict::number_of(all_.run, setting, 0);
    }
    // Beside other load, ranks that are placed in another way may save nothing.
    double if_quiet(double saved) {
        if (all_.others <= vocabulary::kMostOtherLoad * all_.host_cores) return saved;
        notes_ = {"no number: other processes used the cores, or their use was not measured"};
        return stats::kNone;
    }
    // Step time with `workers` loader threads: the longest of the step without its wait for
    // samples, the loader's work per thread (or its reading, if threads read in turn), and all work
    // of a host per core.
    double step_with(double workers, double cores) const {
        const double rest = p_.step_s() - p_.lost_s(Parts::input),
                     reads = all_.run.says(fact::kReadsInTurn) ? p_.reading_s : 0,
                     work = (p_.decoding_s + p_.computing_s() * all_.threads) * all_.ranks / cores;
        return std::fmax(std::max({rest, p_.loader_s() / workers, reads}), work);
    }
    // The cores of a host that ranklab has for certain with further threads; those that it has now
    // if the load by other processes was not measured. `loading`: a rank's loader now.
    double sure_cores(double loading) const {
        const double used = std::min(all_.ranks * (all_.threads + loading), all_.host_cores);
        return used + kLeastCore * std::fmax(all_.host_cores - used - all_.others, 0.0);
    }

    const Steps& all_;
    const Parts& p_;
    std::vector<Row> rows_;
    std::vector<std::string> notes_;
};

}  // namespace

Frame advice_for(const Steps& all, Cause cause, const predict::CapAdvice& cap) {
    const auto is = [&](auto... causes) { return ((cause == causes) || ...); };
    Advice advice(all);
    if (is(Cause::not_measured) && all.run.find_table("waterfall") == nullptr)
        advice.add_most("--ablation", stats::kNone);
    if (is(Cause::costly_loader, Cause::slow_input)) advice.add_workers();
    if (is(Cause::transfer, Cause::small_batch)) advice.add_batch();
    if (is(Cause::transfer) && cap.cap_mb > 0) advice.add_cap(cap);
    if (is(Cause::idle_cores, Cause::small_batch)) advice.add_threads();
    if (is(Cause::launches)) {
        advice.add_most("--cuda-graph", stats::kNone);
        advice.add_most("--batch-size, several times as large", stats::kNone);
    }
    if (is(Cause::threads_on_cores)) advice.add_cores();
    if (is(Cause::ranks_on_cores)) advice.add_ranks();
    if (is(Cause::late_rank) && all.own_cores < all.host_cores)
        advice.add_most("mpirun --bind-to none", all.whole.late_s());
    if (is(Cause::other_load)) advice.add_most("sbatch --exclusive", all.other_load_s());
    return advice.frame();
}

}  // namespace ranklab::report::diagnosis
