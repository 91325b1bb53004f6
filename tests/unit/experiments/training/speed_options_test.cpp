// Where a run computes, on machines with none, one and several GPUs: by a double of their number.
#include "experiments/training/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "options/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::HasSubstr;

// As they are where mode and sync have been settled.
vocabulary::TrainingSettings settings_of(const std::string& mode, std::vector<std::string> words) {
    words.insert(words.end(), {"--mode", mode, "--sync", mode == "ddp" ? "bucketed" : "none"});
    options::Schema rows = vocabulary::training_settings();
    rows.offer("sync", {"none", "bucketed", "c10d"}).offer("backend", {"mpi", "nccl"});
    return options::Options::parse(rows, words).fields<vocabulary::TrainingSettings>();
}

struct Settled {
    bool cuda;
    std::string replicas, backend;
};

Settled settled(const std::string& mode, std::vector<std::string> words, std::int64_t gpus) {
    auto settings = settings_of(mode, std::move(words));
    settle_speed(settings, 1, [gpus] { return gpus; });
    const auto& replicas = settings.replicas;
    return {settings.device == "cuda", replicas ? std::to_string(*replicas) : "none",
            *settings.backend};
}

void expect(const Settled& is, bool cuda, const std::string& replicas, const std::string& backend) {
    EXPECT_EQ(is.cuda, cuda);
    EXPECT_EQ(is.replicas, replicas);
    EXPECT_EQ(is.backend, backend);
}

TEST(SettleSpeed, ARankComputesOnOneGpuWhereThereIsOne) {
    expect(settled("single", {}, 0), false, "none", "mpi");
    expect(settled("single", {}, 4), true, "none", "mpi");
    expect(settled("ddp", {}, 4), true, "none", "nccl");
    expect(settled("single", {"--device", "cpu"}, 4), false, "none", "mpi");
    expect(settled("single", {"--device", "auto"}, 0), false, "none", "mpi");
    expect(settled("single", {"--device", "auto"}, 4), true, "none", "mpi");
}

TEST(SettleSpeed, DpTakesAllGpusUnlessToldHowMany) {
    expect(settled("dp", {}, 0), false, "2", "mpi");
    expect(settled("dp", {}, 1), true, "1", "mpi");
    expect(settled("dp", {}, 4), true, "4", "mpi");
    expect(settled("dp", {"--replicas", "2"}, 4), true, "2", "mpi");
    expect(settled("dp", {"--device", "cpu"}, 4), false, "2", "mpi");
}

// By itself it goes to the CPU; asked for GPUs it is refused once it looks for them (too_few_gpus).
TEST(SettleSpeed, DpWithMoreReplicasThanGpusDoesNotTakeThemByItself) {
    expect(settled("dp", {"--replicas", "3"}, 2), false, "3", "mpi");
    expect(settled("dp", {"--replicas", "3", "--device", "cuda"}, 2), true, "3", "mpi");
    expect(settled("dp", {"--device", "cuda"}, 0), true, "2", "mpi");
}

TEST(TooFewGpus, SaysHowManyThereAre) {
    EXPECT_EQ(too_few_gpus(1, 1, ""), "");
    EXPECT_EQ(too_few_gpus(2, 8, ""), "");
    EXPECT_THAT(too_few_gpus(4, 2, ""), HasSubstr("--replicas 2"));
    EXPECT_THAT(too_few_gpus(1, 0, "there is no driver"), HasSubstr("there is no driver"));
}

}  // namespace
}  // namespace ranklab::experiments
