#include "app/run_facts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <set>

#include "app/process.hpp"
#include "app/version.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_environment.hpp"
#include "device/gpus.hpp"
#include "experiments/shared/measurements.hpp"
#include "hdf5/file.hpp"
#include "host/findings.hpp"
#include "host/process.hpp"
#include "report/model/values.hpp"

namespace ranklab::app {
namespace {

// One row per rank: CPU time and memory, as Slurm's seff reports them for a job.
results::Table use_table(const std::vector<host::Use>& uses) {
    results::Rows table("job_use");
    for (const auto& use : uses)
        table.add({std::int64_t{use.rank}, use.host, use.seconds, use.cpu_s,
                   std::int64_t{use.host_cpus}, use.peak_rss_bytes, use.memory_asked_bytes,
                   use.process_s, use.process_cpu_s});
    return std::move(table).table();
}

// One row per start-up part that all ranks have: mean and longest time in s, and the slowest rank.
results::Table start_up_table(const std::vector<std::vector<host::StartUp::Part>>& ranks) {
    const auto seconds = [&](std::size_t rank, std::size_t part) {
        return ranks[rank][part].seconds;
    };
    const std::size_t common =
        std::ranges::min_element(ranks, {}, [](const auto& parts) { return parts.size(); })->size();
    results::Rows table("start_up");
    for (std::size_t part = 0; part < common; ++part) {
        double sum = 0;
        std::size_t slowest = 0;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            sum += seconds(rank, part);
            if (seconds(rank, part) > seconds(slowest, part)) slowest = rank;
        }
        table.add({ranks.front()[part].name, sum / base::real(ranks.size()), seconds(slowest, part),
                   static_cast<std::int64_t>(slowest)});
    }
    return std::move(table).table();
}

// One row per rank: host, CPUs, device, threads and cores.
std::vector<results::HostRow> host_rows(const std::vector<host::Placement>& placements,
                                        bool on_gpus) {
    const auto devices = host::devices_of(placements, on_gpus);
    std::vector<results::HostRow> rows;
    for (std::size_t i = 0; i < placements.size(); ++i) {
        const auto& p = placements[i];
        rows.push_back({p.rank, p.local_rank, p.host, base::compact_ranges(p.cpus), devices[i],
                        p.threads, base::compact_ranges(p.cores)});
    }
    return rows;
}

void add_rows(results::Rows& table, const std::vector<host::MonitorRow>& rows) {
    const auto mib = [](double bytes) { return bytes / (1 << 20); };
    for (const auto& row : rows)
        table.add({row.time_s, row.host, std::int64_t{row.rank}, row.cpu_percent, row.wait_percent,
                   row.threads, row.rss_bytes, row.page_faults_per_s, mib(row.read_bytes_per_s),
                   mib(row.written_bytes_per_s), mib(row.sent_bytes_per_s),
                   mib(row.received_bytes_per_s), row.pressure_percent});
}

void add_rows(results::Rows& table, const std::vector<host::GpuRow>& rows) {
    for (const auto& row : rows)
        table.add({row.time_s, row.host, row.gpu, row.name, std::int64_t{row.rank},
                   row.is.busy_percent, row.is.memory_bytes, row.is.power_W, row.is.temperature_C,
                   row.is.clock_MHz, row.is.throttle, row.is.energy_J});
}

// The training samples of all epochs of this launch, warm-up included; 0 if the run has none.
double samples_of(const results::Run& run) {
    double samples = 0;
    for (const auto& epoch : rows_of(run, "epochs")) samples += epoch.number("samples");
    return samples;
}

// Adds the energy summed over hosts. If any host lacks it, adds a fact with the reason instead.
void add_energy(results::Run& run, const std::string& of, const std::vector<host::Monitored>& hosts,
                const auto& energy_of) {
    double joules = 0;
    for (const auto& host : hosts) {
        const host::Energy& energy = energy_of(host);
        if (!energy.why_not.empty()) {
            run.context.push_back(
                {"energy", of, fmt::format("not measured: {}: {}", host.host, energy.why_not)});
            return;
        }
        joules += energy.joules;
    }
    const auto add = [&](const std::string& name, double value) {
        run.measurements.push_back(experiments::one_column(name, "run", "sum", {value}));
    };
    add(of + "_energy_J", joules);
    const double samples = samples_of(run);
    if (samples == 0) return;
    add(of + "_energy_J_per_sample", joules / samples);
    if (const auto epoch = base::number_in(run.fact(vocabulary::fact::kTrainSamples)))
        add(of + "_energy_J_per_epoch", joules / samples * *epoch);
}

std::string how_mpi_started() {
    if (comm::MpiEnvironment::running()) return "started";
    return comm::is_step_without_pmi() ? "not started: srun --mpi=none connects no ranks"
                                       : "not started: one process, no need";
}

}  // namespace

void add_monitored(results::Run& run, const std::vector<host::Monitored>& hosts) {
    results::Rows ranks("monitor"), gpus("gpu_monitor");
    for (const auto& host : hosts) {
        add_rows(ranks, host.rows);
        add_rows(gpus, host.gpus.rows);
    }
    run.tables.push_back(std::move(ranks).table());
    if (gpus.size() > 0) run.tables.push_back(std::move(gpus).table());
    add_energy(run, "gpu", hosts, [](const auto& host) { return host.gpus.energy; });
    add_energy(run, "cpu", hosts, [](const auto& host) { return host.cpu_energy; });
}

RunFacts::RunFacts(Session& session, const Launch& launch, const vocabulary::CommonSettings& common,
                   bool on_gpus)
    : session_(session),
      launch_(launch),
      common_(common),
      on_gpus_(on_gpus),
      started_(std::time(nullptr)),
      meter_(session.control().rank(), launch.placements) {
    meter_.begin();
    if (!common_.monitor) return;
    const auto processes = comm::gather_values(session.control(), static_cast<int>(::getpid()));
    const auto& mine = launch.placements[static_cast<std::size_t>(session.control().rank())];
    std::vector<host::MonitoredRank> here;
    for (const auto& place : launch.placements)
        if (place.host == mine.host)
            here.push_back({place.rank, processes[static_cast<std::size_t>(place.rank)],
                            on_gpus ? place.own_gpu : host::OwnGpu{}});
    if (mine.local_rank == 0) monitor_ = std::make_unique<host::Monitor>(here, *common_.monitor);
}

experiments::CountedPart RunFacts::counted_part() {
    return {[this] { meter_.begin(); }, [this] { meter_.end(); }};
}

// Gathers host by host, so that only rank 0 holds the samples of all hosts.
void RunFacts::gather_monitored() {
    auto mine = monitor_ ? monitor_->stop() : host::Monitored{};
    for (const auto& place : launch_.placements) {
        if (place.local_rank > 0) continue;
        auto one = comm::from_root(session_.control(), mine, place.rank);
        if (session_.is_root()) monitored_.push_back(std::move(one));
    }
}

void RunFacts::gather() {
    if (common_.monitor) gather_monitored();
    uses_ = comm::gather_values(session_.control(), meter_.use());
    start_up_ =
        start_up_table(comm::gather_values(session_.control(), session_.start_up().parts()));
}

void RunFacts::complete(std::vector<results::Run>& runs, const std::string& command,
                        const std::string& command_line) const {
    for (auto& run : runs) {
        run.command = command;
        run.argv = command_line;
        complete_one(run);
    }
    runs.back().tables.push_back(use_table(uses_));
    if (common_.monitor) add_monitored(runs.back(), monitored_);
    runs.back().tables.push_back(start_up_);
}

void RunFacts::complete_one(results::Run& run) const {
    run.id = results::make_run_id(started_);
    run.label = common_.label;
    run.started_utc = base::utc_iso(started_);
    if (run.duration_s == 0) run.duration_s = base::seconds_since(began_);
    run.version = version();
    run.git_revision = git_revision();
    run.hosts = host_rows(launch_.placements, on_gpus_);
    add_warnings(run);
    add_context(run);
}

// Appends the launch's warnings after the run's own: the first warning of a run that failed must
// stay the reason for its exit code (say_why()).
void RunFacts::add_warnings(results::Run& run) const {
    auto warnings = launch_.warnings;
    for (const auto& finding : host::findings_of_run({.uses = uses_}))
        warnings.push_back(finding.sentence());
    const auto loads = host::other_loads(uses_);
    const auto most = std::ranges::max_element(loads, {}, &host::OtherLoad::share);
    if (most != loads.end()) {
        run.context.push_back({"place", "others_cores", fmt::format("{:.3f}", most->cpus_busy)});
        run.context.push_back({"place", "others_cores_host", most->host});
        run.add_fact(vocabulary::fact::kQuietHosts, vocabulary::yes_or_no(most->is_quiet()));
    }
    if (build_type() != "Release")
        warnings.push_back("this is a " + build_type() + " build; measure with a Release build");
    run.warnings.insert(run.warnings.end(), warnings.begin(), warnings.end());
}

// Catches errors: missing facts of the machine must not discard measurements.
void RunFacts::add_context(results::Run& run) const {
    try {
        const auto context = collect_context(common_.output, launch_.placements);
        run.context.insert(run.context.begin(), context.begin(), context.end());
    } catch (const std::exception& error) {
        run.warnings.push_back(fmt::format("facts of the machine are missing: {}", error.what()));
    }
}

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
    for (const auto& [key, value] : host::allowed_environment())
        facts.push_back({"environment", key, value});
    return facts;
}

std::string placement_line(const std::vector<host::Placement>& placements) {
    std::set<std::string> shapes, hosts;
    for (const auto& p : placements) {
        hosts.insert(p.host);
        const std::string threads =
            p.threads == 0 ? "" : fmt::format("{} thread{} ", p.threads, p.threads == 1 ? "" : "s");
        shapes.insert(
            fmt::format("{}on {} core{}", threads, p.cores.size(), p.cores.size() == 1 ? "" : "s"));
    }
    return fmt::format("# ranks: {} on {} node{}, each {} ({})\n", placements.size(), hosts.size(),
                       hosts.size() == 1 ? "" : "s", report::some_of(shapes, 3, " or "),
                       report::some_of(hosts, 4));
}

}  // namespace ranklab::app
