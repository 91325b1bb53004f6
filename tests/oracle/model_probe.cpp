// Computes a model of the catalogue, for PyTorch to judge: model_oracle_test.py writes the
// request, this program the answer.
//   model_probe REQUEST.h5 ANSWER.h5
// REQUEST's root has the attributes model, precision (fp32 or fp64), width, full_scale (0 or 1),
// lambda_rho. With the attribute seed it wants that seed's weights: ANSWER then holds them in the
// group "parameters". Otherwise it has "state" (every parameter and buffer by name), "input",
// "targets" and the attributes optimizer (sgd or adam), lr, momentum. ANSWER then holds
// "eval_output", "train_output", "loss", and after one step of training the groups "gradients",
// "parameters" and "buffers".
#include <fmt/format.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "hdf5/layout.hpp"
#include "nn/model.hpp"

namespace ranklab {
namespace {

hdf5::Element element_of(torch::Dtype dtype) {
    if (dtype == torch::kFloat) return hdf5::Element::f32;
    return dtype == torch::kDouble ? hdf5::Element::f64 : hdf5::Element::i64;
}

// The request is the test's own file: its types and sizes are taken as they are.
torch::Tensor read(const hdf5::Group& group, const std::string& name) {
    const hdf5::Object dataset = hdf5::open_dataset(group, name);
    const auto type = hdf5::own<H5Dget_type>(name, dataset.id());
    const auto space = hdf5::own<H5Dget_space>(name, dataset.id());
    std::vector<hsize_t> extents(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    if (!extents.empty()) H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    const auto tensor = torch::empty(std::vector<std::int64_t>(extents.begin(), extents.end()),
                                     H5Tequal(type.get(), H5T_NATIVE_FLOAT) > 0    ? torch::kFloat
                                     : H5Tequal(type.get(), H5T_NATIVE_DOUBLE) > 0 ? torch::kDouble
                                                                                   : torch::kLong);
    hdf5::check<H5Dread>(name, dataset.id(), type.get(), hid_t{H5S_ALL}, hid_t{H5S_ALL},
                         hid_t{H5P_DEFAULT}, tensor.mutable_data_ptr());
    return tensor;
}

void write(const hdf5::Group& group, const std::string& name, const torch::Tensor& tensor) {
    const auto values = tensor.detach().contiguous();
    hdf5::TypedArray array{element_of(values.scalar_type()), values.sizes().vec(), {}};
    const auto* bytes = static_cast<const std::byte*>(values.const_data_ptr());
    array.bytes.assign(bytes, bytes + values.nbytes());
    hdf5::write_typed(group, name, array);
}

template <class Named, class Value>
void write_all(const hdf5::Group& root, const std::string& group, const Named& named, Value value) {
    const auto into = root.create_group(group);
    for (const auto& item : named) write(into, item.key(), value(item.value()));
}

torch::Tensor itself(const torch::Tensor& tensor) {
    return tensor;
}

nn::ModelEntry entry_of(const std::string& name) {
    for (const auto& entry : nn::models()) {
        if (entry.name == name) return entry;
    }
    throw base::OptionError(fmt::format("there is no model {}", name));
}

std::shared_ptr<nn::Model> make_model(const hdf5::Group& request) {
    const auto entry = entry_of(request.text_attribute("model"));
    if (request.has_attribute("seed"))
        torch::manual_seed(static_cast<std::uint64_t>(request.int_attribute("seed")));
    auto model = entry.make({.input = entry.input,
                             .width = request.int_attribute("width"),
                             .full_scale = request.int_attribute("full_scale") == 1,
                             .lambda_rho = request.double_attribute("lambda_rho")});
    model->to(request.text_attribute("precision") == "fp64" ? torch::kDouble : torch::kFloat);
    return model;
}

// All that the request has must be in the model, and the other way round.
void load_state(nn::Model& model, const hdf5::Group& state) {
    const torch::NoGradGuard no_gradients;
    std::size_t loaded = 0;
    const auto load = [&](const auto& named) {
        for (const auto& item : named) {
            const auto values = read(state, item.key());
            if (values.sizes() != item.value().sizes())
                throw base::DataError(
                    fmt::format("{} has another shape in the request", item.key()));
            item.value().copy_(values);
            ++loaded;
        }
    };
    load(model.named_parameters());
    load(model.named_buffers());
    if (loaded != state.members().size())
        throw base::DataError(fmt::format("the request has {} tensors, the model {}",
                                          state.members().size(), loaded));
}

void step(nn::Model& model, const hdf5::Group& request) {
    const double lr = request.double_attribute("lr");
    if (request.text_attribute("optimizer") == "adam") {
        torch::optim::Adam(model.parameters(), torch::optim::AdamOptions(lr)).step();
    } else {
        const double momentum = request.double_attribute("momentum");
        torch::optim::SGD(model.parameters(), torch::optim::SGDOptions(lr).momentum(momentum))
            .step();
    }
}

void compute(nn::Model& model, const hdf5::Group& request, const hdf5::Group& answer) {
    load_state(model, request.open_group("state"));
    const auto input = read(request, "input");
    model.eval();
    {
        const torch::NoGradGuard no_gradients;
        write(answer, "eval_output", model.forward(input));
    }
    model.train();
    const auto output = model.forward(input);
    const auto loss = model.loss(output, read(request, "targets"));
    write(answer, "train_output", output);
    write(answer, "loss", loss);
    loss.backward();
    write_all(answer, "gradients", model.named_parameters(),
              [](const auto& parameter) { return parameter.grad(); });
    step(model, request);
    write_all(answer, "buffers", model.named_buffers(), itself);
}

void run(const char* request_path, const char* answer_path) {
    const auto request = hdf5::File::open_to_read(request_path);
    auto answer = hdf5::File::create(answer_path);
    const auto model = make_model(request.root());
    if (!request.root().has_attribute("seed")) compute(*model, request.root(), answer.root());
    write_all(answer.root(), "parameters", model->named_parameters(), itself);
    answer.close();
}

}  // namespace
}  // namespace ranklab

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: model_probe REQUEST.h5 ANSWER.h5\n", stderr);
        return 2;
    }
    try {
        ranklab::run(argv[1], argv[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "model_probe: %s\n", error.what());
        return 1;
    }
}
