// --evaluate: loss and accuracy of the test samples, at the end of epochs or of the run.
#include <fmt/format.h>

#include "base/numbers.hpp"
#include "base/progress.hpp"
#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

class Evaluation final : public StepObserver {
  public:
    explicit Evaluation(ObservedRun& observed)
        : StepObserver(observed), when_(*observed.options.settings.evaluate) {}

    // Evaluates no failed run. The time limit or a stop signal ends an evaluation.
    bool goes_on(const MadeStep& made, bool last) override {
        const bool due = when_ == "epoch" ? last || observed_.schedule.ends_epoch(made.step)
                                          : last && when_ == "end";
        auto& end = observed_.end;
        if (!due || end.failed || (!end.interrupted() && evaluate(made.step))) return true;
        end.ended_by = end.signal();
        end.at_time_limit = end.ended_by == 0 && !end.enough;
        if (made.step + 1 == observed_.schedule.total || end.enough)
            end.missing = "the evaluation was made";
        return false;
    }

    std::optional<CheckResult> check() const override {
        const std::string check = "test samples counted once";
        if (when_ == "off")
            return CheckResult{check, CheckOutcome::does_not_apply, "--evaluate off"};
        if (samples_ < 0)
            return CheckResult{check, CheckOutcome::not_verified,
                               "no evaluation was made" + why_none()};
        const auto wanted = observed_.data.test->size();
        return CheckResult{check, samples_ == wanted ? CheckOutcome::passed : CheckOutcome::failed,
                           fmt::format("{} of {} test samples were evaluated", samples_, wanted)};
    }

    void fill(results::Run&, RankMeasurements& of_ranks) override {
        if (observed_.options.input == Input::io_only) return;
        const auto& all = observed_.validations;
        of_ranks.add_equal(vocabulary::kTestLoss, "epoch", all, &Validation::loss, "mean");
        const bool classifies = !all.empty() && !std::isnan(all.front().accuracy);
        of_ranks.add_equal(vocabulary::kAccuracy, "epoch",
                           std::span(all).first(classifies ? all.size() : 0), &Validation::accuracy,
                           "sum/sum");
    }

  private:
    // Returns false if the evaluation was interrupted.
    bool evaluate(std::int64_t step) {
        observed_.around.progress.activity("evaluating the test samples");
        const base::Annotation mark("evaluate");
        const auto hit = observed_.lines.hit(&LineTimes::evaluation);
        observed_.steps.broadcast_buffers();
        observed_.steps.sync().complete_parameters();
        observed_.end.restart();
        const auto start = base::Clock::now();
        const auto mine = evaluated_part();
        observed_.end.restart();
        if (observed_.end.interrupted()) return false;
        double sums[] = {mine.loss, mine.correct, base::real(mine.count)};
        observed_.control.allreduce(comm::view(std::span(sums)), comm::ReduceOp::sum);
        samples_ = static_cast<std::int64_t>(sums[2]);
        if (samples_ != observed_.data.test->size()) observed_.end.failed = true;
        const bool of_classes = observed_.data.test->layout().target.element == data::Element::i64;
        observed_.validations.push_back(
            {.step = step,
             .seconds = base::seconds_since(start),
             .loss = sums[0] / sums[2],
             .accuracy = of_classes ? sums[1] / sums[2] : stats::kNone});
        return true;
    }

    train::EvaluationSums evaluated_part() {
        const auto& test = *observed_.data.test;
        const auto ranks = observed_.control.world_size();
        const std::int64_t batch = *observed_.options.settings.eval_batch_size;
        const std::int64_t largest_part = base::share_of(test.size(), 0, ranks).count;
        return train::evaluate(
            observed_.model, test, base::share_of(test.size(), observed_.control.rank(), ranks),
            loader_config(observed_.options, batch), observed_.steps.converter(),
            [this] {
                base::count_progress();
                return !observed_.end.asked();
            },
            (largest_part + batch - 1) / batch);
    }

    std::string why_none() const {
        const auto& end = observed_.end;
        if (end.failed) return "";
        return end.late()          ? ": the time limit was over"
               : end.interrupted() ? ": the run was stopped"
                                   : "";
    }

    std::string when_;
    std::int64_t samples_ = -1;  // over all ranks, of the last evaluation
};

}  // namespace

ObserverEntry evaluation_entry() {
    return {.make = make_observer<Evaluation>};
}

}  // namespace ranklab::experiments
