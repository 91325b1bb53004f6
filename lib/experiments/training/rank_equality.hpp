// Whether all ranks have the same model, bit by bit; where they have not, what is known of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/shared/verdicts.hpp"
#include "nn/model.hpp"

namespace ranklab::experiments {

/// What of the model is compared: buffers (BatchNorm's running statistics) are equal only where rank 0's were
/// just handed to all. In a step each rank updates its own.
enum class Compared { parameters, parameters_and_buffers };

class RankEquality {
  public:
    /// Keeps references. `data` is what sums the gradients.
    RankEquality(const nn::Model& model, comm::Communicator& control, comm::Communicator& data)
        : model_(model), control_(control), data_(data) {}

    /// Collective. The first difference stands: it is looked into once. Rank 0 judges for all: where a
    /// collective hands different values to the ranks, they go the same way all the same.
    void compare(const std::string& when, Compared what = Compared::parameters);
    bool holds() const { return difference_.empty(); }
    /// `drift`: why the ranks may differ after the start; "" where they may not.
    Verdict verdict(const std::string& drift) const;

  private:
    bool found_by_any(bool mine);
    std::string look_into(const std::string& when, Compared what);
    std::string cause();
    std::vector<int> ranks_with_wrong_sums();

    const nn::Model& model_;
    comm::Communicator& control_;
    comm::Communicator& data_;
    std::int64_t comparisons_ = 0;
    std::int64_t buffer_comparisons_ = 0;
    std::string difference_;
};

}  // namespace ranklab::experiments
