#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/make/convert.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

bool is_hdf5_name(const std::string& name) {
    return name.ends_with(".h5") || name.ends_with(".hdf5");
}

data::ConvertSpec spec_of(const options::Options& options) {
    data::ConvertSpec spec;
    for (const auto& name : base::split(options.positional().front(), ','))
        spec.inputs.emplace_back(name);
    spec.output = place_of(options, 1, "");
    spec.dataset = options.has("dataset") ? options.text("dataset") : "";
    spec.chunk = options.integer("chunk");
    spec.force = options.flag("force");
    return spec;
}

class Convert final : public Verb {
  public:
    std::string words() const override { return "convert"; }
    std::string usage() const override { return "IN.npy[,IN2.npy] OUT.h5 | IN.h5 STEM [options]"; }
    std::string summary() const override {
        return "Turns npy volumes [D, H, W, C] into HDF5 datasets [C, D, H, W] (C = 4: /Nbody, C = "
               "5: /Hydro), or a cosmology file into STEM_data.npy and STEM_label.npy.";
    }
    std::string examples() const override {
        return "  ranklab data convert train_data.npy,train_label.npy train.h5              /Nbody "
               "and /Hydro\n"
               "  mpirun -n 4 ranklab data convert train_data.npy,train_label.npy train.h5 --chunk "
               "16\n"
               "  ranklab data convert density.npy density.h5 --dataset density             any "
               "channels, one dataset\n"
               "  ranklab data convert train.h5 train                                       "
               "train_data.npy, train_label.npy\n";
    }
    void describe(options::Schema& schema) const override {
        schema.positional(2);
        schema.section("Conversion")
            .text("output", "FILE", std::nullopt, "what to make; the same as the second word")
            .integer("chunk", 0, "0", "edge of a chunk of the HDF5 datasets; 0 for contiguous ones")
            .text("dataset", "NAME", std::nullopt,
                  "the HDF5 dataset of one npy file (default: by its channels)")
            .flag("force", "replace what is there already");
    }
    std::vector<results::Setting> resolve(options::Options& options) const override {
        if (options.positional().empty() || place_of(options, 1, "").empty())
            throw base::OptionError(
                "convert needs what to read and what to make: ranklab data convert "
                "x_data.npy,x_label.npy x.h5");
        const auto spec = spec_of(options);
        const bool back = is_hdf5_name(spec.inputs.front().string());
        if (back && (spec.inputs.size() > 1 || !spec.dataset.empty() || spec.chunk != 0))
            throw base::OptionError(
                "from HDF5 to npy one file is converted, without --dataset and --chunk");
        if (!spec.dataset.empty() &&
            (spec.inputs.size() > 1 || spec.dataset.find('/') != std::string::npos))
            throw base::OptionError(
                "--dataset is the plain name for one npy file; give one input, and a name without "
                "/");
        if (!back && !is_hdf5_name(spec.output.string()))
            throw base::OptionError(fmt::format(
                "'{}' does not end in .h5: npy files become one HDF5 file", spec.output.string()));
        return {{"from", options.positional().front(), false}, {"to", spec.output.string(), false}};
    }
    ToolReport run(const ToolPlace& place) override {
        auto& [control, options, progress, start_up, counting] = place.context;
        const auto spec = spec_of(options);
        const bool back = is_hdf5_name(spec.inputs.front().string());
        std::string text;
        for (const auto& one : back ? data::hdf5_to_npy(control, spec, progress)
                                    : data::npy_to_hdf5(control, spec, progress))
            text += fmt::format("{} -> {} [{}]\n", one.from, one.to, fmt::join(one.shape, ", "));
        return {text, ""};
    }
};

}  // namespace

std::unique_ptr<Verb> convert_verb() {
    return std::make_unique<Convert>();
}

}  // namespace ranklab::experiments
