#include "nn/own_network.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <torch/nn/functional/loss.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::nn {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCheckedBatch = 2;
constexpr const char* kPython = ".py";

// Sums and broadcasts work on dense memory.
torch::Tensor dense(torch::Tensor tensor, const std::string& name) {
    if (tensor.layout() != torch::kStrided || tensor.is_complex())
        throw base::OptionError(
            fmt::format("'{}' is sparse or complex; use a model of dense real parameters", name),
            {"model"});
    if (!tensor.is_non_overlapping_and_dense())
        tensor.set_data(tensor.detach().clone(torch::MemoryFormat::Contiguous));
    return tensor;
}

// Registers the tensors in a tree of torch::nn modules, one per dot of their names, since torch::nn
// allows no dots.
void add_tensors(torch::nn::Module& root, const OwnNetwork& network) {
    for (const auto& own : network.tensors()) {
        auto names = base::split(own.name, '.');
        const auto last = names.back();
        names.pop_back();
        auto* module = &root;
        for (const auto& name : names) {
            auto children = module->named_children();
            if (!children.contains(name))
                module->register_module(name, std::make_shared<torch::nn::Module>());
            module = module->named_children()[name].get();
        }
        const auto tensor = dense(own.tensor, own.name);
        if (own.is_parameter)
            module->register_parameter(last, tensor, tensor.requires_grad());
        else
            module->register_buffer(last, tensor);
    }
}

// Splits packed inputs (base::packed) into tensors; floating-point ones get type `dtype`, others
// the request's type.
std::vector<torch::Tensor> unpacked(const torch::Tensor& input, const OwnRequest& request,
                                    torch::Dtype dtype) {
    const auto& own = request.input.own;
    if (own.size() == 1)
        return {request.input.is_whole() ? input.to(request.input.own_types.at(0)) : input};
    std::vector<torch::Tensor> tensors;
    std::int64_t first = 0;
    for (const auto& field : own) {
        torch::Tensor part = input.narrow(1, first, field.words()).contiguous();
        first += field.words();
        if (field.element != base::Element::i64)
            part = part.view(field.element == base::Element::f64 ? torch::kDouble : torch::kFloat)
                       .narrow(1, 0, field.elements());
        part =
            part.to(part.is_floating_point() ? dtype : request.input.own_types.at(tensors.size()));
        auto sizes = field.sizes;
        sizes.insert(sizes.begin(), input.size(0));
        tensors.push_back(part.reshape(sizes));
    }
    return tensors;
}

class OwnModel final : public Model {
  public:
    explicit OwnModel(const OwnRequest& request)
        : network_(open_own(request.model)->make()), request_(request) {
        add_tensors(*this, *network_);
        to(request.dtype);
        for (const auto& parameter : parameters())
            if (parameter.requires_grad() && parameter.numel() > 0 && !weight_.defined())
                weight_ = parameter;
    }

    /// The first trainable parameter; undefined if there is none.
    const torch::Tensor& weight() const { return weight_; }
    OwnTraits traits() const { return network_->traits(); }

    torch::Tensor forward(const torch::Tensor& input) override {
        return or_data_error(input, [&] { return compute(input); });
    }

    /// Throws LibTorch's errors. Computes on a copy of the input, but not after the first call in
    /// training if that call has left its input unchanged.
    torch::Tensor compute(const torch::Tensor& input) {
        const auto given = changes_input_.value_or(true) ? input.clone() : input;
        const auto version = given._version();
        const auto output = network_->forward(unpacked(given, request_, weight_.scalar_type()));
        if (is_training()) changes_input_ = changes_input_.value_or(given._version() != version);
        return in_order(output);
    }

    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        const auto& loss = request_.loss;
        return or_data_error(targets, [&] {
            if (loss.empty()) return network_->loss(output, targets);
            if (targets.scalar_type() == torch::kLong && output.dim() < 2)
                throw std::runtime_error("the scores lack the dimension of the samples (squeeze)");
            if (loss == "mse") return torch::mse_loss(output.reshape(targets.sizes()), targets);
            if (loss == "l1") return torch::l1_loss(output.reshape(targets.sizes()), targets);
            if (loss == "nll") return torch::nll_loss_nd(output, targets);
            return torch::nn::functional::cross_entropy(output, targets);
        });
    }

    void train(bool on = true) override {
        torch::nn::Module::train(on);
        network_->train(on);
    }

  private:
    // Calls work(). LibTorch's errors become a DataError that names the largest of int64 `numbers`.
    torch::Tensor or_data_error(const torch::Tensor& numbers, const auto& work) const try {
        return work();
    } catch (const base::Error&) {
        throw;
    } catch (const std::exception& error) {
        const bool numbered = numbers.is_cpu() && numbers.scalar_type() == torch::kLong &&
                              request_.input.own.size() == 1 && numbers.numel() > 0;
        throw base::DataError(
            fmt::format("the model cannot compute these samples: {}{}", reason_of(error),
                        numbered ? fmt::format("; the largest number in them is {}, in sample {} "
                                               "of the batch",
                                               numbers.max().item<std::int64_t>(),
                                               numbers.argmax().item<std::int64_t>() /
                                                   (numbers.numel() / numbers.size(0)))
                                 : ""),
            {"inputs", "batch-size"});
    }

    // Returns scores as [N, classes, target]; language models give [N, target, classes].
    torch::Tensor in_order(const torch::Tensor& output) const {
        auto first = request_.input.target_sizes(), last = first;
        first.insert(first.begin(), request_.input.classes);
        last.push_back(request_.input.classes);
        const bool turned = request_.input.classifies() && output.dim() > 2 && first != last &&
                            output.sizes().slice(1) == last;
        return turned ? output.movedim(-1, 1) : output;
    }

    std::unique_ptr<OwnNetwork> network_;
    OwnRequest request_;
    torch::Tensor weight_;
    std::optional<bool> changes_input_ = {};  // not known before training
};

std::string shape_text(torch::IntArrayRef sizes) {
    return sizes.empty() ? "one value" : fmt::format("{}", fmt::join(sizes, "x"));
}

torch::Tensor output_of_sample(OwnModel& model, const OwnRequest& request) {
    model.train();
    try {
        return model.compute(sample_input(request.input, kCheckedBatch, request.dtype));
    } catch (const base::Error&) {
        throw;
    } catch (const std::exception& error) {
        throw base::OptionError(
            fmt::format("{} cannot compute a batch of {} such samples: {}; give the shape of one "
                        "sample with x between its sizes, and use a model whose code fixes no "
                        "batch size, type or device",
                        request.model, kCheckedBatch, reason_of(error)),
            {"input-shape"});
    }
}

// Throws OptionError if a gradient cannot be computed or summed.
void check_gradients(const OwnModel& model, const torch::Tensor& loss) try {
    loss.backward();
    for (const auto& item : model.named_parameters())
        if (item.value().grad().defined() && item.value().grad().layout() != torch::kStrided)
            throw std::runtime_error(fmt::format("the gradient of '{}' is sparse", item.key()));
} catch (const std::exception& error) {
    throw base::OptionError("the model cannot be trained: " + reason_of(error), {"model"});
}

std::string path_of_own(const std::string& model) {
    const auto name = model.rfind(std::string(kPython) + ':');
    return model.substr(0, name == std::string::npos ? name : name + 3);
}

void check_readable(const std::string& path) {
    if (!fs::is_regular_file(path) || !std::ifstream(path))
        throw base::DataError(
            fmt::format("{} cannot be read; check its path and permissions", path), {"model"});
}

}  // namespace

bool is_python(const std::string& model) {
    return path_of_own(model).ends_with(kPython);
}

bool is_own(const std::string& model) {
    return is_python(model) || model.ends_with(".pt");
}

std::string name_of_own(const std::string& model) {
    const auto path = path_of_own(model);
    return fs::path(path).stem().string() + model.substr(path.size());
}

std::shared_ptr<const OwnFile> open_own(const std::string& model) {
    const auto path = path_of_own(model);
    check_readable(path);
    if (!is_python(model)) return open_script(path);
    return open_python(path, model == path ? "model" : model.substr(path.size() + 1));
}

std::string reason_of(const std::exception& error) {
    constexpr std::size_t kMost = 300;
    const auto* const own = dynamic_cast<const c10::Error*>(&error);
    const std::string text = own != nullptr ? own->what_without_backtrace() : error.what();
    std::string reason;
    for (const auto& line : base::split(text, '\n')) {
        if (line.starts_with("RuntimeError: ") || line.starts_with("builtins."))
            return base::printable(line.substr(line.find(": ") + 2), kMost);
        if (reason.empty()) reason = line;
    }
    return base::printable(reason, kMost);
}

torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype) {
    auto sizes = shape.input_sizes();
    sizes.insert(sizes.begin(), count);
    // Equal numbers in each process, since a network may branch on its input.
    return shape.is_whole()
               ? torch::zeros(sizes, torch::kLong)
               : torch::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(1), dtype);
}

ModelEntry own_entry(const OwnRequest& request) {
    return {.name = name_of_own(request.model),
            .summary = {},
            .input = request.input,
            .defaults = {.data = "synthetic", .optimizer = "sgd", .lr = 0.01, .batch_size = 32},
            .make = [request](const ModelConfig&) { return std::make_shared<OwnModel>(request); },
            .from_file = true};
}

OwnTraits check_own(const OwnRequest& request) {
    open_own(request.model)->check();
    OwnModel model(request);
    if (!model.weight().defined())
        throw base::OptionError(
            fmt::format("{} has no trainable parameters; use an unfrozen model whose parameters "
                        "have requires_grad",
                        request.model),
            {"model"});
    const auto output = output_of_sample(model, request);
    if (!output.requires_grad())
        throw base::OptionError(
            fmt::format("the output of {} depends on no trainable parameter; use the module that "
                        "is to be trained",
                        request.model),
            {"model"});
    auto wanted = request.input.target_sizes();
    if (request.input.classifies()) wanted.insert(wanted.begin(), request.input.classes);
    wanted.insert(wanted.begin(), kCheckedBatch);
    const bool one_number = wanted.size() == 2 && wanted[1] == 1 && output.dim() == 1;
    if (!request.loss.empty() && output.sizes() != wanted &&
        !(one_number && output.numel() == kCheckedBatch))
        throw base::OptionError(
            fmt::format("{} maps a batch of {} to {}, but the target needs {}", request.model,
                        kCheckedBatch, shape_text(output.sizes()), shape_text(wanted)),
            {request.input.classifies() ? "classes" : "target-shape"});
    if (request.input.classifies()) wanted.erase(wanted.begin() + 1);
    const auto type = request.input.classifies() ? torch::kLong : request.dtype;
    check_gradients(model, model.loss(output, torch::zeros(wanted, type)));
    return model.traits();
}

std::string structure_hash(const std::string& model) {
    const auto file = open_own(model);
    std::string text;
    for (const auto& own : file->make()->tensors())
        if (own.is_parameter)
            text += fmt::format("{} {}\n", own.name, shape_text(own.tensor.sizes()));
    return fmt::format("{:016x}", base::fingerprint(text + file->code()));
}

}  // namespace ranklab::nn
