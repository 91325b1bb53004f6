#include "comm/launcher.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <map>

#include "base/program.hpp"

namespace ranklab::comm {
namespace {

using Variables = std::map<std::string, std::string>;

LauncherView read(const Variables& variables) {
    return read_launcher([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

void expect_view(const LauncherView& view, const std::string& name, int size, int rank) {
    EXPECT_NE(view.name.find(name), std::string::npos) << "it is said to be: " << view.name;
    EXPECT_EQ(view.world_size, size);
    EXPECT_EQ(view.rank, rank);
}

void expect_none(const LauncherView& view) {
    EXPECT_EQ(view.name, "");
    EXPECT_EQ(view.world_size, std::nullopt);
    EXPECT_EQ(view.rank, std::nullopt);
}

TEST(Launcher, NoneIsSeenInAPlainShell) {
    expect_none(read({}));
    expect_none(read({{"HOME", "/root"}, {"OMP_NUM_THREADS", "4"}}));
}

TEST(Launcher, OpenMpi) {
    expect_view(read({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}), "Open MPI", 4,
                3);
}

TEST(Launcher, Pmi) {
    expect_view(read({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}), "PMI", 2, 0);
}

// Hydra inside a Slurm step: Hydra is the innermost launcher.
TEST(Launcher, Hydra) {
    Variables all{{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"PMI_FD", "6"}, {"MPI_LOCALNRANKS", "2"}};
    expect_view(read(all), "Hydra", 2, 1);
    all.insert({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"PMI_JOBID", "1.0"}});
    expect_view(read(all), "Hydra", 2, 1);
}

TEST(Launcher, Flux) {
    Variables all{{"FLUX_JOB_SIZE", "8"}, {"FLUX_TASK_RANK", "7"}, {"FLUX_TASK_LOCAL_ID", "3"}};
    expect_view(read(all), "flux run", 8, 7);
    all.insert({{"PMI_SIZE", "8"}, {"PMI_RANK", "7"}, {"PALS_RANKID", "7"}});  // of its plug-ins
    expect_view(read(all), "flux run", 8, 7);
}

TEST(Launcher, Pals) {
    expect_view(read({{"PALS_RANKID", "5"},
                      {"PALS_LOCAL_RANKID", "1"},
                      {"PMI_SIZE", "8"},
                      {"PMI_RANK", "5"}}),
                "PALS", 8, 5);
    expect_none(read({{"PALS_RANKID", "5"}}));
}

// jsrun also sets Open MPI's variables.
TEST(Launcher, Jsm) {
    expect_view(read({{"JSM_NAMESPACE_SIZE", "6"},
                      {"JSM_NAMESPACE_RANK", "2"},
                      {"JSM_NAMESPACE_LOCAL_RANK", "2"},
                      {"OMPI_COMM_WORLD_SIZE", "6"},
                      {"OMPI_COMM_WORLD_RANK", "2"}}),
                "jsrun", 6, 2);
}

// A Slurm step with PMI (--mpi=pmi2) or PALS variables (--mpi=cray_shasta) was started by srun.
TEST(Launcher, SlurmStepWithPmi) {
    const Variables step{
        {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "3"}, {"PMI_SIZE", "4"}, {"PMI_RANK", "3"}};
    for (const char* sign : {"PMI_JOBID", "PALS_RANKID"}) {
        auto with = step;
        with[sign] = "3";
        expect_view(read(with), "srun", 4, 3);
    }
}

// The launch guard compares the launcher's count with MPI's world size, and names commands that
// start this build.
TEST(Launcher, HowThisBuildIsStarted) {
#ifdef OPEN_MPI
    EXPECT_EQ(own_launchers(), "srun --mpi=pmix, or its own " + base::mpirun());
    EXPECT_EQ(own_launchers("Flux's flux run"),
              "flux run -o pmi=pmix, or its own " + base::mpirun());
#else
    EXPECT_EQ(own_launchers(), "srun --mpi=pmi2, or its own " + base::mpirun());
    EXPECT_EQ(own_launchers("Flux's flux run"),
              "flux run -o pmi=simple, or its own " + base::mpirun());
#endif
}

TEST(Launcher, SlurmStep) {
    expect_view(
        read({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "16"}}),
        "srun", 8, 5);
}

TEST(Launcher, AnOldSlurmStepKnowsTheJobsTasksOnly) {
    expect_view(read({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "5"}}),
                "srun", 16, 5);
}

// sbatch sets SLURM_PROCID=0 and SLURM_NTASKS for the script. A program that the script starts
// without srun looks like one of 16 unconnected tasks: the launch guard refuses both, and
// --expect-ranks 1 allows the single one.
TEST(Launcher, ABatchScriptIsTakenForSrun) {
    expect_view(read({{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}}),
                "srun", 16, 0);
}

TEST(Launcher, AnAllocationIsNoLauncher) {
    expect_none(read({{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "16"}}));
}

// Before a process starts without MPI it must know that no launcher started it.
TEST(Launcher, AnyTraceOfALauncherIsATaskEnvironment) {
    const auto has = [](const Variables& variables) {
        return has_task_environment([&](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        });
    };
    EXPECT_FALSE(has({}));
    EXPECT_FALSE(has({{"HOME", "/root"},
                      {"SLURM_JOB_ID", "1"},
                      {"SLURM_NTASKS", "16"},
                      {"OMPI_MCA_btl", "tcp"}}));
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD", "MPI_LOCALNRANKS",
          "SLURM_PROCID", "SLURM_STEP_ID", "PALS_RANKID", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"})
        EXPECT_TRUE(has({{name, "0"}})) << name;
}

TEST(Launcher, TheNearestWins) {
    Variables all{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}};
    expect_view(read(all), "srun", 1, 0);
    all.insert({{"PMI_SIZE", "3"}, {"PMI_RANK", "2"}});
    expect_view(read(all), "PMI", 3, 2);
    all.insert({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}});
    expect_view(read(all), "Open MPI", 4, 1);
}

TEST(Launcher, GarbageIsPassedOver) {
    for (const char* garbage : {"", "x", "4x", "-4", " 4", "4.0", "99999999999999999999", "0"}) {
        expect_none(read({{"OMPI_COMM_WORLD_SIZE", garbage}, {"OMPI_COMM_WORLD_RANK", "0"}}));
    }
    expect_none(read({{"OMPI_COMM_WORLD_SIZE", "4"}}));
    expect_none(read({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "one"}}));
    // ... and the next launcher in the list is tried.
    expect_view(read({{"OMPI_COMM_WORLD_SIZE", "x"},
                      {"OMPI_COMM_WORLD_RANK", "0"},
                      {"PMI_SIZE", "2"},
                      {"PMI_RANK", "1"}}),
                "PMI", 2, 1);
}

// Only Open MPI aborts there.
TEST(SlurmStep, WithoutPmiCannotConnect) {
    const Variables bare{
        {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    const auto cannot = [](Variables variables) {
        return is_step_without_pmi([&](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        });
    };
#ifdef OPEN_MPI
    EXPECT_TRUE(cannot(bare));
#else
    EXPECT_FALSE(cannot(bare));
#endif
    for (const char* way : {"PMIX_RANK", "PMI_RANK", "PMI_FD", "OMPI_COMM_WORLD_RANK"}) {
        auto with = bare;
        with[way] = "1";
        EXPECT_FALSE(cannot(with)) << way;
    }
    auto one = bare;
    one["SLURM_STEP_NUM_TASKS"] = "1";
    EXPECT_FALSE(cannot(one));
    auto batch = bare;
    batch.erase("SLURM_STEP_ID");
    EXPECT_FALSE(cannot(batch));
}

}  // namespace
}  // namespace ranklab::comm
