// The samples of --monitor in a run.
#include <fmt/format.h>

#include <numeric>
#include <string>

#include "app/run_facts.hpp"
#include "base/numbers.hpp"
#include "experiments/shared/measurements.hpp"

namespace ranklab::app {
namespace {

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
    const auto* epochs = run.find_table("epochs");
    const auto* samples = epochs ? epochs->find<std::int64_t>("samples") : nullptr;
    return samples ? base::real(std::accumulate(samples->begin(), samples->end(), std::int64_t{0}))
                   : 0;
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

}  // namespace ranklab::app
