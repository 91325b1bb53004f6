#include "experiments/storage/repetition.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using base::Clock;

// Thrown if the time limit passed between two records.
struct TimeIsUp {};

void remove_if_there(const fs::path& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        base::throw_errno("unlink", path, errno, "directory");
}

}  // namespace

Repeater::Repeater(const StorageOptions& options, comm::Communicator& control,
                   base::ProgressSink& progress)
    : options_(options),
      control_(control),
      progress_(progress),
      written_(writers_of(options, control)),
      ranks_(control.split(writes() ? 0 : 1, control.rank())),
      grid_(options.size),
      poll_(*ranks_) {
    renew();
}

Repeater::~Repeater() {
    // After an error or a signal transfers may still be under way: MPI must not free their memory.
    // The process is about to end.
    strategy_.reset();
    if (abandoned_ || std::uncaught_exceptions() > 0) static_cast<void>(ranks_.release());
}

// Makes a new strategy object, since one object makes one writing. Destroying the old one closes
// files, worker processes and communicators.
void Repeater::renew() {
    times_ = {};
    events_.clear();
    if (options_.trace) times_.keep(events_);
    done_ = 0;
    strategy_ = options_.entry.make(
        options_, {*ranks_, times_, [this](std::int64_t more) { records_done(more); }});
}

Repeater::Traced Repeater::traced() const {
    if (!writes()) return {};
    auto lanes = strategy_->worker_events();
    lanes.insert(lanes.begin(), events_);
    return {base::IoTimes::since_epoch(begin_), std::move(lanes)};
}

// Ceilings are measured before one repetition and after the next, so that drift of the machine
// affects a strategy and its ceilings alike.
std::optional<Repetition> Repeater::make(std::int64_t number, Turn turn,
                                         std::optional<Clock::time_point> deadline) {
    deadline_ = deadline;
    const bool counts = number >= 1;
    const bool before = (number - 1 + options_.warmup()) % 2 == 0;
    const bool ceilings = options_.measures_ceilings() && counts;
    Repetition made;
    if (ceilings && before) measure_ceilings(made.ceilings);
    if (options_.write()) {
        made.writing = write(turn);
        if (any_was_cut()) return std::nullopt;
    }
    if (ceilings && !before) measure_ceilings(made.ceilings);
    if (options_.read() && (counts || !options_.write()) &&
        !read_back(static_cast<int>(std::max<std::int64_t>(1, number)), made.passes))
        return std::nullopt;
    return made;
}

Writing Repeater::write(Turn turn) {
    remove();
    renew();
    progress_.counts("files");
    progress_.activity("writing by " + options_.entry.name);
    turn_ = turn;
    cut_ = false;
    Writing writing;
    control_.barrier();
    comm::all_or_throw_polling(control_, [&] {
        // After an error renew() ends worker processes and closes files before other ranks learn of
        // the error.
        try {
            if (writes()) writing = write_timed();
            progress_.activity("waiting for the ranks that write");
        } catch (const TimeIsUp&) {
            renew();
            cut_ = true;
        } catch (const base::Interrupted& stopped) {
            renew();
            throw base::Interrupted(fmt::format("{} while {} wrote: {}", stopped.what(),
                                                options_.entry.name, files_left()),
                                    stopped.signal());
        } catch (...) {
            renew();
            throw;
        }
    });
    progress_.finish();
    return writing;
}

Writing Repeater::write_timed() {
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
    Writing writing{.job_s = base::seconds_between(begin_, closed),
                    .open_s = base::seconds_between(begin_, opened),
                    .times = times_,
                    .begin_s = base::IoTimes::since_epoch(begin_)};
    auto processes = strategy_->writers();
    if (processes.empty()) processes.push_back(times_);
    for (const auto& times : processes) {
        writing.slowest_write_s = std::max(writing.slowest_write_s, io::writing_s(times));
        writing.slowest_create_s = std::max(writing.slowest_create_s, io::creating_s(times));
    }
    return writing;
}

// Each measurement writes as many bytes as a repetition. The best of at least kFewest measurements
// counts, so with few repetitions each repetition has several.
void Repeater::measure_ceilings(std::vector<io::Ceilings>& measured) {
    constexpr std::int64_t kFewest = 3;
    const auto between = [this] {
        progress_.activity("measuring the ceilings next to " + options_.entry.name);
        stop_if_asked();
    };
    comm::all_or_throw_polling(control_, [&] {
        if (!writes()) return;
        const auto times = (kFewest + options_.repetitions - 1) / options_.repetitions;
        for (std::int64_t i = 0; i < times; ++i)
            measured.push_back(io::measure_ceilings(*ranks_, options_, options_.entry, between));
    });
}

// A deadline ends a write phase only if one rank writes alone: several ranks could deadlock.
void Repeater::records_done(std::int64_t more) {
    if (more > 0) show_done(more);
    stop_if_asked();
    if (written_.writers == 1 && is_late()) throw TimeIsUp();
}

void Repeater::show_done(std::int64_t more) {
    done_ += more;
    const std::int64_t files = options_.files;
    const std::int64_t share = base::share_of(files, ranks_->rank(), written_.writers).count;
    const std::int64_t of_all = done_ * files / std::max(done_, share);
    progress_.update((turn_.number - 1) * files + of_all, turn_.of * files,
                     static_cast<double>(done_) / base::seconds_since(begin_), "files/s",
                     options_.entry.name);
}

// Throws base::Interrupted after a signal, which the launcher sends to all ranks. Ranks that write
// in step agree on the record at which they stop. A rank in close() is nearly done and goes on.
void Repeater::stop_if_asked() {
    if (verb_ == Verb::close) return;
    const auto& strategy = options_.entry;
    const bool in_step = strategy.parallel && ((verb_ == Verb::open && strategy.shared_file) ||
                                               (verb_ == Verb::write && strategy.in_step));
    const int signal = !in_step        ? base::StopSignals::received()
                       : poll_.asked() ? poll_.signal()
                                       : 0;
    if (signal != 0)
        throw base::Interrupted(fmt::format("stopped by {} during {}",
                                            base::StopSignals::name_of(signal), strategy.name),
                                signal);
}

bool Repeater::any_was_cut() {
    return options_.time_limit() > 0 && comm::reduced(control_, cut_, comm::ReduceOp::max);
}

void Repeater::remove() {
    progress_.activity("removing old files");
    comm::all_or_throw(control_, [&] {
        if (options_.entry.shared_file) {
            if (control_.rank() == 0) remove_if_there(strategy_->file_of(0));
            return;
        }
        const auto share = base::share_of(options_.files, control_.rank(), control_.world_size());
        for (std::int64_t id = share.first; id < share.end(); ++id) {
            remove_if_there(strategy_->file_of(id));
            base::count_progress();
        }
    });
}

// Says what an interrupted writing left in the folder.
std::string Repeater::files_left() const {
    if (options_.entry.shared_file)
        return fmt::format("{} was not finished and is removed", strategy_->file_of(0).string());
    std::int64_t there = 0;
    std::error_code unknown;
    for (std::int64_t id = 0; id < options_.files; ++id)
        there += fs::exists(strategy_->file_of(id), unknown) ? 1 : 0;
    return fmt::format("{} of {} files are in {}", there, options_.files, options_.directory);
}

}  // namespace ranklab::experiments
