#include "host/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/program.hpp"

namespace ranklab::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Ids = std::vector<std::string>;

/// A rank with all CPUs of [first, first + count) and a core for each.
Placement place(int rank, int first, int count, int threads, const std::string& host = "n1") {
    Placement p{.rank = rank,
                .local_rank = rank,
                .host = host,
                .cpus = {},
                .build = "ranklab 1",
                .gpus = ""};
    p.cpus.resize(static_cast<std::size_t>(count));
    std::iota(p.cpus.begin(), p.cpus.end(), first);
    p.cores = p.cpus;
    p.threads = threads;
    p.governor = "performance";
    p.quota.known = true;
    return p;
}

template <class Change>
Placement with(Placement p, Change change) {
    change(p);
    return p;
}

/// `cpus` of CPU time in a cgroup of that name.
Placement limited(Placement p, double cpus, const std::string& cgroup = "1:7") {
    p.quota.limits.push_back({cpus, cgroup});
    return p;
}

Placement on_gpu(int rank, const std::string& uuid, std::vector<int> near,
                 const std::string& host = "n1") {
    return with(place(rank, 4 * rank, 4, 1, host), [&](Placement& p) {
        p.own_gpu = {
            .name = "H100", .uuid = uuid, .pci_id = "0000:17:00.0", .cpus = std::move(near)};
    });
}

Use use(int rank, const std::string& host, double cpu_s, std::optional<double> busy_s,
        double seconds = 10) {
    return {.rank = rank,
            .host = host,
            .host_cpus = busy_s ? 2 : 0,
            .seconds = seconds,
            .cpu_s = cpu_s,
            .busy_s = busy_s};
}

Evidence launch(std::vector<Placement> placements) {
    return {.placements = std::move(placements), .own_launchers = "srun --mpi=pmix"};
}

Evidence launched(std::optional<int> launched, std::optional<int> expected, int ranks = 1) {
    Evidence evidence = launch({});
    for (int rank = 0; rank < ranks; ++rank) evidence.placements.push_back(place(rank, rank, 1, 1));
    evidence.connected = ranks;
    evidence.launcher = "Slurm's srun";
    evidence.launched = launched;
    evidence.expected = expected;
    return evidence;
}

Evidence gpus(std::vector<Placement> placements) {
    Evidence evidence = launch(std::move(placements));
    evidence.on_gpus = true;
    return evidence;
}

Ids found_in(const Evidence& evidence) {
    Ids ids;
    for (const auto& check : check_all(evidence))
        if (check.verdict == CheckState::found) ids.push_back(check.id);
    return ids;
}

CheckState verdict_on(const Evidence& evidence, const std::string& id) {
    for (const auto& check : check_all(evidence))
        if (check.id == id) return check.verdict;
    ADD_FAILURE() << id;
    return CheckState::unknown;
}

/// The only finding.
Finding finding_in(const Evidence& evidence) {
    for (const auto& check : check_all(evidence))
        if (check.verdict == CheckState::found) return check.finding;
    ADD_FAILURE() << "nothing was found";
    return {};
}

struct Row {
    const char* what;
    Evidence evidence;
    Ids ids;
    const char* detail = "";
    const char* mend = "";
};

std::vector<Row> rows() {
    const auto two = [](Placement b) { return launch({place(0, 0, 2, 2), std::move(b)}); };
    return {
        {"one rank", launch({place(0, 0, 4, 4)}), {}},
        {"own cores", two(place(1, 2, 2, 2)), {}},
        {"one cpuset, a core for each thread", launch({place(0, 0, 2, 1), place(1, 0, 2, 1)}), {}},
        {"equal CPUs of two hosts", two(place(1, 0, 2, 2, "n2")), {}},

        {"counts agree", launched(2, {}, 2), {}},
        {"no launcher is seen", launched({}, {}), {}},
        {"singletons",
         launched(8, {}),
         {"ranks-not-connected"},
         "8 processes, but MPI connects 1 rank",
         "(srun --mpi=pmix), or give --expect-ranks 1"},
        {"more than were started", launched(2, {}, 4), {"ranks-not-connected"}, "connects 4 ranks"},
        {"a singleton that is meant", launched(8, 1), {}},
        {"not as expected",
         launched(1, 2),
         {"ranks-not-connected"},
         "--expect-ranks 2 was given, but MPI connects 1 rank"},

        {"another build",
         two(with(place(1, 2, 2, 2), [](auto& p) { p.build = "ranklab 2"; })),
         {"different-builds"},
         "rank 1 on n1 runs ranklab 2, rank 0 runs ranklab 1",
         "same program"},
        {"another library",
         launch({with(place(0, 0, 2, 2),
                      [](auto& p) {
                          p.libraries = {"MPI 4", "HDF5 1"};
                      }),
                 with(place(1, 2, 2, 2),
                      [](auto& p) {
                          p.libraries = {"MPI 5", "HDF5 1"};
                      })}),
         {"different-libraries"},
         "rank 1 on n1 loaded MPI 5, rank 0 on n1 loaded MPI 4,",
         "LD_LIBRARY_PATH"},

        {"threads beyond the cpuset",
         launch({place(0, 0, 1, 2), place(1, 1, 1, 2)}),
         {"more-threads-than-cores"},
         "ranks 0-1: 2 threads on 1 core of the cpuset",
         "give --threads 1, or bind each rank to 2 cores"},
        {"ranks on the same cores",
         launch({place(0, 0, 2, 2), place(1, 0, 2, 2), place(2, 2, 4, 1)}),
         {"ranks-share-cores"},
         "n1: ranks 0-1 run 4 threads on 2 cores",
         "give --threads 1, or use fewer ranks per node"},
        {"hardware threads of the same cores",
         launch({with(place(0, 0, 2, 2),
                      [](auto& p) {
                          p.cpus = {0, 1, 8, 9};
                      }),
                 place(1, 0, 2, 2)}),
         {"ranks-share-cores"}},
        {"more ranks than cores",
         launch({place(0, 0, 2, 1), place(1, 0, 2, 1), place(2, 0, 2, 1)}),
         {"ranks-share-cores"},
         "ranks 0-2 run 3 threads on 2 cores"},

        {"within the quota", launch({limited(place(0, 0, 64, 2), 2)}), {}},
        {"threads beyond the quota",
         launch({limited(place(0, 0, 4, 4), 6), limited(place(1, 4, 4, 4), 6)}),
         {"cpu-quota"},
         "n1: the cgroup allows 6 CPUs for 8 threads of ranks 0-1",
         "give --threads 3, or raise the CPU limit"},
        {"less than a CPU",
         launch({limited(place(0, 0, 4, 1), 0.5)}),
         {"cpu-quota"},
         "0.5 CPUs for 1 thread of rank 0"},
        {"the worst host",
         launch({limited(place(0, 0, 8, 8), 4), limited(place(1, 0, 8, 8, "n2"), 2),
                 place(2, 0, 8, 8, "n3")}),
         {"cpu-quota"},
         "n2: the cgroup allows 2 CPUs for 8 threads of rank 1 (the worst of 2 such cases)"},

        {"own GPUs", gpus({on_gpu(0, "a", {0, 1}), on_gpu(1, "b", {4})}), {}},
        {"a shared GPU that is not used", launch({on_gpu(0, "a", {0}), on_gpu(1, "a", {4})}), {}},
        {"a shared GPU",
         gpus({on_gpu(0, "a", {0}), on_gpu(1, "a", {4})}),
         {"shared-gpu"},
         "H100 at 0000:17:00.0",
         "CUDA_VISIBLE_DEVICES"},
        {"a far GPU",
         gpus({on_gpu(0, "a", {0, 1}), on_gpu(1, "b", {24, 25})}),
         {"far-gpu"},
         "CPUs 24-25, the rank has CPUs 4-7",
         "--gpu-bind=closest"},

        {"shared memory of a container",
         two(with(place(1, 2, 2, 2), [](auto& p) { p.shared_memory_bytes = 65536; })),
         {"little-shared-memory"},
         "64.0 KiB for 2 ranks",
         "--shm-size"},

        {"a folder that all see", {.folder = ResultsFolder{"/p", "n1", {}}}, {}},
        {"a local folder",
         {.folder = ResultsFolder{"/tmp", "n1", {"n2"}}},
         {"local-results-folder"},
         "n1 alone, n2",
         "--output"},
        {"a folder local to one of many",
         {.folder = ResultsFolder{"/tmp", "n1", {"n2", "n3"}}},
         {"local-results-folder"},
         "n2 and 1 more"},

        {"a governor",
         two(with(place(1, 2, 2, 2), [](auto& p) { p.governor = "powersave"; })),
         {"governor"},
         "powersave",
         "cpupower"},

        {"a quiet host", {.uses = std::vector{use(0, "n1", 9, 19), use(1, "n1", 9, {})}}, {}},
        {"a busy host",
         {.uses = std::vector{use(0, "n1", 3, 20), use(1, "n1", 3, {})}},
         {"busy-cpus"},
         "1.40 of 2 CPUs",
         "--exclusive"},
        {"others on half of the only core",
         {.uses = std::vector{Use{
              .rank = 0, .host = "n1", .host_cpus = 1, .seconds = 10, .cpu_s = 5, .busy_s = 9.5}}},
         {"busy-cpus"},
         "0.45 of 1 CPU",
         "--exclusive"},
        {"too short to say", {.uses = std::vector{use(0, "n1", 0, 1, 0.5)}}, {}},
    };
}

TEST(Findings, AreNamedByTheirIds) {
    for (const auto& row : rows()) {
        EXPECT_EQ(found_in(row.evidence), row.ids) << row.what;
        if (row.ids.empty()) continue;
        const auto finding = finding_in(row.evidence);
        EXPECT_THAT(finding.what, HasSubstr(row.detail)) << row.what;
        EXPECT_THAT(finding.remedy, HasSubstr(row.mend)) << row.what;
        EXPECT_EQ(finding.fatal,
                  finding.id == "ranks-not-connected" || finding.id == "different-builds");
        EXPECT_THAT(finding.sentence(),
                    HasSubstr("; " + finding.remedy + " [" + row.ids.front() + "]"));
        EXPECT_THAT(finding.sentence(), Not(HasSubstr("{}"))) << row.what;
    }
}

TEST(Findings, AreUnknownWhereTheSystemDoesNotSay) {
    for (const auto& check : check_all({}))
        EXPECT_NE(check.verdict, CheckState::found) << check.id << ": nothing was gathered";
    const auto rank =
        with(place(0, 0, 2, 2), [](auto& p) { p.governor = "", p.quota.known = false; });
    for (const char* id :
         {"ranks-not-connected", "cpu-quota", "local-results-folder", "governor", "busy-cpus"})
        EXPECT_EQ(verdict_on(launch({rank}), id), CheckState::unknown) << id;
    for (const char* id :
         {"different-builds", "more-threads-than-cores", "ranks-share-cores", "shared-gpu"})
        EXPECT_EQ(verdict_on(launch({rank}), id), CheckState::ok) << id;
    EXPECT_EQ(verdict_on(gpus({on_gpu(0, "a", {})}), "far-gpu"), CheckState::unknown);
}

TEST(Findings, OfARunLeaveTheGovernorOut) {
    const auto rank = with(place(0, 0, 1, 2), [](auto& p) { p.governor = "powersave"; });
    EXPECT_THAT(found_in(launch({rank})), ElementsAre("more-threads-than-cores", "governor"));
    const auto findings = findings_of_run(launch({rank}));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().id, "more-threads-than-cores");
    EXPECT_THAT(findings_of_run({}), IsEmpty());
}

TEST(Findings, SayHowTheLauncherBinds) {
    auto evidence = launch({place(0, 0, 4, 4), place(1, 0, 4, 4)});
    EXPECT_THAT(finding_in(evidence).remedy,
                HasSubstr("bind each rank to 2 cores (" + base::mpirun() +
                          " --map-by slot:PE=2 --bind-to core, or srun --cpus-per-task=2) and give "
                          "--threads 2, or use fewer ranks per node"));
    evidence.launcher = "Hydra's mpiexec";
    EXPECT_THAT(finding_in(evidence).remedy, HasSubstr(base::mpirun() + " -bind-to core:2"));
}

}  // namespace
}  // namespace ranklab::host
