#include "campaign/standing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/one_line.hpp"
#include "base/proc_stat.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/slurm.hpp"
#include "host/facts.hpp"

namespace ranklab::campaign {
namespace {

namespace fs = std::filesystem;

using Facts = std::map<std::string, std::string>;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// "key=value" lines, as a job's script writes them.
Facts facts_of(const fs::path& path) {
    Facts facts;
    for (const auto& line : base::split(text_of(path), '\n'))
        if (const auto middle = line.find('='); middle != std::string::npos)
            facts[line.substr(0, middle)] = line.substr(middle + 1);
    return facts;
}

template <class Number>
Number number_in(const Facts& facts, const char* key, Number otherwise) {
    const auto found = facts.find(key);
    return found == facts.end() ? otherwise : base::number_in<Number>(found->second).value_or(otherwise);
}

bool is_bar(const std::string& line) {
    return line.size() > 1 && line.find_first_not_of("-=*") == std::string::npos;
}

// What launchers say of a program that has ended, and what is no error.
bool is_by_the_way(const std::string& line) {
    constexpr const char* kBegins[] = {"srun: ", "slurmstepd: ", "[", "warning: ", "now: ", "Terminated"};
    return std::ranges::any_of(kBegins, [&](const char* begin) { return line.starts_with(begin); });
}

// What went wrong, in the program's own words: the last line outside of mpirun's blocks between bars, or else
// the last one that says anything.
std::string sentence_in(const fs::path& path) {
    std::string own;
    std::string any;
    bool in_block = false;
    for (const auto& raw : base::split(text_of(path), '\n')) {
        const auto line = base::trim(raw);
        if (is_bar(line)) in_block = !in_block;
        if (line.empty() || is_bar(line)) continue;
        any = line;
        if (!in_block && !is_by_the_way(line)) own = line;
    }
    return base::one_line(own.empty() ? any : own);
}

std::string sentence_of(const Campaign& campaign, const Job& job) {
    for (const char* const kind : {"err", "log"})
        if (auto sentence = sentence_in(file_of(campaign, job, kind)); !sentence.empty()) return sentence;
    return "its log is empty";
}

// "slurm 17 0", or "process 123 456789 node07": the number, the time of its start, its host.
struct Claim {
    bool there = false;
    std::string text;
    std::vector<std::string> words;

    bool by_slurm() const { return words.size() == 3 && words[0] == "slurm"; }
    bool by_process() const { return words.size() == 4 && words[0] == "process"; }
    bool on_this_host() const { return by_process() && words[3] == host::host_name(); }
    std::string number() const { return words.size() > 1 ? words[1] : ""; }
};

Claim claim_of(const Campaign& campaign, const Job& job) {
    const fs::path file = file_of(campaign, job, "claim");
    Claim claim{fs::exists(file), base::trim(text_of(file)), {}};
    claim.words = base::split(claim.text, ' ');
    return claim;
}

bool script_lives(const Claim& claim) {
    return base::stat_field(base::stat_after_name("/proc/" + claim.number()), 22) == claim.words[2];
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// The launcher and its ranks outlive a script that is killed, and store what they measure.
bool ranks_live(const Job& job, const Claim& claim) {
    const std::string name = fmt::format("{}.{}.h5", job.id, fmt::join(claim.words, "-"));
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/proc", none)) {
        if (!is_number(entry.path().filename().string())) continue;
        const auto words = base::split(text_of(entry.path() / "cmdline"), '\0');
        for (std::size_t i = 0; i + 1 < words.size(); ++i)
            if (words[i] == "--output" && words[i + 1].ends_with("/" + name)) return true;
    }
    return false;
}

// Under its own name, or a foreign one (by hand, within salloc). Under that of another job of the campaign
// Slurm has given the number anew, after it had lost its state.
bool in_slurm(const Claim& claim, const Queue& queue, const std::string& own_name) {
    const auto found = queue.names.find(claim.number());
    return found != queue.names.end() && (found->second == own_name || !queue.jobs.contains(found->second));
}

bool alive(const Campaign& campaign, const Job& job, const Claim& claim, const std::optional<Queue>& queue) {
    if (claim.by_slurm()) return !queue || in_slurm(claim, *queue, queue_name(campaign, job));
    if (!claim.by_process()) return false;
    return !claim.on_this_host() || script_lives(claim) || ranks_live(job, claim);
}

// A crash is a signal, too.
bool is_stop(int code) {
    constexpr int kSignals = 128;
    return std::ranges::find(base::kStopSignals, code - kSignals) != std::end(base::kStopSignals);
}

State ending(int code) {
    const auto is = [&](base::ExitCode one) { return code == static_cast<int>(one); };
    if (is(base::ExitCode::ok) || is(base::ExitCode::invalid_measurement)) return State::done;
    return is(base::ExitCode::time_limit) || is_stop(code) ? State::unfinished : State::failed;
}

// What ID.end says; nothing where there is none.
std::optional<Standing> ended(const Campaign& campaign, const Job& job) {
    const Facts facts = facts_of(file_of(campaign, job, "end"));
    const auto by = facts.find("by");
    if (by == facts.end() || !facts.contains("exit_code")) return std::nullopt;
    Standing standing;
    standing.exit_code = number_in(facts, "exit_code", 1);
    standing.state = ending(standing.exit_code);
    standing.seconds = std::max(0.0, number_in(facts, "ended", 0.0) - number_in(facts, "begun", 0.0));
    standing.where = by->second;
    return standing;
}

double age_of(const fs::path& path) {
    std::error_code none;
    const auto written = fs::last_write_time(path, none);
    if (none) return 0;
    return std::max(0.0, std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count());
}

Standing done(const std::optional<Standing>& end) {
    Standing standing;
    if (end && end->state == State::done) standing = *end;  // another attempt may have failed after it
    standing.state = State::done;
    return standing;
}

const Queued* in_queue(const Campaign& campaign, const Job& job, const std::optional<Queue>& queue) {
    if (!queue) return nullptr;
    const Queued* found = nullptr;
    const auto [first, last] = queue->jobs.equal_range(queue_name(campaign, job));
    for (auto one = first; one != last; ++one)
        if (found == nullptr || one->second.running) found = &one->second;
    return found;
}

Standing queued(const Queued& in, double seconds) {
    Standing standing;
    standing.state = in.running ? State::running : State::waiting;
    standing.where = "slurm " + in.number;
    standing.number = in.number;
    standing.seconds = in.running ? seconds : 0;
    standing.sentence = in.reason;
    return standing;
}

Standing standing_of(const Campaign& campaign, const Job& job, const Claim& claim,
                     const std::optional<Queue>& queue) {
    const auto end = ended(campaign, job);
    if (fs::exists(file_of(campaign, job, "h5"))) return done(end);
    const double age = claim.there ? age_of(file_of(campaign, job, "claim")) : 0;
    const bool said = end && end->state != State::done && end->where == claim.text;
    const Queued* const in = in_queue(campaign, job, queue);
    if (in != nullptr && !(said && in->running && in->number == claim.number())) return queued(*in, age);
    Standing standing;
    if (!claim.there) return standing;
    if (said) standing = *end;
    standing.where = claim.text;
    if (!said) standing.state = alive(campaign, job, claim, queue) ? State::running : State::lost;
    if (standing.state == State::running) standing.seconds = age;
    if (standing.state != State::running) standing.sentence = sentence_of(campaign, job);
    return standing;
}

// On NFS a file that another host has made is seen once its folder has been opened anew.
void look_again(const Campaign& campaign) {
    std::error_code none;
    static_cast<void>(fs::directory_iterator(campaign.folder / "jobs", none));
}

}  // namespace

const char* name_of(State state) {
    constexpr const char* kNames[] = {"open", "waiting", "running", "done", "unfinished", "failed", "lost"};
    return kNames[static_cast<std::size_t>(state)];
}

Standings standings(const Campaign& campaign, const std::vector<Job>& jobs, const AskQueue& ask) {
    look_again(campaign);
    std::vector<Claim> claims;
    claims.reserve(jobs.size());
    for (const auto& job : jobs) claims.push_back(claim_of(campaign, job));
    const auto queue = ask();
    look_again(campaign);
    Standings all{{}, queue.has_value()};
    for (std::size_t i = 0; i < jobs.size(); ++i)
        all.jobs.push_back(standing_of(campaign, jobs[i], claims[i], queue));
    return all;
}

void reopen(const Campaign& campaign, const std::vector<Job>& jobs, std::vector<Standing>& standings) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const State state = standings[i].state;
        if (state != State::lost && state != State::failed && state != State::unfinished) continue;
        fs::remove(file_of(campaign, jobs[i], "claim"));
        standings[i] = {};
    }
}

int local_process(const Campaign& campaign, const Job& job) {
    const Claim claim = claim_of(campaign, job);
    return claim.on_this_host() && is_number(claim.number()) && script_lives(claim)
               ? std::stoi(claim.number())
               : 0;
}

}  // namespace ranklab::campaign
