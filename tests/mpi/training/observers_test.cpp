// A training run with every observer on: all ranks make the same collectives in the same order, and
// the losses are those of a run without observers, bit by bit.
#include "experiments/training/observer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/training.hpp"
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
    std::string backend() const override { return world().backend(); }
    void barrier() override {
        note("barrier", 0);
        world().barrier();
    }
    void broadcast(comm::BufferView buffer, int root) override {
        note("broadcast", buffer.bytes());
        world().broadcast(buffer, root);
    }
    void allreduce(comm::BufferView buffer, comm::ReduceOp op) override {
        note("allreduce", buffer.bytes());
        world().allreduce(buffer, op);
    }
    comm::Request start_allreduce(comm::BufferView buffer, comm::ReduceOp op) override {
        note("start_allreduce", buffer.bytes());
        return world().start_allreduce(buffer, op);
    }
    void allgather(comm::BufferView send, comm::BufferView receive) override {
        note("allgather", send.bytes());
        world().allgather(send, receive);
    }
    void reduce_scatter(comm::BufferView send, comm::BufferView receive,
                        comm::ReduceOp op) override {
        note("reduce_scatter", send.bytes());
        world().reduce_scatter(send, receive, op);
    }
    std::unique_ptr<comm::Communicator> split(int color, int key) override {
        note("split", 0);
        return world().split(color, key);
    }

    std::string calls;

  private:
    void note(const char* name, std::size_t bytes) { calls += fmt::format("{} {}\n", name, bytes); }
};

struct Made {
    results::Run run;
    std::string calls;
};

Made trained(const std::vector<std::string>& more) {
    const Training training;
    options::Schema schema;
    training.describe(schema);
    auto words = base::split(
        "--data synthetic --train-samples 96 --validation-samples 12 --width 4 --batch-size 4 "
        "--steps 24 --warmup 2 --workers 0 --device cpu --threads 1",
        ' ');
    words.insert(words.end(), more.begin(), more.end());
    const auto given = options::Options::parse(schema.append(vocabulary::common_settings()), words);
    Made made;
    NotedWorld noted;
    testing::QuietProgress quiet;
    const auto plan = training.settle(given, given.fields<vocabulary::CommonSettings>(), world());
    made.run = plan->run({.control = noted, .progress = quiet}).all.front();
    made.calls = noted.calls;
    return made;
}

std::vector<double> losses(const results::Run& run) {
    const auto& loss = *run.find("train_loss");
    auto all = loss.warmup;
    all.insert(all.end(), loss.samples.begin(), loss.samples.end());
    return all;
}

class Observers : public ::testing::Test {
  protected:
    // --target-ci goes with no checkpoint.
    std::vector<std::string> all_on(const std::string& last) const {
        const auto in = [this](const char* name) { return (folder_.path() / name).string(); };
        std::vector<std::string> words{"--profile",
                                       "lines,layers",
                                       "--trace",
                                       in("t.json"),
                                       "--trace-window",
                                       "5:2",
                                       "--tensorboard",
                                       in("curves"),
                                       "--evaluate",
                                       "epoch",
                                       "--check-parameters",
                                       "step",
                                       "--save-parameters",
                                       in("parameters.h5"),
                                       "--time-limit",
                                       "3600"};
        if (world().world_size() > 1) words.insert(words.end(), {"--overlap-steps", "6"});
        if (last == "checkpoint")
            words.insert(words.end(), {"--checkpoint", in("saved"), "--checkpoint-every", "7"});
        else
            words.insert(words.end(), {"--target-ci", "100000%"});
        return words;
    }
    testing::SharedFolder folder_;
};

TEST_F(Observers, AreOffInAPlainRun) {
    const auto plain = trained({"--evaluate", "off", "--overlap-steps", "0"});
    EXPECT_TRUE(plain.run.valid);
    for (const char* name : {"lines", "layers", "operators", "convergence"})
        EXPECT_EQ(plain.run.find_table(name), nullptr) << name;
}

TEST_F(Observers, MakeTheirCollectivesInOneOrderAndChangeNoLoss) {
    const auto plain = trained({"--evaluate", "off", "--overlap-steps", "0"});
    ASSERT_EQ(losses(plain.run).size(), 26U);
    for (const std::string last : {"checkpoint", "target-ci"}) {
        SCOPED_TRACE(last);
        const auto watched = trained(all_on(last));
        EXPECT_TRUE(comm::is_same_everywhere(world(), watched.calls));
        EXPECT_EQ(losses(watched.run), losses(plain.run));
        EXPECT_TRUE(watched.run.valid);
        EXPECT_EQ(watched.run.exit_code, 0);
        for (const char* name : {"verification", "phases", "lines", "layers", "epochs"})
            EXPECT_NE(watched.run.find_table(name), nullptr) << name;
    }
}

}  // namespace
}  // namespace ranklab::experiments
