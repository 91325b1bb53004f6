#include "train/gradient_hooks.hpp"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace ranklab::train {

// Keeps a parameter's gradient accumulator alive. The parameter holds only a weak pointer, so
// autograd would otherwise make a new accumulator, without our hook.
struct GradientHooks::Hooked {
    // A shared_ptr in LibTorch 2.11, an intrusive_ptr in 2.15.
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;
    std::uintptr_t key = 0;
};

GradientHooks::GradientHooks(const std::vector<torch::Tensor>& parameters,
                             std::function<void(std::size_t)> ready)
    : ready_(std::move(ready)) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        Hooked hooked{.accumulator = torch::autograd::impl::grad_accumulator(parameters[i])};
        hooked.key = hooked.accumulator->add_post_hook(
            std::make_unique<torch::autograd::utils::LambdaPostHook>(
                [this, i](const auto& outputs, const auto&) {
                    ready_(i);
                    return outputs;
                }));
        hooked_.push_back(std::move(hooked));
    }
}

GradientHooks::~GradientHooks() {
    for (const auto& hooked : hooked_) hooked.accumulator->del_post_hook(hooked.key);
}

}  // namespace ranklab::train
