#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

class OnePiece::Piece final : public Work {
  public:
    Piece(OnePiece& plan, const Surroundings& surroundings) : plan_(plan), surroundings_(surroundings) {}
    bool repeat() override {
        run_ = plan_.run(surroundings_);
        return false;
    }
    results::Run finish() override { return std::move(run_); }

  private:
    OnePiece& plan_;
    Surroundings surroundings_;
    results::Run run_;
};

std::unique_ptr<Work> OnePiece::begin(const Surroundings& surroundings) {
    return std::make_unique<Piece>(*this, surroundings);
}

results::Run run_whole(Plan& plan, const Surroundings& surroundings) {
    const auto work = plan.begin(surroundings);
    while (work->repeat()) {
    }
    return work->finish();
}

}  // namespace ranklab::experiments
