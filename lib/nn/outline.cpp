#include "nn/outline.hpp"

#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <string_view>

namespace ranklab::nn {

// LibTorch's kernels for its "meta" backend know shapes alone. With that backend's key among those that this
// thread adds to each operation's own, it is chosen before the CPU's (as the highest backend is); only
// factories (empty) choose by their options, and still give a CPU tensor, whose fresh pages nobody then
// touches.
struct UninitialisedScope::Guard {
    c10::impl::IncludeDispatchKeyGuard meta{c10::DispatchKeySet(c10::DispatchKey::Meta)};
};

UninitialisedScope::UninitialisedScope() : guard_(std::make_unique<Guard>()) {}
UninitialisedScope::~UninitialisedScope() = default;

namespace {

// LibTorch's callbacks are plain functions: the sum goes through here.
struct Count {
    std::int64_t samples = 0;
    std::int64_t flops = 0;
};
thread_local Count* current = nullptr;

std::int64_t elements_behind_first(const torch::Tensor& t) {
    std::int64_t product = 1;
    for (std::int64_t d = 1; d < t.dim(); ++d) product *= t.size(d);
    return product;
}

// Multiply-accumulates of one row of the first dimension. Each element of a convolution's output, or of a
// transposed one's input, meets weight / (its channels) elements of the weight, whose first dimension they
// are.
std::int64_t convolution_macs(const torch::Tensor& input, const torch::Tensor& weight, bool transposed,
                              const torch::Tensor& output) {
    return elements_behind_first(transposed ? input : output) * elements_behind_first(weight);
}

void add(std::int64_t macs_of_a_row, std::int64_t rows) {
    const std::int64_t rows_of_a_sample = current->samples > 0 ? rows / current->samples : 1;
    current->flops += 2 * macs_of_a_row * rows_of_a_sample;
}

// Of the nested operations that one layer becomes, exactly one of these.
void count(const at::RecordFunction& call, at::ObserverContext*) {
    if (current == nullptr) return;
    const std::string_view name = call.name();
    const auto inputs = call.inputs();
    if (name == "aten::convolution") {
        const auto& input = inputs[0].toTensor();
        add(convolution_macs(input, inputs[1].toTensor(), inputs[6].toBool(), call.outputs()[0].toTensor()),
            input.size(0));
    } else if (name == "aten::addmm" || name == "aten::mm") {
        const std::size_t first = name == "aten::addmm" ? 1 : 0;
        add(inputs[first + 1].toTensor().numel(), inputs[first].toTensor().size(0));
    }
}

std::unique_ptr<at::ObserverContext> no_context(const at::RecordFunction&) {
    return nullptr;
}

class Counting {
  public:
    explicit Counting(Count& count_into)
        : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(no_context, count)
                                                 .needsInputs(true)
                                                 .needsOutputs(true)
                                                 .scopes({at::RecordScope::FUNCTION}))) {
        current = &count_into;
    }
    ~Counting() {
        current = nullptr;
        at::removeCallback(handle_);
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

  private:
    at::CallbackHandle handle_;
};

}  // namespace

std::int64_t forward_flops(Model& model, const torch::Tensor& batch) {
    const bool was_training = model.is_training();
    model.eval();
    const torch::NoGradGuard no_gradients;
    Count counted{.samples = batch.size(0)};
    {
        const Counting counting(counted);
        model.forward(batch);
    }
    model.train(was_training);
    return counted.flops;
}

Outline outline_of(const ModelEntry& entry, const ModelConfig& config) {
    const auto model = [&] {
        const UninitialisedScope scope;
        return entry.make(config);
    }();
    auto sizes = config.input.input_sizes();
    sizes.insert(sizes.begin(), 0);
    return {parameter_count(*model), forward_flops(*model, torch::empty(sizes))};
}

}  // namespace ranklab::nn
