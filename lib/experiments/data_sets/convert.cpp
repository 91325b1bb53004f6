#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/make/tools.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

bool is_hdf5_name(const std::string& name) {
    return name.ends_with(".h5") || name.ends_with(".hdf5");
}

// Throws OptionError for a conversion that is impossible.
data::ConvertSpec spec_of(const options::Options& given) {
    auto spec = given.fields<data::ConvertSpec>();
    spec.output = output_of(given, 1, spec.output, "");
    if (given.positional().empty() || spec.output.empty())
        throw base::OptionError(
            "convert needs an input and an output: ranklab data convert x_data.npy,x_label.npy "
            "x.h5");
    for (const auto& name : base::split(given.positional().front(), ','))
        spec.inputs.emplace_back(name);
    if (spec.dataset && spec.dataset->empty()) spec.dataset.reset();
    const bool to_npy = is_hdf5_name(spec.inputs.front().string());
    if (to_npy && (spec.inputs.size() > 1 || spec.dataset || spec.chunk != 0))
        throw base::OptionError("from HDF5 to npy give one input; leave --dataset and --chunk out");
    if (spec.dataset && (spec.inputs.size() > 1 || spec.dataset->find('/') != std::string::npos))
        throw base::OptionError(
            "--dataset names the dataset of one npy file; give one input, and a name without /");
    if (!to_npy && !is_hdf5_name(spec.output))
        throw base::OptionError(
            fmt::format("'{}' does not end in .h5; npy files become one HDF5 file", spec.output));
    return spec;
}

Runs convert(const data::ConvertSpec& spec, const RunContext& around) {
    const bool to_npy = is_hdf5_name(spec.inputs.front().string());
    return {.text = to_npy ? data::hdf5_to_npy(around.control, spec, around.progress)
                           : data::npy_to_hdf5(around.control, spec, around.progress)};
}

}  // namespace

Experiment convert_verb() {
    using S = data::ConvertSpec;
    return {
        .command = "data convert",
        .usage = "IN.npy[,IN2.npy] OUT.h5 | IN.h5 STEM [options]",
        .summary =
            "Turns npy volumes [D, H, W, C] into HDF5 datasets [C, D, H, W] (C = 4: /Nbody, C = "
            "5: /Hydro), or a cosmology file into STEM_data.npy and STEM_label.npy.",
        .examples =
            "  ranklab data convert train_data.npy,train_label.npy train.h5\n"
            "      /Nbody and /Hydro\n"
            "  mpirun -n 4 ranklab data convert train_data.npy,train_label.npy train.h5 \\\n"
            "      --chunk 16\n"
            "  ranklab data convert density.npy density.h5 --dataset density\n"
            "      any channels, one dataset\n"
            "  ranklab data convert train.h5 train\n"
            "      train_data.npy, train_label.npy\n",
        .options =
            options::Schema()
                .positional(2)
                .section("Conversion")
                .text("output", &S::output, "FILE", "the file to make, also as second argument")
                .integer("chunk", &S::chunk, 0,
                         "edge of a chunk of the HDF5 datasets; 0 for contiguous ones")
                .text("dataset", &S::dataset, "NAME",
                      "the HDF5 dataset to store one npy file in (default: Nbody for 4 channels, "
                      "Hydro for 5)")
                .flag("force", &S::force, "replace what is there already"),
        .settle = [](const auto& given, const auto& common, auto&) -> Plan {
            const auto spec = spec_of(given);
            return {
                .settings = given.effective(spec, common),
                .facts = {{"from", given.positional().front(), false}, {"to", spec.output, false}},
                .run = [spec](const auto& context) { return convert(spec, context); }};
        }};
}

}  // namespace ranklab::experiments
