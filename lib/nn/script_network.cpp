// TorchScript: networks that torch.jit.save wrote.
#include <ATen/EmptyTensor.h>
#include <caffe2/serialize/inline_container.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/pack.hpp"
#include "nn/own_network.hpp"

namespace ranklab::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSave =
    "save it with torch.jit.save(torch.jit.script(model), 'model.pt'), or with "
    "torch.jit.trace(model, example), in PyTorch";

torch::jit::Module load_script(const std::string& path) {
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

// Returns the CRC-32 of each entry of a zip archive below 4 GiB, in order. A zip's structures are
// numbers of 16 bits (PKWARE's APPNOTE.TXT, 4.3.12 and 4.3.16).
std::vector<std::uint32_t> checksums_in(const std::string& path) {
    constexpr std::size_t kLongestEnd = 65557;
    const auto file = base::open_file(path, O_RDONLY);
    const std::size_t size = fs::file_size(path);
    const auto bytes_from = [&](std::size_t begin) {
        std::string bytes(std::max(size, begin) - begin, '\0');
        const auto read = base::read_whole(file.get(), bytes, begin);
        if (!read) base::throw_read_errno("read", path, errno);
        bytes.resize(*read);
        return bytes;
    };
    const auto tail = bytes_from(size - std::min(size, kLongestEnd));
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

// Whether an entry's checksum is wrong, or a tensor's storage has the size of no entry or is too
// small for its shape. LibTorch checks none of these.
bool is_damaged(const std::string& path) try {
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

// Adds the parameters and buffers of `script`, then those of its children.
void add_tensors(std::vector<OwnTensor>& tensors, const torch::jit::Module& script,
                 const std::string& above) {
    for (const auto& item : script.named_parameters(/*recurse=*/false))
        tensors.push_back({above + item.name, item.value, true});
    for (const auto& item : script.named_buffers(/*recurse=*/false))
        tensors.push_back({above + item.name, item.value, false});
    for (const auto& child : script.named_children())
        add_tensors(tensors, child.value, above + child.name + ".");
}

// Returns the mode (true: training) that a trace fixed in an operation that depends on the mode:
// dropout at a rate above 0, or a norm with running statistics. Scripted code asks the module.
std::optional<bool> fixed_mode_of(const torch::jit::Node& node) {
    const auto* const schema = node.maybeSchema();
    if (schema == nullptr || schema->is_vararg()) return std::nullopt;
    std::optional<bool> mode;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
        const auto value = torch::jit::toIValue(node.inputs()[i]);  // of a constant only
        if (!value) continue;
        const auto& name = schema->arguments()[i].name();
        if (name == "train" || name == "training") mode = value->toBool();
        if (name == "dropout_p") mode = true;
        if ((name == "p" || name == "dropout" || name == "dropout_p") && value->isDouble() &&
            value->toDouble() == 0)
            return std::nullopt;
        if (name == "running_mean" && value->isNone()) return std::nullopt;
    }
    return mode;
}

class ScriptNetwork final : public OwnNetwork {
  public:
    explicit ScriptNetwork(torch::jit::Module script) : script_(std::move(script)) {}

    std::vector<OwnTensor> tensors() const override {
        std::vector<OwnTensor> tensors;
        add_tensors(tensors, script_, "");
        return tensors;
    }

    /// Turns the graph optimiser off: mnist-cnn trains 4 % slower with it.
    torch::Tensor forward(std::vector<torch::Tensor> inputs) override {
        const torch::jit::GraphOptimizerEnabledGuard plain(false);
        const auto output = script_.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
        if (output.isTensor()) return output.toTensor();
        throw base::OptionError(
            fmt::format("the model returns a {} instead of one tensor; use a module whose forward "
                        "returns its scores alone",
                        output.tagKind()),
            {"model"});
    }

    torch::Tensor loss(const torch::Tensor&, const torch::Tensor&) const override {
        throw base::Error("internal: TorchScript has no loss");
    }

    void train(bool on) override { script_.train(on); }

    OwnTraits traits() const override {
        auto graph = script_.get_method("forward").graph()->copy();
        torch::jit::Inline(*graph);
        OwnTraits traits;
        torch::jit::DepthFirstGraphNodeIterator nodes(graph);
        while (const auto* const node = nodes.next()) {
            traits.branches |=
                !node->blocks().empty() || node->kind() == torch::jit::prim::CallMethod;
            if (!traits.fixed_mode) traits.fixed_mode = fixed_mode_of(*node);
        }
        return traits;
    }

  private:
    torch::jit::Module script_;
};

class ScriptFile final : public OwnFile {
  public:
    explicit ScriptFile(std::string path) : path_(std::move(path)) {}

    void check() const override {
        if (is_damaged(path_))
            throw base::DataError(
                fmt::format("{} is damaged: an entry has another checksum or size than it should; "
                            "copy or save it again",
                            path_),
                {"model"});
    }

    std::unique_ptr<OwnNetwork> make() const override {
        return std::make_unique<ScriptNetwork>(load_script(path_));
    }

    std::string code() const override try {
        std::string text;
        caffe2::serialize::PyTorchStreamReader archive(path_);
        for (const auto& record : archive.getAllRecords()) {
            if (!record.starts_with("code/") || !record.ends_with(".py")) continue;
            const auto [bytes, size] = archive.getRecord(record);
            text += record + std::string(static_cast<const char*>(bytes.get()), size);
        }
        return text;
    } catch (const c10::Error& error) {
        throw base::DataError(fmt::format("{} is damaged ({})", path_, reason_of(error)),
                              {"model"});
    }

  private:
    std::string path_;
};

}  // namespace

std::shared_ptr<const OwnFile> open_script(const std::string& path) {
    return std::make_shared<ScriptFile>(path);
}

}  // namespace ranklab::nn
