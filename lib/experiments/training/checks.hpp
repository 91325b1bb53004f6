// Checks of a training: a strategy sums gradients correctly over ranks, and all ranks have the same
// model.
#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "experiments/shared/verdicts.hpp"
#include "nn/model.hpp"
#include "train/gradient_sync.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {

struct GateResult {
    bool passed = false;
    /// Largest difference over the largest magnitude of a parameter's gradient; maximum over
    /// parameters and ranks.
    double worst = 0;
    double bound = 0;   ///< allowed by element type and compression
    std::string where;  ///< the parameter with the largest difference
    double norm = 0;    ///< Euclidean, over all parameters; far above 1: training diverges
};

/// The relative difference that another order of summation or a compression may cause.
double gradient_bound(torch::Dtype dtype, train::Compression compression);

/// Collective. Computes the first step's gradient twice from the same random numbers: by `sync`,
/// and by torch::autograd::grad and one blocking allreduce over `data`. Leaves parameters, buffers
/// and generators as they were; the next begin_step() drops the gradients. `sync` must be attached
/// to trained_parameters(model). Differences up to `rounding` times the gradient's largest number
/// do not count.
GateResult check_first_gradient(nn::Model& model, train::GradientSync& sync,
                                const train::TensorBatch& batch, double weight,
                                comm::Communicator& data, comm::Communicator& control, double bound,
                                double rounding);

/// Buffers (BatchNorm's running statistics) are equal only after a broadcast: each rank updates its
/// own in a step.
enum class Compared { parameters, parameters_and_buffers };

/// Compares the ranks' models bit by bit.
class RankEquality {
  public:
    /// Keeps references.
    RankEquality(const nn::Model& model, comm::Communicator& control)
        : model_(model), control_(control) {}

    /// Collective. Keeps the first difference. `when`: "after step 3".
    void compare(const std::string& when, Compared what = Compared::parameters);
    bool holds() const { return difference_.empty(); }
    /// `drift`: why the ranks may differ after the start; "": they may not.
    CheckResult verdict(const std::string& drift) const;

  private:
    std::string difference(const std::string& when, Compared what) const;

    const nn::Model& model_;
    comm::Communicator& control_;
    std::int64_t comparisons_ = 0;
    std::int64_t buffer_comparisons_ = 0;
    std::string difference_;
};

}  // namespace ranklab::experiments
