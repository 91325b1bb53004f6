#include "app/context.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "app/guarded.hpp"
#include "app/version.hpp"
#include "base/file_system.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_environment.hpp"
#include "device/gpus.hpp"
#include "hdf5/file.hpp"
#include "host/facts.hpp"
#include "host/process.hpp"
#include "report/model/values.hpp"

namespace ranklab::app {

namespace {

std::string how_mpi_started() {
    if (comm::MpiEnvironment::running()) return "started";
    return comm::is_step_without_pmi() ? "not started: srun gave no way to the other ranks"
                                       : "not started: one process, no need";
}

}  // namespace

std::vector<results::Fact> collect_context(const std::string& output_file,
                                           const std::vector<host::Placement>& placements) {
    std::vector<results::Fact> facts{
        {"build", "version", version()},
        {"build", "git_revision", git_revision()},
        {"build", "type", build_type()},
        {"build", "compiler", compiler()},
        {"build", "features", build_features()},
        {"libraries", "mpi", comm::MpiEnvironment::library_version()},
        {"libraries", "hdf5", hdf5::library_version()},
        {"libraries", "cuda_runtime", device::cuda_runtime_version()},
        {"process", "instance", host::process_instance()},
        {"process", "allocator", allocator_settings()},
        {"process", "mpi", how_mpi_started()},
    };
    const auto launcher = comm::read_launcher();
    facts.push_back({"process", "launcher", launcher.name.empty() ? "none seen" : launcher.name});
    if (output_file != "none")
        facts.push_back({"output", "file_system", base::file_system_at(output_file).name});
    for (const auto& [key, value] : host::host_facts()) facts.push_back({"host", key, value});
    facts.push_back({"host", "cpu_quota", host::quota_text(placements)});
    for (const auto& [key, value] : host::allowed_environment()) facts.push_back({"environment", key, value});
    return facts;
}

std::vector<results::HostRow> host_rows(const std::vector<host::Placement>& placements, bool on_gpus) {
    const auto devices = host::devices_of(placements, on_gpus);
    std::vector<results::HostRow> rows;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const auto& p = placements[i];
        rows.push_back({p.rank, p.local_rank, p.host, base::compact_ranges(p.cpus), devices[i], p.threads,
                        base::compact_ranges(p.cores)});
    }
    return rows;
}

namespace {

// "ranks: 2 on 1 node, each 1 thread on 2 cores"
std::string shape_of(const std::vector<host::Placement>& placements) {
    std::set<std::string> shapes, hosts;
    for (const auto& p : placements) {
        hosts.insert(p.host);
        const std::string threads =
            p.threads == 0 ? "" : fmt::format("{} thread{} ", p.threads, p.threads == 1 ? "" : "s");
        shapes.insert(fmt::format("{}on {} core{}", threads, p.cores.size(), p.cores.size() == 1 ? "" : "s"));
    }
    return fmt::format("# ranks: {} on {} node{}, each {}", placements.size(), hosts.size(),
                       hosts.size() == 1 ? "" : "s", report::model::some_of(shapes, 3, " or "));
}

}  // namespace

std::string placement_line(const std::vector<host::Placement>& placements) {
    std::set<std::string> hosts;
    for (const auto& p : placements) hosts.insert(p.host);
    return fmt::format("{} ({})\n", shape_of(placements), report::model::some_of(hosts, 4));
}

std::string placement_header(const std::vector<host::Placement>& placements) {
    std::map<std::string, std::vector<const host::Placement*>> hosts;
    for (const auto& p : placements) hosts[p.host].push_back(&p);
    std::string text = shape_of(placements) + '\n';
    constexpr std::size_t kMostHosts = 8;
    std::size_t shown = 0;
    for (const auto& [host, ranks] : hosts) {
        if (shown++ == kMostHosts)
            return text + fmt::format("#   ... and {} more nodes\n", hosts.size() - kMostHosts);
        std::vector<int> ids;
        std::set<int> cpus;
        for (const auto* p : ranks) {
            ids.push_back(p->rank);
            cpus.insert(p->cpus.begin(), p->cpus.end());
        }
        text += fmt::format("#   {}: rank{} {}, cpus {}\n", host, ids.size() == 1 ? "" : "s",
                            base::few_ranges(ids), base::few_ranges({cpus.begin(), cpus.end()}));
    }
    return text;
}

}  // namespace ranklab::app
