// The learning rate of every step: schedules, warm-up and scaling with the global batch. Pure
// functions of the number of optimizer steps; docs/learning_rate.md derives them. No torch in here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::train {

enum class LrShape {
    none,  ///< constant
    step,  ///< x gamma^epoch
    /// Half a cosine from the end of the warm-up to the last step, which has end_lr.
    cosine,
    cosine_published  ///< as the U-Net tutorial's code has it: never reaches end_lr after a warm-up
};
/// Scaling of the first rate with the global batch: x 1, x sqrt(global / base), x global / base.
enum class LrScaling { none, sqrt, linear };

/// The names that users type, in the enumerations' order.
const std::vector<std::string>& lr_shape_names();
const std::vector<std::string>& lr_scaling_names();
/// OptionError for a name that is none of those.
LrShape lr_shape_named(const std::string& name);
LrScaling lr_scaling_named(const std::string& name);
bool is_cosine(LrShape shape);

struct LrSettings {
    LrShape shape = LrShape::none;
    LrScaling scaling = LrScaling::none;
    double lr = 0;      ///< for the base batch
    double end_lr = 0;  ///< of the cosines
    double gamma = 1;   ///< of `step`
    std::int64_t global_batch = 1;
    std::int64_t base_batch = 1;
    /// The steps of the warm-up, only where the rate is scaled and global_batch > base_batch.
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 0;  ///< over which the cosines fall, warm-up included
};

class LrSchedule {
  public:
    /// OptionError for a cosine over no steps.
    explicit LrSchedule(const LrSettings& settings);

    /// The rate of the step after `made` optimizer steps that changed the parameters. A skipped
    /// step does not count, so that the next one has the same rate. `epoch` from 0.
    double rate(std::int64_t made, std::int64_t epoch) const;

    /// The scaled lr: the highest rate, at the end of the warm-up.
    double initial() const { return initial_; }
    /// 0 where the published condition (scaled, and a global batch above the base) does not hold.
    std::int64_t warmup_steps() const { return warmup_; }
    std::int64_t total_steps() const { return settings_.total_steps; }

  private:
    double cosine(double numerator, double denominator) const;

    LrSettings settings_;
    double initial_;
    std::int64_t warmup_;
};

/// The range of a schedule's rates over `steps` steps without epochs, shown before the run.
struct LrRange {
    double first = 0, highest = 0, last = 0;
};
LrRange lr_range(const LrSchedule& schedule, std::int64_t steps);

/// StepLR(step_size = 1, gamma): base * gamma^epoch.
double step_lr(double base, double gamma, std::int64_t epoch);

/// Returns lr x sqrt(global / base), lr x global / base, or lr.
double scaled_lr(double lr, LrScaling scaling, std::int64_t global_batch, std::int64_t base_batch);

/// The published form's denominator: epochs x (samples / global batch), the quotient rounded down.
/// 0 where there are fewer samples than one global batch.
std::int64_t published_total_steps(std::int64_t epochs, std::int64_t samples,
                                   std::int64_t global_batch);

}  // namespace ranklab::train
