// The energy of a monitored run: the sum over hosts, by sample, or why it is not known.
#include "app/run_facts.hpp"

#include <gtest/gtest.h>

namespace ranklab::app {
namespace {

host::Monitored host_of(const char* name, host::Energy gpus, host::Energy cpus) {
    return {.host = name, .rows = {}, .gpus = {{}, std::move(gpus)}, .cpu_energy = std::move(cpus)};
}

results::Run trained() {
    results::Rows epochs("epochs");
    for (const std::int64_t samples : {60, 40})
        epochs.add({std::int64_t{1}, std::int64_t{5}, std::int64_t{5}, samples, 1.0, 1.0, 0.1, 1.0,
                    1.0, 1.0, 1.0, 1.0});
    results::Run run;
    run.tables.push_back(std::move(epochs).table());
    run.context.push_back({"training", "train_samples", "50"});
    return run;
}

TEST(EnergyOfARun, IsTheSumOverHostsAndBySample) {
    results::Run run = trained();
    add_monitored(run, {host_of("n1", {.joules = 300}, {.joules = 30}),
                        host_of("n2", {.joules = 500}, {.joules = 50})});
    EXPECT_EQ(run.median("gpu_energy_J"), 800);
    EXPECT_EQ(run.median("gpu_energy_J_per_sample"), 8);
    EXPECT_EQ(run.median("gpu_energy_J_per_epoch"), 400) << "of 50 samples";
    EXPECT_EQ(run.median("cpu_energy_J"), 80);
    EXPECT_EQ(run.median("cpu_energy_J_per_sample"), 0.8);
    EXPECT_EQ(run.context.size(), 1U) << "nothing is not measured";
    EXPECT_NE(run.find_table("monitor"), nullptr);
    EXPECT_EQ(run.find_table("gpu_monitor"), nullptr) << "no GPU";
}

TEST(EnergyOfARun, IsNotKnownWhereAHostDoesNotSay) {
    results::Run run = trained();
    add_monitored(run, {host_of("n1", {.joules = 300}, {.joules = 30}),
                        host_of("n2", {.why_not = "lost"}, {.joules = 50})});
    EXPECT_EQ(run.find("gpu_energy_J"), nullptr);
    EXPECT_EQ(run.fact("energy", "gpu"), "not measured: n2: lost");
    EXPECT_EQ(run.median("cpu_energy_J"), 80);
}

TEST(EnergyOfARun, HasNoSamplesWithoutEpochs) {
    results::Run run;
    add_monitored(run, {host_of("n1", {.joules = 300}, {.joules = 30})});
    EXPECT_EQ(run.median("gpu_energy_J"), 300);
    EXPECT_EQ(run.find("gpu_energy_J_per_sample"), nullptr);
}

}  // namespace
}  // namespace ranklab::app
