// The checks before and between steps: a strategy sums gradients correctly over ranks,
// and all ranks have the same model.
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
    /// Largest difference / largest magnitude of that parameter's gradient, over all ranks.
    double worst = 0;
    double bound = 0;   ///< what the element type (and compression) allows
    std::string where;  ///< the parameter with the worst one
    double norm = 0;    ///< the gradient's, over all parameters: far above 1 nothing can be learned
};

/// The relative difference that another order of summation, or compression to fewer bits, may
/// cause.
double gradient_bound(torch::Dtype dtype, train::Compression compression);

/// Collective. Makes the first step's gradient twice from the same random numbers: by `sync`, and
/// from torch::autograd::grad and one blocking allreduce over `data` (what --sync flat does).
/// Leaves parameters, buffers and the generator as they were; the gradients are left to the next
/// begin_step(). `sync` must be attached to trained_parameters(model). A difference of up to
/// `rounding` times the gradient's largest number is none.
GateResult check_first_gradient(nn::Model& model, train::GradientSync& sync,
                                const train::TensorBatch& batch, double weight,
                                comm::Communicator& data, comm::Communicator& control, double bound,
                                double rounding);

/// The compared parts of the model: buffers (BatchNorm's running statistics) are equal only after a
/// broadcast from rank 0, since each rank updates its own in a step.
enum class Compared { parameters, parameters_and_buffers };

/// Whether all ranks have the same model, bit by bit; where they have not, what differs.
class RankEquality {
  public:
    /// Keeps references.
    RankEquality(const nn::Model& model, comm::Communicator& control)
        : model_(model), control_(control) {}

    /// Collective. The first difference stands.
    void compare(const std::string& when, Compared what = Compared::parameters);
    bool holds() const { return difference_.empty(); }
    /// `drift`: why the ranks may differ after the start; "" where they may not.
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
