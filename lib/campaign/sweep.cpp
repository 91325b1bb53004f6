#include "campaign/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "results/result_file.hpp"
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

void visit_runs(const Sweep& sweep, const std::function<void(const Run&)>& look) {
    if (!fs::exists(sweep.output)) return;
    const auto wanted = [&](const Run& run) {
        if (run.label == sweep.label && run.command == sweep.program && is_whole(run) &&
            run.setting("inputs-hash") == sweep.inputs_hash)
            look(run);
        return false;
    };
    results::ResultFile(sweep.output).visit(results::Detail::settings, wanted, [](Run&&) {});
}

bool is_of(const Point& point, const Run& run) {
    const std::string line = "ranklab " + base::shell_quote(point.words);
    return run.hosts.size() == static_cast<std::size_t>(point.need.ranks) && run.argv == line;
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
    visit_runs(sweep, [&](const Run& run) {
        for (std::size_t i = 0; i < sweep.points.size(); ++i)
            if (is_of(sweep.points[i], run)) {
                ++runs[i][run.setting("strategy")];
                if (newest != nullptr) *newest = std::max(*newest, run.started_utc);
            }
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

class Conduct {
  public:
    Conduct(const Sweep& sweep, const Say& say)
        : sweep_(sweep),
          say_(say),
          logs_(logs_of(sweep)),
          lock_(lock_of(sweep, logs_)),
          tasks_(tasks_of(sweep, stored_repetitions(sweep, &newest_))) {}

    int run() {
        const std::size_t all = sweep_.points.size() * static_cast<std::size_t>(sweep_.repeat);
        if (const auto done = all - tasks_.size(); done > 0)
            say_(fmt::format("{} of {} runs are stored, the last one on {}", done, all, newest_));
        const auto needed = static_cast<int>(stats::fewest_runs(sweep_.points.size() - 1));
        if (sweep_.points.size() > 1 && !tasks_.empty() && sweep_.repeat < needed)
            say_(fmt::format("--repeat {} is too few to name the fastest; give --repeat {}",
                             sweep_.repeat, needed));
        for (const Task& task : tasks_) {
            if (base::StopSignals::received() != 0) break;
            ++begun_;
            if (!failed_.contains(task.point)) start(task);
        }
        const int signal = base::StopSignals::received();
        return signal == 0 ? code_ : 128 + signal;
    }

  private:
    void start(const Task& task) {
        const Point& point = sweep_.points[task.point];
        const fs::path log =
            logs_ / fmt::format("{}.{}.log", file_name(point.name), task.repetition);
        const std::string place =
            fmt::format("[{}/{}] {} repeat {}", begun_, tasks_.size(), point.name, task.repetition);
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
            say_(fmt::format("{}: {}", place, failure_text(ending.code, log)));
        }
    }

    static std::string failure_text(int code, const fs::path& log) {
        const bool late = code == base::number_of(base::ExitCode::time_limit);
        const std::string end = end_of_log(log, 5);
        return fmt::format("{} (exit code {}); {} {}", late ? "timed out" : "failed", code,
                           log.string(), end.empty() ? "is empty" : "ends:\n" + end);
    }

    std::string time_left() {
        const std::size_t left = tasks_.size() - begun_;
        if (left == 0) return "";
        return fmt::format(", about {} left",
                           base::human_duration(seconds_ / static_cast<double>(done_) *
                                                static_cast<double>(left)));
    }

    const Sweep& sweep_;
    const Say& say_;
    fs::path logs_;
    base::Descriptor lock_;
    std::string newest_;
    std::vector<Task> tasks_;
    std::set<std::size_t> failed_;
    std::size_t begun_ = 0, done_ = 0;
    double seconds_ = 0;
    int code_ = 0;
};

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
    const int code = Conduct(sweep, say).run();
    const int missing = missing_processes(sweep);
    if (missing > 0)
        say(fmt::format("{} of {} runs are missing; the same command starts them again", missing,
                        sweep.points.size() * static_cast<std::size_t>(sweep.repeat)));
    return code != 0 || missing == 0 ? code : base::number_of(base::ExitCode::environment);
}

std::optional<report::model::Groups> groups_of(const Sweep& sweep,
                                               const std::vector<std::string>& ignore) {
    if (!std::filesystem::exists(sweep.output)) return std::nullopt;
    std::vector<std::string> conditions{"command=" + sweep.program, "cut_short="};
    if (!sweep.inputs_hash.empty()) conditions.push_back("inputs-hash=" + sweep.inputs_hash);
    const report::model::ChosenRuns runs(results::ResultFile(sweep.output),
                                         {.label = sweep.label, .conditions = conditions});
    if (runs.headers().empty()) return std::nullopt;
    return report::model::Groups(runs, {sweep.keys, {}, ignore});
}

std::string table_text(const Sweep& sweep, const std::vector<std::string>& ignore) {
    const auto groups = groups_of(sweep, ignore);
    if (!groups) return "";
    const std::string file = base::shell_path(sweep.output.string());
    return report::formats::groups_text(*groups) +
           report::formats::screen_line("stored", fmt::format("{} as {}", file, sweep.label)) +
           fmt::format("  {:<14}ranklab report {} --label {} --group-by {}\n", "next", file,
                       base::shell_quote({sweep.label}), base::join(sweep.keys, ","));
}

}  // namespace ranklab::campaign
