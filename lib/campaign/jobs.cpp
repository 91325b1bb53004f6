#include "campaign/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;

std::string value_in(const Settings& settings, const std::string& key, const std::string& otherwise) {
    for (const auto& [name, value] : settings)
        if (name == key) return value;
    return otherwise;
}

// Weak scaling of files: each rank writes as many.
Settings scaled(const Workload& workload, Settings settings, int ranks) {
    if (workload.command != "io" || workload.scaling != Scaling::weak) return settings;
    const auto files = std::stoll(value_in(settings, "files", "15")) * ranks;
    std::erase_if(settings, [](const auto& setting) { return setting.first == "files"; });
    settings.emplace_back("files", std::to_string(files));
    return settings;
}

// A ladder of several ranks begins with one, where ranks have nothing to do together.
Settings at_one_rank(const Workload& workload, Settings settings, int ranks) {
    if (workload.command != "train" || ranks != 1) return settings;
    const auto between_ranks = [](const auto& setting) {
        return setting.first == "sync" || setting.first == "backend" ||
               (setting.first == "mode" && setting.second == "ddp");
    };
    std::erase_if(settings, between_ranks);
    return settings;
}

// A number as text takes at most 25 bytes, which is more than any other way to write it does.
std::uint64_t disk_of(const Workload& workload, const Settings& settings) {
    constexpr std::uint64_t kBytesOfNumber = 25;
    if (workload.command != "io") return 0;
    const auto files = std::stoull(value_in(settings, "files", "15"));
    const auto size = std::stoull(value_in(settings, "size", "100"));
    return files * size * size * kBytesOfNumber;
}

std::string plain(std::string name) {
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '-';
    return name;
}

std::vector<std::string> command_of(const Campaign& campaign, const Workload& workload,
                                    const Settings& settings) {
    std::vector<std::string> words{workload.command};
    const auto own = words_of(workload.command, settings);
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(), {"--threads", std::to_string(workload.threads)});
    if (value_in(settings, "label", "").empty())
        words.insert(words.end(), {"--label", label_of(campaign, workload)});
    return words;
}

Job point_of(const Campaign& campaign, const Workload& workload, std::size_t choice, int ranks) {
    const Settings settings = at_one_rank(workload, scaled(workload, workload.choices[choice], ranks), ranks);
    Job job;
    job.point = plain(fmt::format("{}-{}r{}{}", workload.name, ranks,
                                  workload.distinct[choice].empty() ? "" : "-", workload.distinct[choice]));
    job.workload = workload.name;
    job.words = command_of(campaign, workload, settings);
    job.ranks = ranks;
    job.threads = workload.threads;
    job.ranks_per_node = std::min(workload.ranks_per_node, ranks);
    job.nodes =
        workload.ranks_per_node == 0 ? 1 : (ranks + workload.ranks_per_node - 1) / workload.ranks_per_node;
    job.minutes = workload.minutes;
    job.disk_bytes = disk_of(workload, settings);
    return job;
}

struct Point {
    Job job;
    int repetitions = 1;
};

std::vector<Point> points_of(const Campaign& campaign) {
    std::vector<Point> points;
    std::set<std::string> names;
    for (const auto& workload : campaign.workloads)
        for (const int ranks : workload.ranks)
            for (std::size_t choice = 0; choice < workload.choices.size(); ++choice) {
                Job job = point_of(campaign, workload, choice, ranks);
                const std::string name = job.point;
                for (int n = 2; !names.insert(job.point).second; ++n)
                    job.point = fmt::format("{}-{}", name, n);
                points.push_back({std::move(job), workload.repetitions});
            }
    return points;
}

// What the option says; "" where it is not there. It is taken out.
std::string taken(std::vector<std::string>& words, const std::string& option) {
    const auto named = std::ranges::find(words, option);
    if (named == words.end()) return "";
    const std::string value = *(named + 1);
    words.erase(named, named + 2);
    return value;
}

// Jobs that run at a time must not write over each other.
void own_folder(const Campaign& campaign, Job& job) {
    if (job.words.front() != "io") return;
    const auto named = taken(job.words, "--directory");
    const fs::path above = named.empty() ? campaign.folder / "jobs" : fs::path(named);
    job.words.insert(job.words.end(), {"--directory", (above / (job.id + ".files")).string()});
}

// An attempt goes on where the one before it was stopped; a job never where another one was.
void own_checkpoint(Job& job) {
    const auto above = taken(job.words, "--checkpoint");
    if (above.empty()) return;
    job.checkpoint = (fs::path(above) / job.id).string();
    std::erase(job.words, "--resume");
    job.words.insert(job.words.end(), {"--checkpoint", job.checkpoint, "--resume"});
}

}  // namespace

std::string label_of(const Campaign& campaign, const Workload& workload) {
    const auto own = value_in(workload.choices.front(), "label", "");
    return own.empty() ? fmt::format("{}-{}", campaign.name, workload.name) : own;
}

std::vector<Job> jobs_of(const Campaign& campaign) {
    std::vector<Job> jobs;
    const auto points = points_of(campaign);
    const auto most = std::ranges::max(points, {}, &Point::repetitions).repetitions;
    for (int repetition = 1; repetition <= most; ++repetition) {
        const auto first = static_cast<std::ptrdiff_t>(jobs.size());
        for (const auto& point : points) {
            if (repetition > point.repetitions) continue;
            Job job = point.job;
            job.repetition = repetition;
            job.id = fmt::format("{}-rep{}", job.point, repetition);
            own_folder(campaign, job);
            own_checkpoint(job);
            jobs.push_back(std::move(job));
        }
        std::mt19937 order(static_cast<unsigned>(repetition));
        std::shuffle(jobs.begin() + first, jobs.end(), order);
    }
    return jobs;
}

void make_folder(const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        throw base::EnvironmentError(fmt::format("{} cannot be made: {}", folder.string(), failed.message()));
}

std::filesystem::path file_of(const Campaign& campaign, const Job& job, const std::string& kind) {
    return campaign.folder / "jobs" / fmt::format("{}.{}", job.id, kind);
}

}  // namespace ranklab::campaign
