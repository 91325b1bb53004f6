#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {
namespace {

class WholeRun final : public Work {
  public:
    WholeRun(Experiment& experiment, const Surroundings& surroundings)
        : experiment_(experiment), surroundings_(surroundings) {}
    bool repeat() override {
        run_ = experiment_.run(surroundings_);
        return false;
    }
    results::Run finish() override { return std::move(run_); }

  private:
    Experiment& experiment_;
    Surroundings surroundings_;
    results::Run run_;
};

}  // namespace

std::unique_ptr<Work> Experiment::begin(const Surroundings& surroundings) {
    return std::make_unique<WholeRun>(*this, surroundings);
}

}  // namespace ranklab::experiments
