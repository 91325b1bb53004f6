#include "campaign/script.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/mpirun.hpp"
#include "base/one_line.hpp"
#include "base/program_beside.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "campaign/templates.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;

std::string quoted(const fs::path& path) {
    return base::shell_quote({path.string()});
}

// For an #SBATCH line, whose quotes are not a shell's, and where % begins a pattern.
std::string for_sbatch(const std::string& path) {
    std::string text = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\') text += '\\';
        if (c == '%') text += '%';
        text += c;
    }
    return text + '"';
}

// That the ranks stop and store what they have before Slurm kills them. It may come a minute early. To the
// shell alone, which tells the launcher: a step that is only beginning might miss it.
std::string warning_line(const Job& job) {
    constexpr int kLeast = 3;
    return job.minutes < kLeast ? "" : "#SBATCH --signal=B:USR1@60\n";
}

std::string sbatch_lines(const Campaign& campaign, const Job& job) {
    std::string lines = fmt::format(
        "#SBATCH --job-name={0} --nodes={1} --ntasks={2} --cpus-per-task={3} --time={4}\n"
        "#SBATCH --output={5} --open-mode=append\n",
        job.id, job.nodes, job.ranks, job.threads, job.minutes,
        for_sbatch(fs::absolute(file_of(campaign, job, "log")).string()));
    if (job.ranks_per_node > 0) lines += fmt::format("#SBATCH --ntasks-per-node={}\n", job.ranks_per_node);
    lines += warning_line(job);
    if (!campaign.partition.empty()) lines += fmt::format("#SBATCH --partition={}\n", campaign.partition);
    if (!campaign.account.empty()) lines += fmt::format("#SBATCH --account={}\n", campaign.account);
    if (!campaign.sbatch.empty()) lines += fmt::format("#SBATCH {}\n", base::join(campaign.sbatch, " "));
    return lines;
}

constexpr bool kIsMpich = std::string_view(RANKLAB_MPI_FAMILY) == "mpich";

// That each rank has so many cores of its own, in the words of the mpirun of this build's MPI.
std::vector<std::string> bound_to(const std::string& threads) {
    if (kIsMpich) return {"-bind-to", "core:" + threads};
    return {"--map-by", "slot:PE=" + threads, "--bind-to", "core"};
}

std::vector<std::string> launch_of(const Campaign& campaign, const Job& job) {
    const std::string ranks = std::to_string(job.ranks);
    const std::string threads = std::to_string(job.threads);
    if (campaign.launcher == Launcher::slurm)
        return {"srun", "--ntasks=" + ranks, "--cpus-per-task=" + threads, "--kill-on-bad-exit=1"};
    std::vector<std::string> words{base::mpirun(), "-n", ranks};
    const auto& more = campaign.mpirun.empty() ? bound_to(threads) : campaign.mpirun;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

[[noreturn]] void cannot_write(const fs::path& path) {
    throw base::EnvironmentError(
        fmt::format("{} cannot be written: {}", path.string(), std::strerror(errno)));
}

void write_file(const fs::path& path, const std::string& text) {
    const fs::path part = path.string() + ".part";
    {
        constexpr mode_t kExecutable = 0755;
        const base::Descriptor file(
            ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kExecutable));
        if (!file || !base::write_whole(file.get(), text)) cannot_write(path);
    }
    if (std::rename(part.c_str(), path.c_str()) != 0) cannot_write(path);
}

constexpr const char* kMeasures = "# Measures: ";

// One line: a path may hold whatever it likes.
std::string what_of(const Job& job, const fs::path& folder) {
    return base::one_line(fmt::format("{}; ranks {}, nodes {}, threads {}, in {}",
                                      base::shell_quote(job.words), job.ranks, job.nodes, job.threads,
                                      quoted(folder)));
}

}  // namespace

std::string script_of(const Campaign& campaign, const Job& job, const fs::path& ranklab,
                      const fs::path& folder) {
    const fs::path stem = fs::absolute(campaign.folder / "jobs" / job.id);
    const bool slurm = campaign.launcher == Launcher::slurm;
    std::string text = fmt::format(
        "#!/usr/bin/env bash\n# Job {} of campaign {}, written by `ranklab campaign`. By hand: {} {}.sh\n",
        job.id, campaign.name, slurm ? "sbatch" : "bash", quoted(stem));
    text += kMeasures + what_of(job, folder) + "\n";
    if (slurm) text += sbatch_lines(campaign, job);
    text += fmt::format("set -uo pipefail\ncd {} || exit 5\n", quoted(folder));
    if (!campaign.prologue.empty()) text += campaign.prologue + "\n";
    text += fmt::format("job={}\nlauncher={}\nthreads={}\ncheckpoint={}\nlaunch=({})\ncommand=({} {})\n",
                        quoted(stem), slurm ? "slurm" : "mpirun", job.threads,
                        job.checkpoint.empty() ? "" : quoted(fs::path(job.checkpoint)),
                        base::shell_quote(launch_of(campaign, job)), quoted(ranklab),
                        base::shell_quote(job.words));
    if (slurm)
        text += fmt::format("launch+=(\"--mpi=${{RANKLAB_SRUN_MPI:-{}}}\")\n", kIsMpich ? "pmi2" : "pmix");
    return fmt::format("{}\n{}\n{}", text, template_text("stop.sh"), template_text("job.sh"));
}

void write_scripts(const Campaign& campaign, const std::vector<Job>& jobs) {
    make_folder(campaign.folder / "jobs");
    for (const auto& job : jobs)
        write_file(file_of(campaign, job, "sh"),
                   script_of(campaign, job, base::program_beside("ranklab"), fs::current_path()));
}

std::string changed_words(const Campaign& campaign, const Job& job) {
    std::ifstream script(file_of(campaign, job, "sh"));
    const std::string now = what_of(job, fs::current_path());
    for (std::string line; std::getline(script, line);)
        if (line.starts_with(kMeasures)) {
            const std::string before = line.substr(std::string(kMeasures).size());
            return before == now ? "" : fmt::format("it was \"{}\" and is now \"{}\"", before, now);
        }
    return "";
}

}  // namespace ranklab::campaign
