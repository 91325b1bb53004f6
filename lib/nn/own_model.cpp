#include "nn/script_model.hpp"

#include <ATen/EmptyTensor.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/nn/functional/loss.h>
#include <torch/script.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/pack.hpp"
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
    // What a network prints must not mix with JSON on stdout.
    torch::jit::setPrintHandler([](const std::string& text) { std::fputs(text.c_str(), stderr); });
    const char* what = "is not TorchScript of";
    try {
        if (caffe2::serialize::PyTorchStreamReader(path).hasRecord("constants.pkl"))
            what = "has operators or types that are unknown to";
        return torch::jit::load(path, torch::kCPU);
    } catch (const std::exception& error) {
        throw base::DataError(fmt::format("{} {} LibTorch {} or older ({}); {}", path, what,
                                          TORCH_VERSION, reason_of(error), kSave),
                              {"model"});
    }
}

// The CRC-32 of each entry of a zip archive of less than 4 GiB, in order. Its structures are
// numbers of 16 bits (PKWARE's APPNOTE.TXT, 4.3.12 and 4.3.16).
std::vector<std::uint32_t> checksums_in(const std::string& path) {
    constexpr std::size_t kLongestEnd = 65557;
    std::ifstream file(path, std::ios::binary);
    const auto bytes_from = [&](std::size_t begin) {
        file.seekg(static_cast<std::streamoff>(begin));
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto tail = bytes_from(fs::file_size(path) - std::min(fs::file_size(path), kLongestEnd));
    std::string_view left(tail);
    left.remove_prefix(std::min(left.size(), left.rfind("PK\5\6")));
    std::array<std::uint16_t, 11> end{};
    base::unpack(left, end);
    const auto directory = bytes_from(end[8] | std::size_t{end[9]} << 16U);
    left = directory;
    std::vector<std::uint32_t> checksums;
    for (std::array<std::uint16_t, 23> entry{};
         left.starts_with("PK\1\2") && base::unpack(left, entry);) {
        checksums.push_back(entry[8] | std::uint32_t{entry[9]} << 16U);
        left.remove_prefix(std::min<std::size_t>(left.size(), entry[14] + entry[15] + entry[16]));
    }
    return checksums;
}

// Whether an entry differs from its checksum, or a tensor from the entries' sizes. LibTorch checks
// neither.
bool is_damaged(const std::string& path) try {
    check_readable(path);
    caffe2::serialize::PyTorchStreamReader archive(path);
    const auto names = archive.getAllRecords();
    const auto checksums = checksums_in(path);
    const bool known = fs::file_size(path) < std::size_t{1} << 32U;
    bool damaged = known && checksums.size() != names.size();
    std::set<std::size_t> sizes{0};
    for (std::size_t i = 0; i < names.size() && !damaged; ++i) {
        const auto [bytes, size] = archive.getRecord(names[i]);
        damaged = known && crc32_z(0, static_cast<const Bytef*>(bytes.get()), size) != checksums[i];
        sizes.insert(size);
    }
    if (damaged) return true;
    const auto script = load_script(path);
    for (const auto& item : script.named_attributes()) {
        if (!item.value.isTensor() || !item.value.toTensor().has_storage()) continue;
        const auto& tensor = item.value.toTensor();
        const auto there = tensor.storage().nbytes();
        damaged |= !sizes.contains(there) ||
                   there < at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(),
                                                            tensor.element_size(),
                                                            tensor.storage_offset());
    }
    return damaged;
} catch (const c10::Error&) {
    return false;  // no archive: load_script says so
}

// Sums and broadcasts work on dense memory.
torch::Tensor dense(torch::Tensor tensor, const std::string& name) {
    if (tensor.layout() != torch::kStrided || tensor.is_complex())
        throw base::OptionError(
            fmt::format("'{}' is sparse or complex; export a model of dense real parameters", name),
            {"model"});
    if (!tensor.is_non_overlapping_and_dense())
        tensor.set_data(tensor.detach().clone(torch::MemoryFormat::Contiguous));
    return tensor;
}

// The tensors of a TorchScript module as a tree of torch::nn modules, one per submodule, since
// torch::nn allows no dots in names.
std::shared_ptr<torch::nn::Module> tree_of(const torch::jit::Module& script);

void add_tensors(torch::nn::Module& to, const torch::jit::Module& script) {
    for (const auto& item : script.named_parameters(/*recurse=*/false))
        to.register_parameter(item.name, dense(item.value, item.name), item.value.requires_grad());
    for (const auto& item : script.named_buffers(/*recurse=*/false))
        to.register_buffer(item.name, dense(item.value, item.name));
    for (const auto& child : script.named_children())
        to.register_module(child.name, tree_of(child.value));
}

std::shared_ptr<torch::nn::Module> tree_of(const torch::jit::Module& script) {
    auto tree = std::make_shared<torch::nn::Module>();
    add_tensors(*tree, script);
    return tree;
}

// Splits packed inputs (base::packed) into tensors; floating-point ones get type `dtype`, others
// the request's type.
std::vector<torch::Tensor> unpacked(const torch::Tensor& input, const ScriptRequest& request,
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

class ScriptModel final : public Model {
  public:
    explicit ScriptModel(const ScriptRequest& request)
        : script_(load_script(request.path)), request_(request) {
        add_tensors(*this, script_);
        to(request.dtype);
        for (const auto& parameter : parameters())
            if (parameter.requires_grad() && parameter.numel() > 0 && !weight_.defined())
                weight_ = parameter;
    }

    /// The first trainable parameter; undefined if there is none.
    const torch::Tensor& weight() const { return weight_; }

    torch::Tensor forward(const torch::Tensor& input) override {
        return or_data_error(input, [&] { return compute(input); });
    }

    /// Throws LibTorch's errors. Turns the graph optimiser off: mnist-cnn trains 4 % slower
    /// with it. If the first call in training changes its input in place, all get a copy.
    torch::Tensor compute(const torch::Tensor& input) {
        const torch::jit::GraphOptimizerEnabledGuard plain(false);
        const auto given = changes_input_.value_or(true) ? input.clone() : input;
        const auto version = given._version();
        std::vector<c10::IValue> inputs;
        for (auto& each : unpacked(given, request_, weight_.scalar_type()))
            inputs.emplace_back(std::move(each));
        const auto output = script_.forward(std::move(inputs));
        if (is_training()) changes_input_ = changes_input_.value_or(given._version() != version);
        if (output.isTensor()) return in_order(output.toTensor());
        throw base::OptionError(
            fmt::format("the model returns a {} instead of one tensor; export a module whose "
                        "forward returns its scores alone",
                        output.tagKind()),
            {"model"});
    }

    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        const auto& loss = request_.loss;
        return or_data_error(targets, [&] {
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
        script_.train(on);
    }

  private:
    // Calls work(). LibTorch's errors become a DataError on samples with these numbers.
    torch::Tensor or_data_error(const torch::Tensor& numbers, const auto& work) const try {
        return work();
    } catch (const base::Error&) {
        throw;
    } catch (const std::exception& error) {
        const bool numbered = numbers.is_cpu() && numbers.scalar_type() == torch::kLong &&
                              request_.input.own.size() == 1 && numbers.numel() > 0;
        throw base::DataError(
            fmt::format("the model cannot compute these samples: {}{}", reason_of(error),
                        numbered ? fmt::format("; the largest number in them is {}",
                                               numbers.max().item<std::int64_t>())
                                 : ""),
            {"inputs", "batch-size"});
    }

    // Scores [N, classes, target], PyTorch's order; language models give [N, target, classes].
    torch::Tensor in_order(const torch::Tensor& output) const {
        auto first = request_.input.target_sizes(), last = first;
        first.insert(first.begin(), request_.input.classes);
        last.push_back(request_.input.classes);
        const bool turned = request_.input.classifies() && output.dim() > 2 && first != last &&
                            output.sizes().slice(1) == last;
        return turned ? output.movedim(-1, 1) : output;
    }

    torch::jit::Module script_;
    ScriptRequest request_;
    torch::Tensor weight_;
    std::optional<bool> changes_input_ = {};  // not known before training
};

std::string shape_text(torch::IntArrayRef sizes) {
    return sizes.empty() ? "one value" : fmt::format("{}", fmt::join(sizes, "x"));
}

torch::Tensor output_of_sample(ScriptModel& model, const ScriptRequest& request) {
    model.train();
    try {
        return model.compute(sample_input(request.input, kCheckedBatch, request.dtype));
    } catch (const base::Error&) {
        throw;
    } catch (const std::exception& error) {
        throw base::OptionError(
            fmt::format("{} cannot compute a batch of {} such samples: {}; give the shape of one "
                        "sample with x between its sizes, and export a model whose code fixes no "
                        "batch size, type or device",
                        request.path, kCheckedBatch, reason_of(error)),
            {"input-shape"});
    }
}

// Throws OptionError if a gradient cannot be computed or summed.
void check_gradients(const ScriptModel& model, const torch::Tensor& loss) try {
    loss.backward();
    for (const auto& item : model.named_parameters())
        if (item.value().grad().defined() && item.value().grad().layout() != torch::kStrided)
            throw std::runtime_error(fmt::format("the gradient of '{}' is sparse", item.key()));
} catch (const std::exception& error) {
    throw base::OptionError("the model cannot be trained: " + reason_of(error), {"model"});
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
    if (is_damaged(request.path))
        throw base::DataError(
            fmt::format("{} is damaged: an entry has another checksum or size than it should; copy "
                        "or save it again",
                        request.path),
            {"model"});
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
    if (output.sizes() != wanted && !(one_number && output.numel() == kCheckedBatch))
        throw base::OptionError(
            fmt::format("{} maps a batch of {} to {}, but the target needs {}", request.path,
                        kCheckedBatch, shape_text(output.sizes()), shape_text(wanted)),
            {request.input.classifies() ? "classes" : "target-shape"});
    if (request.input.classifies()) wanted.erase(wanted.begin() + 1);
    const auto type = request.input.classifies() ? torch::kLong : request.dtype;
    check_gradients(model, model.loss(output, torch::zeros(wanted, type)));
}

std::string structure_hash(const std::string& path) try {
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
} catch (const c10::Error& error) {
    throw base::DataError(fmt::format("{} is damaged ({})", path, reason_of(error)), {"model"});
}

}  // namespace ranklab::nn
