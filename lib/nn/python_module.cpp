// The plug-in of nn/python_network.cpp. It links libpython and LibTorch's Python part, and hands a
// user's file to python/own_file.py.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/error.hpp"
#include "nn/own_network.hpp"
#include "nn/python/templates.hpp"

namespace ranklab::nn {
namespace {

namespace fs = std::filesystem;

// Calls work() with Python's lock. Throws Error with the sentence of a Python exception.
template <class Error = base::DataError>
auto in_python(const auto& work) {
    const py::gil_scoped_acquire lock;
    try {
        return work();
    } catch (const py::error_already_set& error) {
        throw Error(py::str(error.value()).cast<std::string>());
    }
}

// Holds a Python object, whose reference count needs Python's lock.
class Object {
  public:
    explicit Object(py::object object) : object_(std::move(object)) {}
    Object(Object&&) = default;
    Object& operator=(Object&&) = delete;
    ~Object() {
        const py::gil_scoped_acquire lock;
        object_ = py::object();
    }

    template <class Result, class... Values>
    Result call(const char* function, const Values&... values) const {
        return in_python([&] { return object_.attr(function)(values...).template cast<Result>(); });
    }
    /// Throws std::runtime_error: the numbers in the tensors may be the reason.
    torch::Tensor compute(const char* function, const std::vector<torch::Tensor>& tensors) const {
        return in_python<std::runtime_error>([&] {
            const auto arguments = py::tuple(py::cast(tensors));
            return object_.attr(function)(*arguments).cast<torch::Tensor>();
        });
    }

  private:
    py::object object_;
};

class PythonNetwork final : public OwnNetwork {
  public:
    explicit PythonNetwork(Object network) : network_(std::move(network)) {}

    std::vector<OwnTensor> tensors() const override {
        using Rows = std::vector<std::tuple<std::string, torch::Tensor, bool>>;
        std::vector<OwnTensor> tensors;
        for (auto& [name, tensor, is_parameter] : network_.call<Rows>("tensors"))
            tensors.push_back({name, tensor, is_parameter});
        return tensors;
    }
    torch::Tensor forward(std::vector<torch::Tensor> inputs) override {
        return network_.compute("forward", inputs);
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return network_.compute("loss", {output, targets});
    }
    void train(bool on) override { network_.call<py::object>("train", on); }

  private:
    Object network_;
};

class PythonFile final : public OwnFile {
  public:
    explicit PythonFile(Object file) : file_(std::move(file)) {}

    std::unique_ptr<OwnNetwork> make() const override {
        return in_python([&] {
            return std::make_unique<PythonNetwork>(Object(file_.call<py::object>("make")));
        });
    }
    std::string code() const override { return file_.call<std::string>("code"); }
    bool has_loss() const override { return file_.call<bool>("has_loss"); }
    std::map<std::string, std::string> options() const override {
        return file_.call<std::map<std::string, std::string>>("options");
    }

  private:
    Object file_;
};

// Returns the path of the loaded libtorch_cpu.so.
fs::path libtorch() {
    Dl_info library{};
    dladdr(reinterpret_cast<const void*>(&at::globalContext), &library);
    return fs::canonical(library.dli_fname);
}

// Returns the python3 of the active environment, or of the environment with LibTorch's package; ""
// if there is neither, which selects the python3 in PATH.
std::string program() {
    const auto version = fmt::format("python{}.{}", PY_MAJOR_VERSION, PY_MINOR_VERSION);
    const auto* const venv = std::getenv("VIRTUAL_ENV");
    const auto* const conda = std::getenv("CONDA_PREFIX");
    // PREFIX/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so
    fs::path of_libtorch = libtorch();
    for (int folders = 0; folders < 6; ++folders) of_libtorch = of_libtorch.parent_path();
    for (const auto& folder : {fs::path(venv == nullptr ? "" : venv),
                               fs::path(conda == nullptr ? "" : conda), of_libtorch})
        if (!folder.empty() && fs::exists(folder / "lib" / version / "site-packages"))
            return folder / "bin" / "python3";
    return {};
}

// Starts Python without handlers of signals and without a change of the locale.
void start() {
    const auto check = [](const PyStatus& status) {
        if (PyStatus_Exception(status) != 0)
            throw base::EnvironmentError(fmt::format("Python does not start: {}", status.err_msg));
    };
    PyPreConfig before{};
    PyPreConfig_InitPythonConfig(&before);
    before.configure_locale = 0;
    before.coerce_c_locale = 0;
    before.utf8_mode = 1;
    check(Py_PreInitialize(&before));
    PyConfig config{};
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    if (const auto python = program(); !python.empty())
        check(PyConfig_SetBytesString(&config, &config.program_name, python.c_str()));
    const auto status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    check(status);
    PyEval_SaveThread();  // unlocks
}

// The module of python/own_file.py. Never destroyed, as Python itself.
py::object& own_file() {
    static auto& module = *new py::object;
    return module;
}

}  // namespace
}  // namespace ranklab::nn

extern "C" {

__attribute__((visibility("default"))) void ranklab_start_python() {
    using namespace ranklab::nn;
    start();
    in_python([] {
        own_file() = py::module_::import("types").attr("ModuleType")("ranklab_own_networks");
        const py::object scope = own_file().attr("__dict__");
        const std::string text(python::template_text("own_file.py"));
        py::module_::import("builtins").attr("exec")(text, scope);
        scope["start"](TORCH_VERSION, libtorch().string());
    });
}

/// To be deleted by the caller.
__attribute__((visibility("default"))) ranklab::nn::OwnFile* ranklab_open_python_file(
    const char* path, const char* name) {
    using namespace ranklab::nn;
    return in_python(
        [&]() -> OwnFile* { return new PythonFile(Object(own_file().attr("File")(path, name))); });
}
}
