#include "campaign/conduct.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/shell_path.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/script.hpp"
#include "campaign/slurm.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;

// One process at a time begins jobs of a campaign.
class Lock {
  public:
    explicit Lock(const Campaign& campaign) {
        make_folder(campaign.folder);
        const auto path = campaign.folder / "campaign.lock";
        file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        if (!file_) base::throw_errno("open", path, errno);
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
            throw base::EnvironmentError(
                fmt::format("{} is locked: another `ranklab campaign` is at work on {}", path.string(),
                            campaign.file.string()));
    }

  private:
    base::Descriptor file_;
};

bool wants(const Job& job, const Wanted& wanted) {
    return !wanted.pilot || job.repetition == 1;
}

bool to_begin(const Job& job, const Standing& standing, const Wanted& wanted) {
    return standing.state == State::open && wants(job, wanted);
}

// What was measured with other settings must not count as the same point.
void refuse_changed(const Campaign& campaign, const std::vector<Job>& jobs,
                    const std::vector<Standing>& standings) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (standings[i].state == State::open) continue;
        if (const auto change = changed_words(campaign, jobs[i]); !change.empty())
            throw base::OptionError(
                fmt::format("job {} is {} with other settings: {}. Give the campaign another name or folder, "
                            "or restore the file and call from the same folder; `rm {}.*` forgets the job",
                            jobs[i].id, name_of(standings[i].state), change,
                            base::shell_quote({(campaign.folder / "jobs" / jobs[i].id).string()})));
    }
}

std::vector<Standing> ready(const Campaign& campaign, const std::vector<Job>& jobs, const Wanted& wanted) {
    auto all = standings_now(campaign, jobs);
    if (!all.queue_answers)
        throw base::EnvironmentError(
            "Slurm does not answer (squeue): nothing was submitted; try again later");
    refuse_changed(campaign, jobs, all.jobs);
    write_scripts(campaign, jobs);
    if (wanted.failed) reopen(campaign, jobs, all.jobs);
    return all.jobs;
}

fs::path cancelled_mark(const Campaign& campaign) {
    return campaign.folder / "cancelled";
}

// Why to begin nothing more, and to stop what runs.
class Stop {
  public:
    explicit Stop(const Campaign& campaign) : campaign_(campaign) { fs::remove(cancelled_mark(campaign)); }

    bool wanted() const {
        return base::StopSignals::received() != 0 || fs::exists(cancelled_mark(campaign_));
    }
    void check() const {
        if (!wanted()) return;
        const int signal = base::StopSignals::received();
        throw base::Interrupted(
            fmt::format("stopped by {}; `ranklab campaign resume {}` goes on",
                        signal != 0 ? base::StopSignals::name_of(signal) : "`ranklab campaign cancel`",
                        base::shell_path(campaign_.file.string())),
            signal != 0 ? signal : SIGTERM);
    }

  private:
    const Campaign& campaign_;
    base::StopSignals signals_;
};

void doze() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// In a session of its own, so that Ctrl-C reaches this process alone, which stops the job in its own time;
// and with the signals as the system has them.
pid_t started(const Campaign& campaign, const Job& job) {
    const std::string script = file_of(campaign, job, "sh").string();
    const std::string log = file_of(campaign, job, "log").string();
    posix_spawnattr_t how{};
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    sigset_t all{};
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    constexpr mode_t kMode = 0644;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     kMode);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    std::string bash = "bash";
    std::string path = fs::absolute(script).string();
    std::array<char*, 3> words{bash.data(), path.data(), nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "bash", &files, &how, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (failed != 0)
        throw base::EnvironmentError(
            fmt::format("job {} cannot be started: {}", job.id, std::strerror(failed)));
    return child;
}

void run_script(const Campaign& campaign, const Job& job, const Stop& stop, const Say& say) {
    const pid_t child = started(campaign, job);
    bool told = false;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        if (stop.wanted() && !told) {
            say(fmt::format("stopping {}, which stores what it has measured", job.id));
            ::kill(child, SIGTERM);
            told = true;
        }
        doze();
    }
}

// Of a job that an earlier process began and did not live to see end.
Standing waited_for(const Campaign& campaign, const Job& job, Standing standing, const Stop& stop,
                    const Say& say) {
    if (standing.state == State::running) say(fmt::format("{}: {} has it; waiting", job.id, standing.where));
    while (standing.state == State::running) {
        stop.check();
        doze();
        standing = standings_now(campaign, {job}).jobs.front();
    }
    return standing;
}

std::string ending_of(const Standing& standing) {
    if (standing.state == State::done)
        return fmt::format("done in {}", base::human_duration(standing.seconds));
    return fmt::format("{}, exit {}: {}", name_of(standing.state), standing.exit_code, standing.sentence);
}

Standing run_one(const Campaign& campaign, const Job& job, const std::string& place, const Stop& stop,
                 const Say& say) {
    say(fmt::format("{} {}: {}", place, job.id, base::shell_quote(job.words)));
    run_script(campaign, job, stop, say);
    Standing standing = standings_now(campaign, {job}).jobs.front();
    say(fmt::format("{} {}: {}", place, job.id, ending_of(standing)));
    return standing;
}

// After a node failed at the start of a job, Slurm keeps it in the queue and holds it back until it is told.
// One that its user holds stays held.
bool slurm_holds(const Standing& standing) {
    return standing.state == State::waiting &&
           (standing.sentence.starts_with("launch failed requeued held") ||
            standing.sentence.starts_with("JobHoldMaxRequeue"));
}

void release_held(const std::vector<Job>& jobs, const std::vector<Standing>& standings, const Say& say) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!slurm_holds(standings[i])) continue;
        say(fmt::format("{}: job {} is released, which Slurm held ({})", jobs[i].id, standings[i].number,
                        standings[i].sentence));
        slurm_release(standings[i].number);
    }
}

}  // namespace

Standings standings_now(const Campaign& campaign, const std::vector<Job>& jobs) {
    return standings(campaign, jobs, [&]() -> std::optional<Queue> {
        return campaign.launcher == Launcher::slurm ? slurm_queue(campaign) : Queue{};
    });
}

std::size_t submit(const Campaign& campaign, const std::vector<Job>& jobs, const Wanted& wanted,
                   const Say& say) {
    const Lock lock(campaign);
    const auto before = ready(campaign, jobs, wanted);
    if (wanted.failed) release_held(jobs, before, say);
    std::size_t submitted = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!to_begin(jobs[i], before[i], wanted)) continue;
        try {
            say(fmt::format("{}: job {}", jobs[i].id, slurm_submit(campaign, jobs[i])));
            ++submitted;
        } catch (const base::EnvironmentError& error) {
            say(error.what());
            ++refused;
        }
    }
    if (refused > 0)
        throw base::EnvironmentError(fmt::format(
            "{} jobs were submitted and {} were not; mend what sbatch says, then `ranklab campaign "
            "resume {}`",
            submitted, refused, base::shell_path(campaign.file.string())));
    return submitted;
}

std::size_t run(const Campaign& campaign, const std::vector<Job>& jobs, const Wanted& wanted,
                const Say& say) {
    const Lock lock(campaign);
    const Stop stop(campaign);
    auto all = ready(campaign, jobs, wanted);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!wants(jobs[i], wanted)) continue;
        stop.check();
        std::vector<Standing> one{waited_for(campaign, jobs[i], all[i], stop, say)};
        if (wanted.failed && all[i].state == State::running) reopen(campaign, {jobs[i]}, one);
        if (one.front().state == State::open)
            one.front() = run_one(campaign, jobs[i], fmt::format("[{}/{}]", i + 1, jobs.size()), stop, say);
        if (one.front().state != State::done) ++missing;
    }
    stop.check();
    return missing;
}

std::size_t cancel(const Campaign& campaign, const std::vector<Job>& jobs) {
    std::vector<std::string> numbers;
    std::size_t stopped = 0;
    if (campaign.launcher == Launcher::slurm) {
        const auto queue = slurm_queue(campaign);
        if (!queue)
            throw base::EnvironmentError(
                "Slurm does not answer (squeue): nothing was cancelled; try again later");
        for (const auto& [name, job] : queue->jobs) numbers.push_back(job.number);
        if (!numbers.empty()) slurm_cancel(numbers);
    } else if (fs::exists(campaign.folder)) {
        std::ofstream{cancelled_mark(campaign)};
        for (const auto& job : jobs)
            if (const int process = local_process(campaign, job); process > 1)
                if (::kill(process, SIGTERM) == 0) ++stopped;
    }
    return numbers.size() + stopped;
}

std::vector<results::Merged> collect(const Campaign& campaign, const std::vector<Job>& jobs) {
    const auto all = standings_now(campaign, jobs).jobs;
    refuse_changed(campaign, jobs, all);
    std::vector<fs::path> files;
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (all[i].state == State::done) files.push_back(file_of(campaign, jobs[i], "h5"));
    if (files.empty())
        throw base::OptionError(
            fmt::format("no job of {} is done yet; `ranklab campaign status {}` shows how far they are",
                        campaign.name, base::shell_path(campaign.file.string())));
    return results::merge(campaign.output, files);
}

}  // namespace ranklab::campaign
