// The base of gradient syncs that reduce after backward.
#pragma once

#include <utility>
#include <vector>

#include "train/gradient_sync.hpp"

namespace ranklab::train {

/// A strategy that reduces after backward: finish() calls reduce(), which sums tensors by
/// reduce_now().
class BlockingSync : public GradientSync {
  public:
    void attach(std::vector<torch::Tensor> parameters) override {
        parameters_ = std::move(parameters);
    }
    void begin_step(const std::vector<torch::Tensor>& outputs, bool sync) final;
    void finish() final;
    const std::vector<ReductionStamp>& stamps() const final { return stamps_; }

  protected:
    /// Makes the gradients zero or undefined.
    virtual void clear();
    virtual void reduce() = 0;
    /// Makes a blocking allreduce in place and appends its stamp; on a GPU `moving` and `end` are
    /// 0.
    void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor);

    std::vector<torch::Tensor> parameters_;

  private:
    std::vector<ReductionStamp> stamps_;
    bool fresh_ = true;
};

}  // namespace ranklab::train
