// The campaign's jobs in Slurm's queue, and their state.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "campaign/campaign.hpp"
#include "report/frame/frame.hpp"
#include "results/staged_file.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

fs::path file_of(const Campaign& campaign, const Job& job, const char* kind) {
    return fs::path(campaign.folder) / "jobs" / fmt::format("{}.{}", job.id, kind);
}

// Quotes a path for an #SBATCH line, which has other quoting rules than a shell, and in which %
// begins a pattern.
std::string for_sbatch(const std::string& path) {
    std::string text = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\') text += '\\';
        if (c == '%') text += '%';
        text += c;
    }
    return text + '"';
}

// Stdout and stderr of a Slurm command; gives up after 30 s, since Slurm's commands wait for
// minutes for a dead controller.
base::ProgramOutput answer_of(const Texts& words) {
    return base::output_of(fmt::format("timeout 30 {} 2>&1", base::shell_quote(words)));
}

// The job's name in Slurm, with a hash of the folder, since campaigns in different folders may have
// the same name.
std::string queue_name(const Campaign& campaign, const Job& job) {
    const auto folder = fs::absolute(campaign.folder).lexically_normal().string();
    return fmt::format("{}.{}.{:06x}", campaign.name, job.id,
                       base::fingerprint(folder) & 0xffffffU);
}

void write_script(const Campaign& campaign, const Job& job) {
    const fs::path path = file_of(campaign, job, "sh");
    base::make_folders(path.parent_path(), "folder");
    results::write_text(path, script_of(campaign, job), "folder");
}

std::map<std::string, std::string> queue_or_throw(const Campaign& campaign) {
    if (auto queue = queue_of(campaign)) return *queue;
    throw base::EnvironmentError(kNoAnswer);
}

// The processes that a job starts in all, and those whose runs are stored.
struct Progress {
    int all, done;

    explicit Progress(const Job& job)
        : all(static_cast<int>(job.sweep.points.size()) * job.sweep.repeat),
          done(all - missing_processes(job.sweep)) {}
};

constexpr const char* kLeft = "not in the queue";

std::string state_of(const Job& job, bool done, const Queue& queue) {
    if (!queue) return done ? "done" : "queue unknown";
    return queue->contains(job.id) ? queue->at(job.id) : done ? "done" : kLeft;
}

}  // namespace

std::string script_of(const Campaign& campaign, const Job& job) {
    std::string text = fmt::format(
        "#!/usr/bin/env bash\n# Job {} of campaign {}, written by `ranklab campaign`\n"
        "#SBATCH --nodes={} --ntasks={} --cpus-per-task={} --time={}\n"
        "#SBATCH --output={} --open-mode=append\n#SBATCH --signal=B:USR1@60\n",
        job.id, campaign.name, job.nodes, job.ranks, job.cores, job.minutes,
        for_sbatch(fs::absolute(file_of(campaign, job, "log")).string()));
    if (campaign.ranks_per_node > 0)
        text += fmt::format("#SBATCH --ntasks-per-node={}\n",
                            std::min(job.ranks, campaign.ranks_per_node));
    for (const auto& [option, value] : {std::pair{"--partition=", campaign.partition},
                                        {"--account=", campaign.account},
                                        {"", campaign.sbatch_options}})
        if (!value.empty()) text += fmt::format("#SBATCH {}{}\n", option, value);
    text += fmt::format("cd {} || exit 5\n", base::shell_quote({fs::current_path().string()}));
    if (!campaign.prologue.empty()) text += campaign.prologue + '\n';
    return text + fmt::format("exec {} {}\n",
                              base::shell_quote({base::program_beside("ranklab").string()}),
                              base::shell_quote(job.words));
}

Queue queue_of(const Campaign& campaign) {
    std::map<std::string, std::string> states;
    if (!campaign.slurm()) return states;
    const auto answer = answer_of({"squeue", "--noheader", "--me", "--format=%T|%r|%j"});
    if (answer.code != 0) return std::nullopt;
    for (const auto& line : base::split(answer.text, '\n')) {
        const auto fields = base::split(line, '|');
        for (const auto& job : campaign.jobs)
            if (fields.size() == 3 && fields[2] == queue_name(campaign, job))
                states[job.id] = fields[0] == "RUNNING"
                                     ? fields[0]
                                     : fmt::format("{} ({})", fields[0], fields[1]);
    }
    return states;
}

int submit(const Campaign& campaign, const Say& say) {
    const auto queue = queue_or_throw(campaign);
    int submitted = 0;
    for (const auto& job : campaign.jobs) {
        if (queue.contains(job.id) || missing_processes(job.sweep) == 0) continue;
        write_script(campaign, job);
        const auto answer =
            answer_of({"sbatch", "--parsable", "--job-name=" + queue_name(campaign, job),
                       file_of(campaign, job, "sh").string()});
        if (answer.code != 0)
            throw base::EnvironmentError(fmt::format("sbatch refused job {}: {}", job.id,
                                                     base::one_line(base::trim(answer.text))));
        say(fmt::format("{}: job {}", job.id, base::trim(answer.text)));
        ++submitted;
    }
    return submitted;
}

int cancel(const Campaign& campaign) {
    const auto queue = queue_or_throw(campaign);
    for (const auto& job : campaign.jobs) {
        if (!queue.contains(job.id)) continue;
        // Signals only the process of the batch script. This is the sweep, which stores its runs.
        const auto answer = answer_of({"scancel", "--batch", "--signal=USR1", "--state=RUNNING",
                                       "--name=" + queue_name(campaign, job)});
        const auto rest =
            answer_of({"scancel", "--state=PENDING", "--name=" + queue_name(campaign, job)});
        if (answer.code != 0 || rest.code != 0)
            throw base::EnvironmentError(
                fmt::format("scancel: {}", base::one_line(base::trim(answer.text + rest.text))));
    }
    return static_cast<int>(queue.size());
}

std::string plan_text(const Campaign& campaign, const Queue* queue) {
    report::Frame table;
    for (const char* name : {"job", "nodes", "ranks", "cores", "points", "runs", "done", "time",
                             "node_hours", "state"})
        table.columns.push_back(
            {.name = name,
             .role = table.columns.empty() ? report::Role::key : report::Role::derived});
    double hours = 0;
    bool complete = true;
    std::string logs;
    for (const auto& job : campaign.jobs) {
        const Progress runs(job);
        const bool done = runs.done >= runs.all;
        complete = complete && done;
        const double own =
            campaign.slurm() && !done ? static_cast<double>(job.minutes) * job.nodes / 60 : 0;
        const std::string state = queue == nullptr ? "" : state_of(job, done, *queue);
        table.rows.push_back(
            {{job.id, job.nodes, job.ranks, job.cores, job.sweep.points.size(), runs.all, runs.done,
              campaign.slurm() ? fmt::format("<= {} min", job.minutes) : "",
              campaign.slurm() ? fmt::format("<= {:.3g}", own) : "", state},
             {}});
        hours += own;
        const auto path = file_of(campaign, job, "log");
        if (const auto log = end_of_log(path, 3); state == kLeft && !log.empty())
            logs += fmt::format("{} ends:\n{}\n", path.string(), log);
    }
    if (queue == nullptr) table.columns.pop_back();
    std::string text =
        fmt::format("# campaign {}: {} job(s), into {}\n{}{}", campaign.name, campaign.jobs.size(),
                    campaign.output, report::text_of(table), logs);
    if (campaign.slurm())
        text += fmt::format(
            "the missing runs take at most {:.3g} node hours, by the time limits (key time)\n",
            hours);
    if (queue != nullptr && !*queue && !complete) return text;  // the jobs may be in the queue
    const char* const next = complete ? "collect" : campaign.slurm() ? "submit" : "run";
    return text + fmt::format("Next: ranklab campaign {} {}\n", next,
                              base::shell_path(campaign.file.string()));
}

std::string status_json(const Campaign& campaign, const Queue& queue) {
    using Json = nlohmann::ordered_json;
    Json jobs = Json::array();
    for (const auto& job : campaign.jobs) {
        const Progress runs(job);
        jobs.push_back(
            {{"id", job.id},
             {"command", job.words},
             {"ranks", job.ranks},
             {"nodes", job.nodes},
             {"cores", job.cores},
             {"limit_minutes", job.minutes},
             {"runs", runs.all},
             {"done", runs.done},
             {"queue", queue && queue->contains(job.id) ? Json(queue->at(job.id)) : Json(nullptr)},
             {"queue_name", queue_name(campaign, job)}});
    }
    const Json all{{"campaign", campaign.name},
                   {"output", fs::absolute(campaign.output).string()},
                   {"queue_answers", queue.has_value()},
                   {"jobs", jobs}};
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ranklab::campaign
