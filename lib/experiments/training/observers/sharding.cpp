// --zero: the bytes that a rank sends and holds, next to those that the stage's theory predicts.
#include <algorithm>

#include "experiments/training/observer.hpp"
#include "measure/samples.hpp"
#include "train/equal_state.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

class Sharding final : public StepObserver {
  public:
    explicit Sharding(ObservedRun& observed)
        : StepObserver(observed),
          sync_(dynamic_cast<train::ShardedSync&>(observed.steps.sync())),
          ranks_(observed.control.world_size()),
          predicted_(train::predict_bytes(observed.model, observed.options.zero(), ranks_,
                                          observed.options.bucket_cap(),
                                          optimizer_states(observed.options))) {}

    void before(std::int64_t) override { exposed_before_ = sync_.gather_exposed_s(); }
    void after(const MadeStep&) override {
        steps_.push_back({sync_.gather_exposed_s() - exposed_before_, sent_by(sync_.stamps()),
                          sent_by(sync_.gather_stamps())});
    }

    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        const auto warmup = observed_.warmup_rows();
        of_ranks.add("gather_exposed_time_s", "step", steps_, &Step::exposed_s, warmup);
        of_ranks.add("sent_bytes_per_step", "step", steps_, &Step::sent, warmup);
        add_memory(run);
        if (!steps_.empty()) add_sent(run);
    }

  private:
    struct Sent {
        std::int64_t calls = 0;
        double bytes = 0;
    };
    struct Step {
        double exposed_s = 0;
        Sent scattered, gathered;

        double sent() const { return scattered.bytes + gathered.bytes; }
    };

    // A rank sends this share of a buffer that is scattered or gathered.
    double share() const { return base::real(ranks_ - 1) / ranks_; }
    Sent sent_by(const std::vector<train::ReductionStamp>& stamps) const {
        Sent sent{.calls = std::ssize(stamps)};
        for (const auto& stamp : stamps) sent.bytes += share() * base::real(stamp.bytes);
        return sent;
    }

    // Adds the table `sharding_memory`, maxima over ranks.
    void add_memory(results::Run& run) const {
        const auto held = sync_.held();
        std::int64_t state = 0;
        for (const auto& kind : observed_.steps.optimizer().state())
            state += train::bytes_of(kind.tensors);
        const auto measured = measure::largest_of_ranks(
            observed_.control, {base::real(held.parameters), base::real(held.gradients),
                                base::real(state), base::real(held.blocks)});
        results::Rows table("sharding_memory");
        const auto add = [&](const char* part, std::int64_t predicted, double bytes) {
            table.add({std::string(part), predicted, static_cast<std::int64_t>(bytes)});
        };
        add("parameters", predicted_.parameters, measured[0]);
        add("gradients", predicted_.gradients, measured[1]);
        add("optimizer", predicted_.optimizer, measured[2]);
        add("blocks", predicted_.blocks, measured[3]);
        run.tables.push_back(std::move(table).table());
    }

    // Takes the step that sent most: an epoch's last step may have fewer micro-batches.
    void add_sent(results::Run& run) const {
        const auto stage = observed_.options.settings.zero;
        const double parameters =
            share() * base::real(train::bytes_of(train::trained_parameters(observed_.model)));
        const double padded = share() * base::real(predicted_.gradients * (stage > 1 ? ranks_ : 1));
        const double rounds = stage > 1 ? base::real(observed_.options.settings.accumulate) : 1;
        const auto& step = *std::ranges::max_element(steps_, {}, &Step::sent);
        results::Rows table("sharding_bytes");
        const auto add = [&](const char* operation, const Sent& sent, double times) {
            table.add({std::string(operation), sent.calls, sent.bytes, times * parameters,
                       times * (padded - parameters), times * padded - sent.bytes});
        };
        add("reduce_scatter", step.scattered, rounds);
        add("allgather", step.gathered, stage == 3 ? 2 * rounds : 1);
        run.tables.push_back(std::move(table).table());
    }

    train::ShardedSync& sync_;
    int ranks_;
    train::ShardedBytes predicted_;
    double exposed_before_ = 0;
    std::vector<Step> steps_;
};

}  // namespace

ObserverEntry sharding_entry() {
    return {.wanted =
                [](auto& options) {
                    return options.settings.zero > 0 && options.input != Input::io_only;
                },
            .make = make_observer<Sharding>};
}

}  // namespace ranklab::experiments
