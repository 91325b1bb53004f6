#include "train/layer_profile.hpp"

#include <ATen/SequenceNumber.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/AutogradState.h>

#include <algorithm>
#include <memory>
#include <span>

namespace ranklab::train {
namespace {

// The profile of this thread, for LibTorch's callbacks, which are plain functions called by any
// thread.
thread_local LayerProfile* profiled = nullptr;

std::string owner_of(const std::string& parameter) {
    const auto dot = parameter.rfind('.');
    return dot == std::string::npos ? "(top)" : parameter.substr(0, dot);
}

// Names the row of the attention after a layer: attention has no parameters, thus no own name.
std::string attention_after(const std::string& layer) {
    return layer.substr(0, layer.rfind('.') + 1) + "attention";
}

// Returns the addresses of the inputs' storages, since the inputs are gone after the operation.
std::vector<const void*> storages_of(const at::RecordFunction& function) {
    std::vector<const void*> storages;
    for (const auto& input : nn::inputs_of(function))
        if (input.isTensor() && input.toTensor().defined() && input.toTensor().has_storage())
            storages.push_back(input.toTensor().storage().unsafeGetStorageImpl());
    return storages;
}

// Returns the bytes of all outputs; a view of an input counts 0.
std::int64_t bytes_made(const at::RecordFunction& function,
                        const std::vector<const void*>& inputs) {
    std::int64_t bytes = 0;
    const auto add = [&](const at::Tensor& output) {
        if (output.defined() && output.has_storage() &&
            std::ranges::find(inputs, output.storage().unsafeGetStorageImpl()) == inputs.end())
            bytes += static_cast<std::int64_t>(output.nbytes());
    };
    // TorchScript's interpreter keeps other values below the outputs.
    const std::span<const c10::IValue> stack = function.outputs();
    for (const auto& output : stack.last(std::min(stack.size(), function.num_outputs())))
        if (output.isTensor())
            add(output.toTensor());
        else if (output.isTensorList())
            for (const at::Tensor& each : output.toTensorVector()) add(each);
    return bytes;
}

}  // namespace

struct LayerProfile::Hooks {
    struct Call final : at::ObserverContext {
        bool outermost = false;
        std::unique_ptr<nn::Products> products;
        std::vector<const void*> inputs = {};  // storages
    };

    static std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& function) {
        LayerProfile* const profile = profiled;
        if (profile == nullptr || !profile->profiles()) return nullptr;
        auto call = std::make_unique<Call>();
        call->outermost = profile->depth_++ == 0;
        const bool is_forward = profile->phase_ == base::Phase::forward;
        if (is_forward ? call->outermost : function.scope() == at::RecordScope::BACKWARD_FUNCTION)
            profile->begin(function);
        if (is_forward && call->outermost) call->inputs = storages_of(function);
        if (is_forward && !profile->counts_products_) {
            call->products = nn::products_of(function);
            profile->counts_products_ = call->products != nullptr;
        }
        return call;
    }

    static void after(const at::RecordFunction& function, at::ObserverContext* context) {
        LayerProfile* const profile = profiled;
        if (profile == nullptr || context == nullptr) return;
        const auto& call = static_cast<const Call&>(*context);
        --profile->depth_;
        auto& layer = profile->layers_[profile->current_];
        if (call.products) {
            profile->counts_products_ = false;
            layer.forward_flops += 2 * call.products->macs_of_row(function) * call.products->rows;
        }
        if (!call.outermost || profile->phase_ != base::Phase::forward) return;
        layer.activation_bytes += bytes_made(function, call.inputs);
    }
};

LayerProfile::LayerProfile(const nn::Model& model, base::PhaseSink& sink,
                           std::function<void()> wait)
    : sink_(sink),
      wait_(std::move(wait)),
      callbacks_(at::RecordFunctionCallback(Hooks::before, Hooks::after)
                     .needsInputs(true)
                     .needsOutputs(true)
                     .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION})) {
    std::map<std::string, std::size_t> owners;
    for (const auto& item : model.named_parameters()) {
        const std::string name = owner_of(item.key());
        const auto [owner, is_new] = owners.emplace(name, layers_.size());
        if (is_new) {
            layers_.push_back({.name = name});
            layers_.push_back({.name = attention_after(name)});
        }
        const auto layer = owner->second;
        if (layer_of_.emplace(item.value().unsafeGetTensorImpl(), layer).second)
            layers_[layer].parameter_bytes += static_cast<std::int64_t>(item.value().nbytes());
    }
    profiled = this;
    // Keeps backward in this thread; for a GPU LibTorch would run it in another one.
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

LayerProfile::~LayerProfile() {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(true);
    profiled = nullptr;
}

void LayerProfile::enter(base::Phase phase) {
    sink_.enter(phase);
    phase_ = phase;
    if (!profiles()) return;
    since_ = base::Clock::now();
    if (phase == base::Phase::backward) {
        backward_began_ = since_;
        ready_.assign(layers_.size(), 0);
    }
    if (phase == base::Phase::forward) {
        forward_.clear();
        has_forward_ = true;
        last_used_.reset();
        current_ = 0;
    }
}

void LayerProfile::leave(base::Phase phase) {
    if (profiles()) move_to(current_);
    if (phase == base::Phase::backward) {
        batches_ += has_forward_ ? 1 : 0;
        has_forward_ = false;
        for (std::size_t i = 0; i < ready_.size(); ++i) layers_[i].gradient_ready_s += ready_[i];
    }
    phase_ = base::Phase::data;
    sink_.leave(phase);
}

void LayerProfile::begin(const at::RecordFunction& function) {
    if (phase_ == base::Phase::backward) {
        move_to(layer_of_sequence(function.seqNr()));
        return;
    }
    // Attention has no weights: it belongs to the odd row after the present layer's even one.
    const auto own =
        nn::is_attention(function) ? std::optional(current_ | 1U) : layer_of_inputs(function);
    const std::size_t layer = own.value_or(current_);
    if (own && last_used_ != own) ++layers_[layer].calls;
    if (own) last_used_ = own;
    move_to(layer);
    if (forward_.empty() || forward_.back().second != layer)
        forward_.emplace_back(static_cast<std::int64_t>(at::sequence_number::peek()), layer);
}

// Adds the time since the last call to the current layer, then makes `layer` current.
void LayerProfile::move_to(std::size_t layer) {
    if (wait_) wait_();
    const auto now = base::Clock::now();
    auto& last = layers_[current_];
    const double seconds = base::seconds_between(since_, now);
    (phase_ == base::Phase::forward ? last.forward_s : last.backward_s) += seconds;
    if (phase_ == base::Phase::backward)
        ready_[current_] = base::seconds_between(backward_began_, now);
    since_ = now;
    current_ = layer;
}

std::optional<std::size_t> LayerProfile::layer_of(const at::Tensor& tensor) const {
    const auto found = layer_of_.find(tensor.unsafeGetTensorImpl());
    return found == layer_of_.end() ? std::nullopt : std::optional(found->second);
}

// Returns the layer with a parameter among the inputs, or in a list input (recurrent weights).
std::optional<std::size_t> LayerProfile::layer_of_inputs(const at::RecordFunction& function) const {
    for (const auto& input : nn::inputs_of(function)) {
        if (input.isTensor())
            if (const auto layer = layer_of(input.toTensor())) return layer;
        if (!input.isList()) continue;
        for (const auto& element : input.toListRef())
            if (element.isTensor())
                if (const auto layer = layer_of(element.toTensor())) return layer;
    }
    return std::nullopt;
}

// Returns the layer whose forward operation has this sequence number in autograd. AccumulateGrad
// has no number and belongs to the layer of the operation before it.
std::size_t LayerProfile::layer_of_sequence(std::int64_t number) const {
    if (number < 0 || forward_.empty()) return current_;
    const auto next = std::ranges::upper_bound(forward_, number, {},
                                               &std::pair<std::int64_t, std::size_t>::first);
    return next == forward_.begin() ? forward_.front().second : std::prev(next)->second;
}

void LayerProfile::restart() {
    for (auto& layer : layers_)
        layer = {.name = layer.name, .parameter_bytes = layer.parameter_bytes};
    batches_ = 0;
}

}  // namespace ranklab::train
