#include "report/model/cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/selection.hpp"
#include "report/model/series.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::HostRow;
using results::Run;
using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;  // first and last CPU of each

// "0-3,8"; nothing where it is none.
std::optional<Ranges> ranges_in(const std::string& cpus) {
    Ranges ranges;
    for (const auto& part : base::split(cpus, ',')) {
        const auto ends = base::split(part, '-');
        const auto first = base::number_in<std::size_t>(ends.front());
        const auto last = base::number_in<std::size_t>(ends.back());
        if (!first || !last || *last < *first || ends.size() > 2) return std::nullopt;
        ranges.emplace_back(*first, *last);
    }
    return ranges;
}

// Each once, whatever overlaps.
std::size_t count_of(Ranges ranges) {
    std::ranges::sort(ranges);
    std::size_t count = 0, next = 0;
    for (const auto& [first, last] : ranges) {
        const std::size_t from = std::max(first, next);
        if (last >= from) count += last - from + 1;
        next = std::max(next, last + 1);
    }
    return count;
}

std::size_t number_of(const Run& run, const std::string& key) {
    return base::number_in<std::size_t>(value_of(run, key)).value_or(0);
}

// Those that computed: a rung of io says its ranks itself, and some write in rank 0 alone.
std::vector<HostRow> computing(const Run& run) {
    std::vector<HostRow> rows = run.hosts;
    if (run.command != "io") return rows;
    const bool alone = workers_of(run) > 0 || writes_on_rank_0(run);
    const auto ranks = static_cast<std::size_t>(alone ? 1 : ranks_of(run));
    std::erase_if(rows, [&](const HostRow& row) { return static_cast<std::size_t>(row.rank) >= ranks; });
    return rows;
}

Cores gpus_of(const std::vector<HostRow>& rows) {
    std::set<std::string> gpus;
    for (const auto& row : rows) {
        if (row.device.find(" [") == std::string::npos)
            return {.gpus = true, .why_not = "the file does not tell one GPU from another"};
        gpus.insert(row.host + ' ' + row.device);
    }
    Cores cores{.count = gpus.size(), .gpus = true};
    if (gpus.size() < rows.size())
        cores.crowded = fmt::format("{} on {}", counted(rows.size(), "rank"), counted(gpus.size(), "GPU"));
    return cores;
}

struct Host {
    Ranges cpus;
    std::size_t threads = 0, useful = 0;  // those that a rank's own CPUs have room for
};

std::string crowd(std::size_t threads, std::size_t cpus) {
    return fmt::format("{} on {}", counted(threads, "compute thread"), counted(cpus, "CPU"));
}

Cores cpus_of(const std::vector<HostRow>& rows, std::size_t threads) {
    std::map<std::string, Host> hosts;
    Cores cores;
    for (const auto& row : rows) {
        const auto own = ranges_in(row.cpus);
        if (!own) return {.why_not = "the CPUs of its ranks are not stored"};
        const std::size_t cpus = count_of(*own);
        if (threads > cpus) cores.crowded = crowd(threads, cpus) + " of a rank";
        Host& host = hosts[row.host];
        host.cpus.insert(host.cpus.end(), own->begin(), own->end());
        host.threads += threads;
        host.useful += std::min(threads, cpus);
    }
    for (const auto& [name, host] : hosts) {
        const std::size_t cpus = count_of(host.cpus);
        if (host.useful > cpus) cores.crowded = crowd(host.threads, cpus);
        cores.count += std::min(host.useful, cpus);
    }
    return cores;
}

}  // namespace

std::size_t threads_per_rank(const Run& run) {
    if (run.command == "io") return static_cast<std::size_t>(std::max<std::int64_t>(1, workers_of(run)));
    const std::size_t computing = number_of(run, "training.intra_op_threads");
    const std::size_t threads = computing > 0 ? computing : number_of(run, "threads");
    const std::size_t replicas = number_of(run, "replicas");
    return threads == 0 || replicas == 0 ? threads : replicas * std::max<std::size_t>(1, threads / replicas);
}

Cores cores_of(const Run& run) {
    const auto rows = computing(run);
    if (rows.empty()) return {.why_not = "its ranks' places are not stored"};
    if (run.setting("device") == "cuda") return gpus_of(rows);
    const std::size_t threads = threads_per_rank(run);
    if (threads == 0) return {.why_not = "its number of compute threads is not stored"};
    return cpus_of(rows, threads);
}

void CoresOfRuns::add(const Cores& of_one) {
    if (runs_++ == 0) common_ = of_one;
    if (of_one.oversubscribed()) {
        ++crowded_runs_;
        crowded_ = of_one.crowded;
    }
    if (!common_.known() || (of_one.count == common_.count && of_one.gpus == common_.gpus)) return;
    common_.why_not = of_one.known()
                          ? fmt::format("its runs used {} and {}", counted(common_.count, common_.unit()),
                                        counted(of_one.count, of_one.unit()))
                          : of_one.why_not;
    common_.count = 0;
}

std::string CoresOfRuns::oversubscribed() const {
    if (crowded_runs_ == 0 || crowded_runs_ == runs_) return crowded_;
    return fmt::format("{} of {} runs: {}", crowded_runs_, runs_, crowded_);
}

}  // namespace ranklab::report::model
