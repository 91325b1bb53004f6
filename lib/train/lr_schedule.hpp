// The learning rate of every step: schedules, warm-up and scaling with the global batch. Pure
// functions of the number of optimizer steps, derived in docs/learning_rate.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ranklab::train {

enum class LrShape {
    none,  ///< constant
    step,  ///< x gamma^epoch, as PyTorch's StepLR(step_size = 1, gamma)
    /// Half a cosine from the end of the warm-up to end_lr at the last step.
    cosine,
    cosine_published  ///< as in the U-Net tutorial's code: never reaches end_lr after a warm-up
};
/// Factors of the initial rate: 1, sqrt(global batch / base batch), global batch / base batch.
enum class LrScaling { none, sqrt, linear };

/// The options' values, in the enumerations' order.
inline constexpr std::array<std::string_view, 4> kLrShapes{"none", "step", "cosine",
                                                           "cosine-published"};
inline constexpr std::array<std::string_view, 3> kLrScalings{"none", "sqrt", "linear"};

constexpr bool is_cosine(LrShape shape) {
    return shape == LrShape::cosine || shape == LrShape::cosine_published;
}

struct LrSettings {
    LrShape shape = LrShape::none;
    LrScaling scaling = LrScaling::none;
    double lr = 0;      ///< for the base batch
    double end_lr = 0;  ///< used by LrShape::cosine and cosine_published
    double gamma = 1;   ///< used by LrShape::step
    std::int64_t global_batch = 1;
    std::int64_t base_batch = 1;
    /// In effect only if the rate is scaled and global_batch > base_batch.
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 0;  ///< length of the cosines, including the warm-up
};

class LrSchedule {
  public:
    /// Throws OptionError for a cosine over 0 steps.
    explicit LrSchedule(const LrSettings& settings);

    /// The rate of the next step after `made` optimizer steps. Skipped steps (GradScaler) do not
    /// count. `epoch` from 0.
    double rate(std::int64_t made, std::int64_t epoch) const;

    /// The scaled lr, reached at the end of the warm-up.
    double initial() const { return initial_; }
    /// 0 unless the rate is scaled and the global batch is above the base batch.
    std::int64_t warmup_steps() const { return warmup_; }

  private:
    double cosine(double numerator, double denominator) const;

    LrSettings settings_;
    double initial_;
    std::int64_t warmup_;
};

}  // namespace ranklab::train
