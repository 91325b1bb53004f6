#include "campaign/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "stats/difference.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;
using results::Run;

bool stands(int code) {
    return code == base::number_of(base::ExitCode::ok) ||
           code == base::number_of(base::ExitCode::invalid_measurement);
}

bool is_whole(const Run& run) {
    return run.valid && stands(run.exit_code) && run.cut_short().empty();
}

// Complete repetitions of a point; a start of io makes one run per strategy.
int repetitions_of(const std::string& strategies, const std::map<std::string, int>& runs) {
    if (runs.empty()) return 0;
    const auto count = [&](const std::string& name) {
        return runs.contains(name) ? runs.at(name) : 0;
    };
    std::vector<int> counts;
    if (strategies == "all")
        for (const auto& [name, times] : runs) counts.push_back(times);
    else
        for (const auto& name : base::split(strategies, ','))
            counts.push_back(count(base::trim(name)));
    return std::max(std::ranges::min(counts), count(strategies));
}

// Complete repetitions of each point in the results file. `newest`: when the last of them began.
std::vector<int> stored_repetitions(const Sweep& sweep, std::string* newest = nullptr) {
    std::vector<std::map<std::string, int>> runs(sweep.points.size());
    visit_runs(sweep, results::Detail::settings, [&](std::size_t point, const Run& run) {
        ++runs[point][run.setting("strategy")];
        if (newest != nullptr) *newest = std::max(*newest, run.started_utc);
    });
    std::vector<int> repetitions;
    for (const auto& of_point : runs)
        repetitions.push_back(repetitions_of(sweep.strategies, of_point));
    return repetitions;
}

std::string file_name(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
            std::string_view("=,._-").find(c) == std::string_view::npos)
            c = '_';
    return text;
}

// Locks each point, one byte of a file each, so that no second process measures the same point.
base::Descriptor lock_of(const Sweep& sweep, const fs::path& folder) {
    const fs::path path = folder / "points.lock";
    auto file = base::open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (!file) base::throw_errno("open", path, errno);
    for (const auto& point : sweep.points) {
        const auto words = fmt::format("{} {}", point.need.ranks, base::shell_quote(point.words));
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_start = static_cast<off_t>(base::fingerprint(words) >> 2U);
        lock.l_len = 1;
        if (::fcntl(file.get(), F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN))
            continue;
        ::fcntl(file.get(), F_GETLK, &lock);
        throw base::EnvironmentError(
            fmt::format("process {} measures {} under this label; wait for its end, or give "
                        "another label",
                        lock.l_pid, point.name),
            {"label"});
    }
    return file;
}

fs::path logs_of(const Sweep& sweep) {
    const fs::path folder = sweep.output.parent_path() / (file_name(sweep.label) + ".logs");
    base::make_folders(folder);
    return folder;
}

// Starts runs, one after another. Skips a point after its first failure; other points go on.
class Conduct {
  public:
    Conduct(const Sweep& sweep, const Say& say)
        : sweep_(sweep), say_(say), logs_(logs_of(sweep)), lock_(lock_of(sweep, logs_)) {}

    void start(const std::vector<Task>& tasks) {
        left_ = all_ = tasks.size();
        for (const Task& task : tasks) {
            if (base::StopSignals::received() != 0) break;
            --left_;
            if (!failed_.contains(task.point)) start(task);
        }
    }

    /// The exit code of the first failed start, or 128 + the signal's number.
    Outcome outcome() const {
        const int signal = base::StopSignals::received();
        return {signal == 0 ? code_ : 128 + signal, failures_};
    }

  private:
    void start(const Task& task) {
        const Point& point = sweep_.points[task.point];
        const fs::path log =
            logs_ / fmt::format("{}.{}.log", file_name(point.name), task.repetition);
        const std::string place =
            fmt::format("[{}/{}] {} repeat {}", all_ - left_, all_, point.name, task.repetition);
        const auto ending =
            run_logged(command_of(sweep_, point), log, sweep_.limit_s, [&](const auto& line) {
                if (sweep_.launch.srun) say_(fmt::format("{}: waits: {}", place, line));
            });
        if (stands(ending.code)) {
            ++done_;
            seconds_ += ending.seconds;
            say_(fmt::format("{}: {}{}", place, base::human_duration(ending.seconds), time_left()));
        } else if (base::StopSignals::received() == 0) {
            failed_.insert(task.point);
            if (code_ == 0) code_ = ending.code;
            const auto text = failure_text(ending.code, log);
            failures_.push_back(fmt::format("{} {}", point.name, text));
            say_(fmt::format("{}: {}", place, text));
        }
    }

    static std::string failure_text(int code, const fs::path& log) {
        const bool late = code == base::number_of(base::ExitCode::time_limit);
        const std::string end = end_of_log(log, 5);
        return fmt::format("{} (exit code {}); {} {}", late ? "timed out" : "failed", code,
                           log.string(), end.empty() ? "is empty" : "ends:\n" + end);
    }

    std::string time_left() {
        if (left_ == 0) return "";
        return fmt::format(", about {} left",
                           base::human_duration(seconds_ / static_cast<double>(done_) *
                                                static_cast<double>(left_)));
    }

    const Sweep& sweep_;
    const Say& say_;
    fs::path logs_;
    base::Descriptor lock_;
    std::set<std::size_t> failed_;
    std::vector<std::string> failures_;
    std::size_t all_ = 0, left_ = 0, done_ = 0;
    double seconds_ = 0;
    int code_ = 0;
};

using report::model::Groups;

report::model::GroupQuery query_of(const Sweep& sweep, const std::vector<std::string>& ignore) {
    if (sweep.fits == 0) return {sweep.keys, {}, ignore};
    return {sweep.keys,
            {"step_time_s", "throughput_samples_per_s", "peak_rss_bytes", "peak_gpu_bytes",
             "sent_bytes_per_step"},
            ignore};
}

std::string plain_table(const report::Frame& all) {
    auto columns = all.all(report::Role::key);
    columns.push_back(all.find("runs"));
    std::ranges::copy(all.all(report::Role::measured), std::back_inserter(columns));
    return '\n' + report::text_of(all.select(columns)) + '\n';
}

// The verdicts on the rows whose ranks take at most the memory of --fits.
std::string fits_text(const Sweep& sweep, const Groups& groups,
                      const std::vector<std::string>& ignore) {
    if (sweep.fits == 0) return "";
    report::Frame runs = groups.runs();
    runs.rows.clear();
    std::vector<std::string> fitting;
    for (const std::size_t group : groups.all()) {
        const double gpu = groups.estimate(group, "peak_gpu_bytes").number,
                     host = groups.estimate(group, "peak_rss_bytes").number;
        if (!((gpu > 0 ? gpu : host) <= static_cast<double>(sweep.fits))) continue;
        fitting.push_back(groups.name(group));
        for (const std::size_t run : groups.members(group))
            runs.rows.push_back(groups.runs().rows[run]);
    }
    std::vector<report::Finding> findings{
        {.verdict = report::Verdict::fits,
         .subject = fitting.empty() ? "no row" : fmt::format("only {}", fitting.front())}};
    if (fitting.size() > 1)
        findings = report::model::scaling_of({runs, query_of(sweep, ignore)}).findings;
    if (findings.empty())
        findings = {{.verdict = report::Verdict::fits, .subject = base::join(fitting, "; ")}};
    std::string text;
    for (const auto& finding : findings)
        text += report::formats::screen_line(
            "in " + report::readable(static_cast<double>(sweep.fits), "B"), sentence(finding));
    return text;
}

}  // namespace

int missing_processes(const Sweep& sweep) {
    return static_cast<int>(tasks_of(sweep, stored_repetitions(sweep)).size());
}

std::string dry_run_text(const Sweep& sweep) {
    std::string text;
    for (const Task& task : tasks_of(sweep, stored_repetitions(sweep)))
        text += base::shell_quote(command_of(sweep, sweep.points[task.point])) + '\n';
    return text;
}

int run_missing(const Sweep& sweep, const Say& say) {
    Conduct conduct(sweep, say);
    std::string newest;
    const auto tasks = tasks_of(sweep, stored_repetitions(sweep, &newest));
    const std::size_t points = sweep.points.size();
    const std::size_t all = points * static_cast<std::size_t>(sweep.repeat);
    if (tasks.size() < all)
        say(fmt::format("{} of {} runs are stored, the last one on {}", all - tasks.size(), all,
                        newest));
    if (const auto needed = static_cast<int>(stats::fewest_runs(points - 1));
        points > 1 && !tasks.empty() && sweep.repeat < needed)
        say(fmt::format("--repeat {} is too few to name the fastest; give --repeat {}",
                        sweep.repeat, needed));
    conduct.start(tasks);
    const int left = missing_processes(sweep), code = conduct.outcome().code;
    if (left > 0)
        say(fmt::format("{} of {} runs are missing; the same command starts them again", left,
                        all));
    return code != 0 || left == 0 ? code : base::number_of(base::ExitCode::environment);
}

Outcome run_tasks(const Sweep& sweep, const std::vector<Task>& tasks, const Say& say) {
    Conduct conduct(sweep, say);
    conduct.start(tasks);
    return conduct.outcome();
}

void visit_runs(const Sweep& sweep, results::Detail detail,
                const std::function<void(std::size_t point, const Run&)>& look) {
    if (!fs::exists(sweep.output)) return;
    const auto wanted = [&](const Run& run) {
        return run.label == sweep.label && run.command == sweep.program && is_whole(run) &&
               run.setting("inputs-hash") == sweep.inputs_hash;
    };
    results::ResultFile(sweep.output).visit(detail, wanted, [&](const Run& run) {
        for (std::size_t i = 0; i < sweep.points.size(); ++i) {
            const auto& [name, words, need] = sweep.points[i];
            if (run.hosts.size() == static_cast<std::size_t>(need.ranks) &&
                run.argv == "ranklab " + base::shell_quote(words))
                look(i, run);
        }
    });
}

std::optional<report::model::Groups> groups_of(const Sweep& sweep,
                                               const std::vector<std::string>& ignore) {
    if (!std::filesystem::exists(sweep.output)) return std::nullopt;
    std::vector<std::string> conditions{"command=" + sweep.program, "cut_short="};
    if (!sweep.inputs_hash.empty()) conditions.push_back("inputs-hash=" + sweep.inputs_hash);
    const report::model::ChosenRuns runs(results::ResultFile(sweep.output),
                                         {.label = sweep.label, .conditions = conditions});
    if (runs.headers().empty()) return std::nullopt;
    return report::model::Groups(runs, query_of(sweep, ignore));
}

std::string table_text(const Sweep& sweep, const std::vector<std::string>& ignore,
                       const std::string& verdict) {
    const auto groups = groups_of(sweep, ignore);
    if (!groups) return verdict;
    const auto answer =
        verdict.empty() ? report::formats::groups_text(*groups) + fits_text(sweep, *groups, ignore)
                        : plain_table(groups->table()) + verdict;
    const std::string file = base::shell_path(sweep.output.string());
    return answer +
           report::formats::screen_line("stored", fmt::format("{} as {}", file, sweep.label)) +
           fmt::format("  {:<14}ranklab report {} --label {} --group-by {}\n", "next", file,
                       base::shell_quote({sweep.label}), base::join(sweep.keys, ","));
}

}  // namespace ranklab::campaign
