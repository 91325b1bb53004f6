#include "nn/script_model.hpp"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/nn/functional/loss.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::nn {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCheckedBatch = 2;
constexpr const char* kSave =
    "save it with torch.jit.save(torch.jit.script(model), 'model.pt'), or with "
    "torch.jit.trace(model, example), in PyTorch";

// The line of LibTorch's message with the reason; other lines say where the call failed.
std::string reason_of(const std::exception& error) {
    const auto* const own = dynamic_cast<const c10::Error*>(&error);
    const std::string text = own != nullptr ? own->what_without_backtrace() : error.what();
    std::string reason;
    for (const auto& line : base::split(text, '\n')) {
        if (line.starts_with("RuntimeError: ") || line.starts_with("builtins."))
            return base::printable(line.substr(line.find(": ") + 2), 160);
        if (reason.empty()) reason = line;
    }
    return base::printable(reason, 160);
}

torch::jit::Module load_script(const std::string& path) {
    check_readable(path);
    try {
        return torch::jit::load(path, torch::kCPU);
    } catch (const std::exception& error) {
        throw base::DataError(fmt::format("{} is not TorchScript of LibTorch {} or older ({}); {}",
                                          path, TORCH_VERSION, reason_of(error), kSave),
                              {"model"});
    }
}

// The tensors of a TorchScript module as a tree of torch::nn modules, one per submodule, since
// torch::nn allows no dots in names.
std::shared_ptr<torch::nn::Module> tree_of(const torch::jit::Module& script);

void add_tensors(torch::nn::Module& to, const torch::jit::Module& script) {
    for (const auto& item : script.named_parameters(/*recurse=*/false))
        to.register_parameter(item.name, item.value, item.value.requires_grad());
    for (const auto& item : script.named_buffers(/*recurse=*/false))
        to.register_buffer(item.name, item.value);
    for (const auto& child : script.named_children())
        to.register_module(child.name, tree_of(child.value));
}

std::shared_ptr<torch::nn::Module> tree_of(const torch::jit::Module& script) {
    auto tree = std::make_shared<torch::nn::Module>();
    add_tensors(*tree, script);
    return tree;
}

// Splits packed inputs (base::packed) into tensors; floating-point ones get type `dtype`.
std::vector<torch::Tensor> unpacked(const torch::Tensor& input, const InputShape& shape,
                                    torch::Dtype dtype) {
    if (shape.own.size() == 1) return {input};
    std::vector<torch::Tensor> tensors;
    std::int64_t first = 0;
    for (const auto& field : shape.own) {
        torch::Tensor part = input.narrow(1, first, field.words()).contiguous();
        first += field.words();
        if (field.element != base::Element::i64)
            part = part.view(field.element == base::Element::f64 ? torch::kDouble : torch::kFloat)
                       .narrow(1, 0, field.elements())
                       .to(dtype);
        auto sizes = field.sizes;
        sizes.insert(sizes.begin(), input.size(0));
        tensors.push_back(part.reshape(sizes));
    }
    return tensors;
}

class ScriptModel final : public Model {
  public:
    explicit ScriptModel(const ScriptRequest& request)
        : script_(load_script(request.path)), input_(request.input), loss_(request.loss) {
        add_tensors(*this, script_);
        for (const auto& parameter : parameters())
            if (parameter.requires_grad() && !weight_.defined()) weight_ = parameter;
    }

    /// The first trainable parameter; undefined if there is none.
    const torch::Tensor& weight() const { return weight_; }

    torch::Tensor forward(const torch::Tensor& input) override {
        try {
            return compute(input);
        } catch (const std::exception& error) {
            throw base::DataError(
                fmt::format("the model cannot compute these samples: {}", reason_of(error)),
                {"inputs", "batch-size"});
        }
    }

    /// Throws LibTorch's errors. Turns the graph optimiser off: mnist-cnn trains 4 % slower
    /// with it.
    torch::Tensor compute(const torch::Tensor& input) {
        const torch::jit::GraphOptimizerEnabledGuard plain(false);
        std::vector<c10::IValue> inputs;
        for (auto& each : unpacked(input, input_, weight_.scalar_type()))
            inputs.emplace_back(std::move(each));
        const auto output = script_.forward(std::move(inputs));
        if (output.isTensor()) return output.toTensor();
        throw base::OptionError(
            fmt::format("the model returns a {} instead of one tensor; export a module whose "
                        "forward returns its scores alone",
                        output.tagKind()),
            {"model"});
    }

    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        if (loss_ == "mse") return torch::mse_loss(output.reshape(targets.sizes()), targets);
        if (loss_ == "l1") return torch::l1_loss(output.reshape(targets.sizes()), targets);
        if (loss_ == "nll") return torch::nll_loss_nd(output, targets);
        return torch::nn::functional::cross_entropy(output, targets);
    }

    void train(bool on = true) override {
        torch::nn::Module::train(on);
        script_.train(on);
    }

  private:
    torch::jit::Module script_;
    InputShape input_;
    std::string loss_;
    torch::Tensor weight_;
};

std::string shape_text(torch::IntArrayRef sizes) {
    return sizes.empty() ? "one value" : fmt::format("{}", fmt::join(sizes, "x"));
}

torch::Tensor output_of_sample(ScriptModel& model, const ScriptRequest& request) {
    model.eval();
    try {
        const auto type = model.weight().scalar_type();
        return model.compute(sample_input(request.input, kCheckedBatch, type));
    } catch (const base::Error&) {
        throw;
    } catch (const std::exception& error) {
        const bool is_list = request.input.own.size() > 1 &&
                             std::ranges::all_of(request.input.own,
                                                 [](const auto& f) { return f.sizes.size() < 2; });
        throw base::OptionError(
            fmt::format("{} cannot compute a batch of {} such samples: {}; {}", request.path,
                        kCheckedBatch, reason_of(error),
                        is_list ? "write x between the sizes of one input, as in 3x32x32"
                                : "give the shape of one sample, and export a model that takes "
                                  "batches of any size"),
            {"input-shape"});
    }
}

}  // namespace

void check_readable(const std::string& path) {
    if (!fs::is_regular_file(path) || !std::ifstream(path))
        throw base::DataError(
            fmt::format("{} cannot be read; check its path and permissions", path), {"model"});
}

torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype) {
    auto sizes = shape.input_sizes();
    sizes.insert(sizes.begin(), count);
    return shape.is_whole() ? torch::zeros(sizes, torch::kLong) : torch::randn(sizes, dtype);
}

ModelEntry script_entry(const ScriptRequest& request) {
    return {
        .name = fs::path(request.path).stem().string(),
        .summary = {},
        .input = request.input,
        .defaults = {.data = "synthetic", .optimizer = "sgd", .lr = 0.01, .batch_size = 32},
        .make = [request](const ModelConfig&) { return std::make_shared<ScriptModel>(request); },
        .is_script = true};
}

void check_script(const ScriptRequest& request) {
    ScriptModel model(request);
    if (!model.weight().defined())
        throw base::OptionError(
            fmt::format("{} has no trainable parameters; export an unfrozen model whose parameters "
                        "have requires_grad",
                        request.path),
            {"model"});
    const auto output = output_of_sample(model, request);
    if (!output.requires_grad())
        throw base::OptionError(
            fmt::format("the output of {} depends on no trainable parameter; export the module "
                        "that is to be trained",
                        request.path),
            {"model"});
    auto wanted = request.input.target_sizes();
    if (request.input.classifies()) wanted.insert(wanted.begin(), request.input.classes);
    wanted.insert(wanted.begin(), kCheckedBatch);
    const bool one_number = wanted.size() == 2 && wanted[1] == 1 && output.dim() == 1;
    if (output.sizes() == wanted || (one_number && output.numel() == kCheckedBatch)) return;
    throw base::OptionError(
        fmt::format("{} maps a batch of {} to {}, but the target needs {}", request.path,
                    kCheckedBatch, shape_text(output.sizes()), shape_text(wanted)),
        {request.input.classifies() ? "classes" : "target-shape"});
}

std::string structure_hash(const std::string& path) {
    std::string text;
    for (const auto& item : load_script(path).named_parameters())
        text += fmt::format("{} {}\n", item.name, shape_text(item.value.sizes()));
    caffe2::serialize::PyTorchStreamReader archive(path);
    for (const auto& record : archive.getAllRecords()) {
        if (!record.starts_with("code/") || !record.ends_with(".py")) continue;
        const auto [bytes, size] = archive.getRecord(record);
        text += record + std::string(static_cast<const char*>(bytes.get()), size);
    }
    return fmt::format("{:016x}", base::fingerprint(text));
}

}  // namespace ranklab::nn
