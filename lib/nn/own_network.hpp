// A network in a user's file, in TorchScript or Python, and the Model made of it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace ranklab::nn {

/// `name` has the modules above it, with dots, as in PyTorch: "encoder.0.weight".
struct OwnTensor {
    std::string name;
    torch::Tensor tensor;
    bool is_parameter = true;  ///< false: a buffer
};

struct OwnTraits {
    /// Whether a forward may leave out parameters that another forward uses (control flow).
    bool branches = false;
    /// The mode that dropout or batch norm keeps in spite of train(): true for training.
    std::optional<bool> fixed_mode = {};
};

class OwnNetwork {
  public:
    virtual ~OwnNetwork() = default;
    /// The network's own tensors, trained in place. One with several names is listed under each.
    virtual std::vector<OwnTensor> tensors() const = 0;
    /// forward() and loss() throw a std::exception whose first line is the reason.
    virtual torch::Tensor forward(std::vector<torch::Tensor> inputs) = 0;
    /// The file's own loss, a scalar. Call it if OwnFile::has_loss().
    virtual torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const = 0;
    virtual void train(bool on) = 0;
    /// Code that cannot be examined may branch.
    virtual OwnTraits traits() const { return {.branches = true}; }
};

class OwnFile {
  public:
    virtual ~OwnFile() = default;
    /// Throws DataError if the file is damaged.
    virtual void check() const {}
    /// Each call makes another network.
    virtual std::unique_ptr<OwnNetwork> make() const = 0;
    /// Returns the source text that decides what the network computes.
    virtual std::string code() const = 0;
    virtual bool has_loss() const { return false; }
    /// Options that the file gives ("input-shape", "classes", "target-shape"), as a user types
    /// them.
    virtual std::map<std::string, std::string> options() const { return {}; }
};

/// The file's stem; "STEM:NAME" for PATH.py:NAME.
std::string name_of_own(const std::string& model);
bool is_python(const std::string& model);
/// True for PATH.pt, PATH.py and PATH.py:NAME; false for the name of one of ranklab's models.
bool is_own(const std::string& model);

/// Opens PATH.pt, PATH.py or PATH.py:NAME. A Python file is run at the first call. Throws DataError
/// if the file cannot be read or run, EnvironmentError if there is no Python for it.
std::shared_ptr<const OwnFile> open_own(const std::string& model);

/// open_own() of a file that torch.jit.save wrote.
std::shared_ptr<const OwnFile> open_script(const std::string& path);
/// open_own() of a Python file, in which `name` returns the network.
std::shared_ptr<const OwnFile> open_python(const std::string& path, const std::string& name);

/// Returns the line with the reason from a library's message of many lines.
std::string reason_of(const std::exception& error);

/// Options of a network from a file.
struct OwnRequest {
    std::string model;  ///< PATH.pt, PATH.py or PATH.py:NAME
    InputShape input;
    std::string loss;                    ///< cross-entropy, nll, mse or l1; "": the file's own
    torch::Dtype dtype = torch::kFloat;  ///< of parameters and floating-point inputs in the run
};

/// An entry named after the file's stem; each call of `make` makes another network.
ModelEntry own_entry(const OwnRequest& request);

/// Trains the network with two samples. Throws OptionError unless it takes the input's shape,
/// returns the target's (scores [N, classes, target] or [N, target, classes]) and has dense
/// gradients; the errors of open_own.
OwnTraits check_own(const OwnRequest& request);

/// Returns a hash of the code and of the parameters' names and shapes, not of values.
std::string structure_hash(const std::string& model);

/// `count` samples of random normal numbers of type `dtype`; all 0 if the input is int64.
torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype);

}  // namespace ranklab::nn
