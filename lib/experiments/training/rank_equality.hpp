// Whether all ranks have the same model, bit by bit; where they have not, what differs.
#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "experiments/shared/verdicts.hpp"
#include "nn/model.hpp"

namespace ranklab::experiments {

/// What of the model is compared: buffers (BatchNorm's running statistics) are equal only where rank 0's were
/// just handed to all. In a step each rank updates its own.
enum class Compared { parameters, parameters_and_buffers };

class RankEquality {
  public:
    /// Keeps references.
    RankEquality(const nn::Model& model, comm::Communicator& control) : model_(model), control_(control) {}

    /// Collective. The first difference stands.
    void compare(const std::string& when, Compared what = Compared::parameters);
    bool holds() const { return difference_.empty(); }
    /// `drift`: why the ranks may differ after the start; "" where they may not.
    Verdict verdict(const std::string& drift) const;

  private:
    std::string difference(const std::string& when, Compared what) const;

    const nn::Model& model_;
    comm::Communicator& control_;
    std::int64_t comparisons_ = 0;
    std::int64_t buffer_comparisons_ = 0;
    std::string difference_;
};

}  // namespace ranklab::experiments
