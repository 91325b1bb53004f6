#include "campaign/slurm.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/one_line.hpp"
#include "base/program_output.hpp"
#include "base/text.hpp"

namespace ranklab::campaign {
namespace {

// Of both streams. Slurm's commands ask a dead controller for minutes before they give up.
base::ProgramOutput answer_of(const std::vector<std::string>& words) {
    auto answer = base::output_of(fmt::format("timeout 30 {} 2>&1", base::shell_quote(words)));
    if (!answer.started) answer.text = "no process can be started";
    return answer;
}

// Two campaigns of one name in two folders are two.
std::string mark_of(const Campaign& campaign) {
    const auto folder = std::filesystem::absolute(campaign.folder).lexically_normal().string();
    return fmt::format("{:06x}", base::fingerprint(folder) & 0xffffffU);
}

}  // namespace

std::string queue_name(const Campaign& campaign, const Job& job) {
    return fmt::format("{}.{}.{}", campaign.name, job.id, mark_of(campaign));
}

std::optional<Queue> slurm_queue(const Campaign& campaign) {
    const std::string end = fmt::format(".{}", mark_of(campaign));
    const auto answer =
        answer_of({"squeue", "--noheader", "--me", "--format=%A|%T|%r|%j", "--states=PD,R,CG,CF,S,RQ,SO,ST"});
    if (answer.code != 0) return std::nullopt;
    Queue queue;
    for (const auto& line : base::split(answer.text, '\n')) {
        const auto fields = base::split(line, '|');
        if (fields.size() < 4) continue;
        queue.names[fields[0]] = fields[3];
        if (fields.size() == 4 && fields[3].ends_with(end))
            queue.jobs.insert({fields[3], {fields[0], fields[1] != "PENDING", fields[2]}});
    }
    return queue;
}

std::string slurm_submit(const Campaign& campaign, const Job& job) {
    const auto answer = answer_of({"sbatch", "--parsable", "--job-name=" + queue_name(campaign, job),
                                   file_of(campaign, job, "sh").string()});
    const std::string number = base::trim(answer.text.substr(0, answer.text.find_first_of(";\n")));
    if (answer.code != 0 || number.empty())
        throw base::EnvironmentError(
            fmt::format("sbatch did not take job {}: {}", job.id, base::one_line(base::trim(answer.text))));
    return number;
}

void slurm_release(const std::string& number) {
    static_cast<void>(answer_of({"scontrol", "release", number}));
}

void slurm_cancel(const std::vector<std::string>& numbers) {
    std::vector<std::string> words{"scancel"};
    words.insert(words.end(), numbers.begin(), numbers.end());
    const auto answer = answer_of(words);
    if (answer.code != 0)
        throw base::EnvironmentError(fmt::format("scancel: {}", base::one_line(base::trim(answer.text))));
}

}  // namespace ranklab::campaign
