#include "experiments/storage/strategy_runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "io/ceilings.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using base::IoTimes;
using Clock = IoTimes::Clock;

// The time limit has come between two records.
struct TimeIsUp {};

void remove_if_there(const fs::path& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        base::throw_errno("unlink", path, errno, "directory");
}

}  // namespace

double ReadTrial::seconds() const {
    double total = 0;
    for (const auto phase :
         {base::IoPhase::open, base::IoPhase::read, base::IoPhase::parse, base::IoPhase::close})
        total += times.of(phase).total_s;
    return total;
}

StrategyRunner::StrategyRunner(const StorageOptions& options, comm::Communicator& control,
                               base::ProgressSink& progress)
    : options_(options),
      control_(control),
      progress_(progress),
      participants_(options.entry.participants(control.world_size())),
      ranks_(control.split(control.rank() < participants_ ? 0 : 1, control.rank())),
      grid_(options.job.size),
      written_(planned_writers(options, control)),
      poll_(*ranks_) {
    renew();
}

StrategyRunner::~StrategyRunner() {
    // After an error or a signal transfers may still be under way: MPI must not free their memory.
    // The process is about to end.
    strategy_.reset();
    if (left_ || std::uncaught_exceptions() > 0) static_cast<void>(ranks_.release());
}

// A strategy's life is one writing: files, worker processes and communicators are gone with it.
void StrategyRunner::renew() {
    times_ = {};
    done_ = 0;
    strategy_ = options_.entry.make(
        options_.job, {*ranks_, times_, [this](std::int64_t more) { record_done(more); }});
}

void StrategyRunner::record_done(std::int64_t more) {
    if (more > 0) show_done(more);
    stop_if_asked();
    if (participants_ == 1 && late_ && late_()) throw TimeIsUp();
}

void StrategyRunner::show_done(std::int64_t more) {
    done_ += more;
    const std::int64_t files = options_.job.files;
    const std::int64_t share = options_.entry.parallel && !options_.job.dynamic
                                   ? base::share_of(files, ranks_->rank(), participants_).count
                                   : files;
    const std::int64_t of_all = done_ * files / std::max(done_, share);
    progress_.update((turn_.number - 1) * files + of_all, turn_.of * files,
                     static_cast<double>(done_) / base::seconds_since(begin_), "files/s",
                     options_.entry.name);
}

void StrategyRunner::beat() {
    progress_.activity("measuring what the machine can do beside " + options_.entry.name);
    stop_if_asked();
}

// The launcher gives a signal to all ranks. Those in step agree on the place where they stop; a
// rank that closes is nearly done.
void StrategyRunner::stop_if_asked() {
    if (verb_ == Verb::close) return;
    const auto& strategy = options_.entry;
    const bool in_step = strategy.parallel && ((verb_ == Verb::open && strategy.shared_file) ||
                                               (verb_ == Verb::write && strategy.in_step));
    const int signal = !in_step        ? base::StopSignals::received()
                       : poll_.asked() ? poll_.signal()
                                       : 0;
    if (signal != 0)
        throw base::Interrupted(fmt::format("stopped by {}", base::StopSignals::name_of(signal)),
                                signal);
}

WriteTrial StrategyRunner::write_timed() {
    poll_.restart();
    begin_ = Clock::now();
    verb_ = Verb::open;
    strategy_->open();
    const auto opened = Clock::now();
    verb_ = Verb::write;
    strategy_->write();
    verb_ = Verb::close;
    strategy_->close();
    const auto closed = Clock::now();
    verb_ = Verb::none;
    WriteTrial trial{.job_s = base::seconds_between(begin_, closed),
                     .open_s = base::seconds_between(begin_, opened),
                     .times = times_,
                     .begin_s = IoTimes::since_epoch(begin_)};
    auto writers = strategy_->writers();
    if (writers.empty()) writers.push_back(times_);
    for (const auto& one : writers) {
        trial.slowest_write_s = std::max(trial.slowest_write_s, io::writing_s(one));
        trial.slowest_create_s = std::max(trial.slowest_create_s, io::creating_s(one));
    }
    return trial;
}

WriteTrial StrategyRunner::write(Turn turn) {
    remove();
    renew();
    progress_.counts("files");
    progress_.activity("writing by " + options_.entry.name);
    turn_ = turn;
    WriteTrial trial;
    cut_ = false;
    control_.barrier();
    const auto work = [&] {
        // Where it fails the worker processes end first, and the files are closed.
        try {
            if (takes_part()) trial = write_timed();
            progress_.activity("waiting for the ranks that write");
        } catch (const TimeIsUp&) {
            renew();
            cut_ = true;
        } catch (const base::Interrupted& stopped) {
            renew();
            throw base::Interrupted(fmt::format("{} while {} wrote: {}", stopped.what(),
                                                options_.entry.name, what_there_is()),
                                    stopped.signal());
        } catch (...) {
            renew();
            throw;
        }
    };
    comm::all_or_throw_polling(control_, work);
    note_writers(written_, *strategy_, control_);
    progress_.finish();
    return trial;
}

ReadTrial StrategyRunner::read(const ReadPlan& plan, bool compare) {
    const std::string activity = "reading back what " + options_.entry.name + " wrote";
    progress_.activity(activity);
    ReadTrial trial;
    trial.compared = compare;
    cut_ = false;
    // All ranks look before any reads: in a shared file one rank's reading makes another's part
    // resident.
    comm::all_or_throw(control_, [&] {
        if (plan.count() > 0) trial.cache = evidence_before(plan);
    });
    comm::all_or_throw(control_, [&] {
        if (plan.count() == 0) return;
        const auto delivered = io::delivered_bytes();
        read_records(plan, activity, trial);
        const auto delivered_now = io::delivered_bytes();
        trial.cache.requested = trial.records * options_.entry.bytes_per_record(options_.job.size);
        trial.cache.delivered.reset();
        if (delivered && delivered_now) trial.cache.delivered = *delivered_now - *delivered;
    });
    return trial;
}

void StrategyRunner::read_records(const ReadPlan& plan, const std::string& activity,
                                  ReadTrial& trial) {
    values_.resize(static_cast<std::size_t>(options_.job.values_per_record()));
    const auto reader = strategy_->reader(trial.times);
    trial.records = plan.count();
    for (const auto& share : plan.records) {
        for (std::int64_t id = share.first; id < share.end(); ++id) {
            cut_ = late_ && late_();
            if (cut_) return;
            read_record(*reader, id, trial);
            progress_.activity(activity);
            stop_if_asked();
        }
    }
}

void StrategyRunner::read_record(io::Reader& reader, std::int64_t id, ReadTrial& trial) {
    try {
        reader.read(id, values_);
        if (trial.compared) compare_record(id, values_, trial);
    } catch (const base::DataError& error) {
        ++trial.wrong_records;
        trial.wrong += options_.job.values_per_record();
        if (trial.first_wrong.empty()) trial.first_wrong = error.what();
    }
}

void StrategyRunner::for_each_file(const ReadPlan& plan,
                                   const std::function<void(const fs::path&)>& visit) const {
    for (const auto& share : plan.records) {
        for (std::int64_t id = share.first; id < share.end(); ++id) {
            const fs::path path = strategy_->file_of(id);
            std::error_code missing;  // the reader says it
            if (fs::exists(path, missing)) visit(path);
            if (options_.entry.shared_file) return;
        }
    }
}

io::CacheEvidence StrategyRunner::evidence_before(const ReadPlan& plan) const {
    io::CacheEvidence evidence;
    evidence.file_system = base::file_system_at(options_.job.directory);
    for_each_file(plan, [&](const fs::path& path) {
        const auto one = io::residency_of(path);
        if (!one) evidence.before = std::nullopt;
        if (one && evidence.before) *evidence.before += *one;
    });
    return evidence;
}

void StrategyRunner::evict(const ReadPlan& plan) {
    comm::all_or_throw(control_, [&] {
        for_each_file(plan, [&](const fs::path& path) {
            io::evict(path);
            progress_.activity("putting files out of the page cache");
        });
    });
}

void StrategyRunner::compare_record(std::int64_t id, std::span<const double> values,
                                    ReadTrial& trial) {
    expected_.resize(values.size());
    io::fill_record(grid_, options_.entry.order, options_.job.files, id, 0, options_.job.size,
                    expected_);
    if (std::memcmp(values.data(), expected_.data(), values.size_bytes()) == 0) return;
    ++trial.wrong_records;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::memcmp(&values[i], &expected_[i], sizeof(double)) == 0) continue;
        ++trial.wrong;
        if (!trial.first_wrong.empty()) continue;
        const auto size = static_cast<std::size_t>(options_.job.size);
        trial.first_wrong = fmt::format("{}, record {}, row {}, column {}: {} instead of {}",
                                        strategy_->file_of(id).string(), id, i / size, i % size,
                                        values[i], expected_[i]);
    }
}

void StrategyRunner::remove() {
    progress_.activity("removing old files");
    comm::all_or_throw(control_, [&] {
        if (options_.entry.shared_file) {
            if (control_.rank() == 0) remove_if_there(strategy_->file_of(0));
            return;
        }
        const auto share =
            base::share_of(options_.job.files, control_.rank(), control_.world_size());
        for (std::int64_t id = share.first; id < share.end(); ++id) {
            const fs::path path = strategy_->file_of(id);
            remove_if_there(path);
            remove_if_there(io::temporary_of(path));
            base::count_progress();
        }
    });
}

std::string StrategyRunner::what_there_is() const {
    if (options_.entry.shared_file)
        return fmt::format("{} was not finished and is removed", strategy_->file_of(0).string());
    std::int64_t there = 0;
    std::error_code unknown;
    for (std::int64_t id = 0; id < options_.job.files; ++id)
        there += fs::exists(strategy_->file_of(id), unknown) ? 1 : 0;
    return fmt::format("{} of {} files are in {}{}", there, options_.job.files,
                       options_.job.directory.string(), options_.job.rename ? ", each whole" : "");
}

}  // namespace ranklab::experiments
