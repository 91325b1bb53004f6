#include "experiments/storage/repetitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "comm/exchange.hpp"

namespace ranklab::experiments {

constexpr std::int64_t kFewestCeilings = 3;

Repetitions::Repetitions(const StorageOptions& options, const RunContext& context)
    : options_(options),
      control_(context.control),
      counting_(context.counting),
      start_up_(context.start_up),
      runner_(options, context.control, context.progress) {
    record_.convergence = options.convergence;
    if (const double limit = options.time_limit(); limit > 0)
        runner_.stop_when([this, limit] { return used() > limit; });
}

bool Repetitions::make(Turn turn) {
    if (counted() == 0) counting_.begins();
    if (start_up_ != nullptr) start_up_->finish("preparing the first repetition");
    begin_ = base::Clock::now();
    const bool whole = make_one(turn);
    const bool more = goes_on(whole);
    seconds_ = used();
    if (!more) counting_.ends();
    return more;
}

// A repetition that a signal, a failure or the time limit cut is not one: it throws, or false.
bool Repetitions::make_one(Turn turn) {
    const auto writes = record_.writes.size();
    const auto reads = record_.reads.size();
    const auto ceilings = record_.ceilings.size();
    const auto drop = [&] {
        record_.writes.resize(writes);
        record_.reads.resize(reads);
        record_.ceilings.resize(ceilings);
    };
    const auto i = counted();
    const bool is_read = options_.read() && (i >= 0 || !options_.write());
    bool whole = false;
    try {
        whole = (!options_.write() || write(i, turn)) &&
                (!is_read || read(std::max<std::int64_t>(0, i) + 1));
    } catch (...) {
        drop();
        throw;
    }
    if (!whole) drop();
    if (whole && options_.write()) note_strategy();
    return whole;
}

void Repetitions::end_early(int exit_code) {
    record_.ended_by = exit_code;
    runner_.leave();
    counting_.ends();
}

StorageRecord Repetitions::finish() {
    if (!options_.keeps_files()) runner_.remove();
    return std::move(record_);
}

// Records the strategy's tables and warnings of the last whole repetition.
void Repetitions::note_strategy() {
    record_.tables = runner_.strategy().tables();
    record_.warnings.clear();
    for (const auto& [sentence, settings] : runner_.strategy().warnings())
        record_.warnings.push_back(options::user_message(sentence, settings));
}

// A run that only reads reads once.
bool Repetitions::goes_on(bool whole) {
    const bool late = !whole || (options_.write() && time_is_up());
    const bool done = options_.write() ? counted() >= options_.repetitions : whole;
    record_.hit_time_limit = late && !done;
    if (!options_.write()) return false;
    return done ? !enough(late || counted() >= options_.most_repetitions) : !late;
}

// After the planned repetitions: whether the target is reached, or there are no more to come.
bool Repetitions::enough(bool ends) {
    auto& convergence = record_.convergence;
    if (convergence.due(counted()) ||
        (ends && convergence.wanted() && counted() > convergence.seen())) {
        std::vector<double> since;
        for (auto w = static_cast<std::size_t>(options_.warmup() + convergence.seen());
             w < record_.writes.size(); ++w)
            since.push_back(record_.writes[w].job_s);
        convergence.look(control_, since);
    }
    return convergence.reached() || ends;
}

// The ceilings are measured before one repetition and after the next: what drifts hits both alike.
// False where the time limit cut it.
bool Repetitions::write(std::int64_t repetition, Turn turn) {
    const bool ceilings = options_.measures_ceilings() && repetition >= 0;
    const bool before = (repetition + options_.warmup()) % 2 == 0;
    if (ceilings && before) measure_ceilings();
    record_.writes.push_back(runner_.write(turn));
    if (on_any(runner_.was_cut())) return false;
    if (ceilings && !before) measure_ceilings();
    return true;
}

// The same bytes by the same ranks, next to each repetition: the machine's load is then that of the
// strategy's. Where there are few repetitions, several times: a best needs several.
void Repetitions::measure_ceilings() {
    comm::all_or_throw_polling(control_, [&] {
        if (!runner_.takes_part()) return;
        const auto times = (kFewestCeilings + options_.repetitions - 1) / options_.repetitions;
        for (std::int64_t i = 0; i < times; ++i)
            record_.ceilings.push_back(io::measure_ceilings(runner_.ranks(), ceiling_work()));
    });
}

io::CeilingWork Repetitions::ceiling_work() {
    const auto& [job, strategy] = std::tie(options_.job, options_.entry);
    return {.directory = job.directory,
            .records = job.files,
            .bytes_per_record = static_cast<std::uint64_t>(strategy.bytes_per_record(job.size)),
            .rows = strategy.by_rows(job) ? job.size : 0,
            .fsync = job.fsync,
            .shared_file = strategy.shared_file,
            .between = [this] { runner_.beat(); }};
}

// Read by others than those who wrote: --reorder makes it so where it is timed; otherwise what was
// written is read once more for it. False where the time limit cut it.
bool Repetitions::read(std::int64_t repetition) {
    const ReadPlan others = plan_for_others(runner_.written(), control_.rank());
    const ReadPlan plan =
        options_.reorder ? others : plan_in_order(runner_.written(), control_.rank());
    const bool by_others = options_.reorder || control_.world_size() == 1;
    const bool compare = options_.verify() && !options_.check_write && by_others;
    const auto check = [&] { return pass(repetition, "check", others, true); };
    bool whole = !options_.check_write || check();
    if (whole && options_.cold) runner_.evict(plan);
    for (int number = 1; whole && number <= options_.reads; ++number) {
        const bool now = (compare && number == 1) || options_.check_read;
        whole = pass(repetition, fmt::format("read {}", number), plan, now);
    }
    if (whole && options_.verify() && !compare && !options_.check_write) whole = check();
    return whole;
}

// Between two passes all ranks look at the clock: a late one stops within its pass.
bool Repetitions::pass(std::int64_t repetition, const std::string& kind, const ReadPlan& plan,
                       bool compare) {
    record_.reads.push_back(
        {static_cast<int>(repetition), kind, plan.who, runner_.read(plan, compare)});
    return !on_any(runner_.was_cut());
}

// Rank 0's clock for all.
bool Repetitions::time_is_up() {
    return options_.time_limit() > 0 && comm::from_root(control_, used() > options_.time_limit());
}

bool Repetitions::on_any(bool yes) {
    return options_.time_limit() > 0 && comm::reduced(control_, yes, comm::ReduceOp::max);
}

}  // namespace ranklab::experiments
