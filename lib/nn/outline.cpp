#include "nn/outline.hpp"

#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "nn/own_network.hpp"

namespace ranklab::nn {

// LibTorch's backend "meta" computes shapes only. Adds its key to every operation of this thread;
// of an operation's keys LibTorch takes the one of highest priority, meta before CPU. Factories
// (empty) still return CPU tensors, but nothing writes to these, so they take no physical memory.
UninitialisedScope::UninitialisedScope() {
    c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Meta, true);
}

// LibTorch has no copy_ for the meta backend.
TORCH_LIBRARY_IMPL(aten, Meta, library) {
    library.impl("copy_",
                 [](at::Tensor& to, const at::Tensor&, bool) -> at::Tensor& { return to; });
}

namespace {

// The state of forward_flops, thread-local because LibTorch's callbacks are plain functions.
struct Count {
    std::int64_t samples = 0;
    std::int64_t flops = 0;
    bool inside = false;  ///< within a counted operation, whose inner operations do not count
};
thread_local Count* counting = nullptr;

struct Call final : at::ObserverContext {
    explicit Call(std::unique_ptr<Products> of) : products(std::move(of)) {}
    std::unique_ptr<Products> products;
};

std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& function) {
    if (counting->inside) return nullptr;
    auto products = products_of(function);
    if (!products) return nullptr;
    counting->inside = true;
    return std::make_unique<Call>(std::move(products));
}

void after(const at::RecordFunction& function, at::ObserverContext* context) {
    if (context == nullptr) return;
    const auto& products = *static_cast<const Call&>(*context).products;
    const std::int64_t rows = counting->samples > 0 ? products.rows / counting->samples : 1;
    counting->inside = false;
    counting->flops += 2 * products.macs_of_row(function) * rows;
}

void set_flops_per_token(Outline& outline, double flops, const char* source) {
    outline.flops_per_token = flops;
    outline.mfu_formula =
        fmt::format("MFU = {:.6g} FLOPs per token ({}) x tokens/s / peak", flops, source);
}

}  // namespace

// Keeps gradients on: without them LibTorch runs a transformer's layer as one uncounted operation.
std::int64_t forward_flops(Model& model, const torch::Tensor& batch) {
    const bool was_training = model.is_training();
    model.eval();
    Count counted{.samples = batch.size(0)};
    counting = &counted;
    {
        const OperationCallbacks callbacks(at::RecordFunctionCallback(before, after)
                                               .needsInputs(true)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
        model.forward(batch);
    }
    model.train(was_training);
    return counted.flops;
}

Outline outline_of(const ModelEntry& entry, const ModelConfig& config) {
    const auto model = [&] {
        if (entry.from_file) return entry.make(config);
        const UninitialisedScope scope;
        return entry.make(config);
    }();
    const auto weights = model->parameters();
    Outline outline{.parameters = parameter_count(*model)};
    if (entry.flops) {
        const auto [forward, training] = entry.flops(config, outline.parameters);
        outline.forward_flops = forward;
        set_flops_per_token(outline, training,
                            "6 N + 12 layers x heads x head x tokens, N "
                            "parameters without embeddings");
    } else {
        const auto floating = std::ranges::find_if(
            weights, [](const auto& weight) { return weight.is_floating_point(); });
        const auto type = floating == weights.end() ? torch::kFloat : floating->scalar_type();
        const auto flops_with = [&](std::int64_t samples) {
            return forward_flops(*model, sample_input(config.input, samples, type));
        };
        // An empty batch costs no time. A user's own network gets one sample instead: an empty
        // batch does not show how many rows a sample of tokens has, and a trace may fix the batch
        // size. A norm that has only the batch's statistics needs two samples.
        try {
            outline.forward_flops = flops_with(config.input.is_own() ? 1 : 0);
        } catch (const base::DataError&) {
            outline.forward_flops = flops_with(2);
        }
        if (config.input.is_tokens())
            set_flops_per_token(outline,
                                3.0 * static_cast<double>(outline.forward_flops) /
                                    static_cast<double>(config.input.usual_size()),
                                "3 x the matrix products of forward");
    }
    for (const auto& weight : weights) {
        outline.convolves |= weight.dim() >= 4;
        outline.breaks_channels_last |=
            weight.dim() == 4 && weight.size(2) * weight.size(3) == 1 && weight.size(1) < 8;
    }
    return outline;
}

void settle_mfu(Outline& outline, std::optional<double> flops_per_token) {
    if (outline.mfu_formula.empty())
        throw base::OptionError(
            "FLOPs per token and a peak are for language models; leave the options out",
            {"flops-per-token", "peak-tflops"});
    if (flops_per_token) set_flops_per_token(outline, *flops_per_token, "as given");
}

}  // namespace ranklab::nn
