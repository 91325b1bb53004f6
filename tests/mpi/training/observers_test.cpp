// A training run with every observer on: all ranks make the same collectives in the same order, and
// the losses are those of a run without observers, bit by bit.
#include "experiments/training/observer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "mpi/shared_folder.hpp"
#include "mpi_world.hpp"
#include "quiet_progress.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;

/// Passes everything on to world(), and notes each collective with its bytes.
class NotedWorld final : public comm::Communicator {
  public:
    int rank() const override { return world().rank(); }
    int world_size() const override { return world().world_size(); }
    int local_rank() const override { return world().local_rank(); }
    int local_size() const override { return world().local_size(); }
    void barrier() override {
        note("barrier", 0);
        world().barrier();
    }
    void run(const comm::Transfer& transfer) override {
        note(comm::name_of(transfer.operation), transfer.send.bytes() + transfer.receive.bytes());
        world().run(transfer);
    }
    comm::Request start(const comm::Transfer& transfer) override {
        note("start", transfer.receive.bytes());
        return world().start(transfer);
    }
    std::unique_ptr<comm::Communicator> split(int color, int key) override {
        note("split", 0);
        return world().split(color, key);
    }

    std::string calls;

  private:
    void note(std::string_view name, std::size_t bytes) {
        calls += fmt::format("{} {}\n", name, bytes);
    }
};

struct Made {
    results::Run run;
    std::string calls;
};

Made trained(const std::string& more) {
    auto training = train_experiment();
    const auto words = base::split(
        "--data synthetic --train-samples 96 --validation-samples 12 --width 4 --batch-size 4 "
        "--steps 24 --warmup 2 --workers 0 --device cpu --threads 1 " +
            more,
        ' ');
    const auto given =
        options::Options::parse(training.options.append(vocabulary::common_settings()), words);
    Made made;
    NotedWorld noted;
    testing::QuietProgress quiet;
    const auto plan = training.settle(given, given.fields<vocabulary::CommonSettings>(), world());
    made.run = plan.run({.control = noted, .progress = quiet}).all.front();
    made.calls = noted.calls;
    return made;
}

std::vector<double> losses(const results::Run& run) {
    const auto& loss = *run.find("train_loss");
    auto all = loss.warmup;
    all.insert(all.end(), loss.samples.begin(), loss.samples.end());
    return all;
}

TEST(Observers, AreOffInAPlainRun) {
    const auto plain = trained("--evaluate off --overlap-steps 0");
    EXPECT_TRUE(plain.run.valid);
    for (const char* name : {"lines", "layers", "operators", "convergence"})
        EXPECT_EQ(plain.run.find_table(name), nullptr) << name;
}

// --checkpoint and --target-ci exclude each other.
TEST(Observers, MakeTheirCollectivesInOneOrderAndChangeNoLoss) {
    const auto plain = losses(trained("--evaluate off --overlap-steps 0").run);
    ASSERT_EQ(plain.size(), 26U);
    const std::string overlap = world().world_size() > 1 ? "6" : "0";
    for (const std::string last :
         {"--checkpoint {0}/saved --checkpoint-every 7", "--target-ci 99%"}) {
        SCOPED_TRACE(last);
        const testing::SharedFolder folder;
        const auto watched = trained(fmt::format(
            fmt::runtime("--profile lines,layers --trace {0}/t.json --trace-window 5:2 "
                         "--tensorboard {0}/curves --evaluate epoch --check-parameters step "
                         "--save-parameters {0}/parameters.h5 --time-limit 3600 --overlap-steps " +
                         overlap + " " + last),
            folder.path().string()));
        EXPECT_TRUE(comm::is_same_everywhere(world(), watched.calls));
        EXPECT_TRUE(watched.run.valid);
        auto seen = losses(watched.run);
        seen.resize(plain.size());
        EXPECT_EQ(seen, plain);
        for (const char* name : {"verification", "phases", "lines", "layers", "epochs"})
            EXPECT_NE(watched.run.find_table(name), nullptr) << name;
    }
}

}  // namespace
}  // namespace ranklab::experiments
