#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// The naive baseline: one blocking allreduce per parameter after the whole backward pass.
class PerParameterSync final : public GradientSync {
  public:
    explicit PerParameterSync(comm::Communicator& comm) : comm_(comm) {}

    void attach(std::vector<torch::Tensor> parameters) override { parameters_ = std::move(parameters); }
    void begin_step(bool sync) override {
        if (sync) drop_gradients(parameters_);
    }
    void finish() override {
        define_gradients(parameters_);
        for (const auto& parameter : parameters_) {
            torch::Tensor gradient = parameter.grad();
            // A gradient may come out strided (a transposed view): a collective needs it dense.
            if (!gradient.is_contiguous()) parameter.mutable_grad() = gradient = gradient.contiguous();
            comm_.allreduce(view_of(gradient), comm::ReduceOp::sum);
        }
    }

  private:
    comm::Communicator& comm_;
    std::vector<torch::Tensor> parameters_;
};

}  // namespace

SyncEntry per_parameter_entry() {
    return {.name = "per-parameter",
            .summary = "one blocking allreduce per parameter after backward (the naive baseline)",
            .keeps_ranks_equal = true,
            .make = [](comm::Communicator& comm) -> std::unique_ptr<GradientSync> {
                return std::make_unique<PerParameterSync>(comm);
            }};
}

}  // namespace ranklab::train
