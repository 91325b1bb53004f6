// --save-parameters FILE: the trained parameters in HDF5, for comparing with other programs: an
// array per parameter, under its name in the model ("conv1.weight"), as in a checkpoint.
#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "base/files.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/observer.hpp"
#include "hdf5/file.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "save-parameters";

std::vector<std::byte> image_of(const nn::Model& model) {
    const std::lock_guard lock(hdf5::library_mutex());
    const hdf5::File file = hdf5::File::create_in_memory();
    write_parameters(file.root(), model);
    return file.image();
}

// A mistyped name must not overwrite a file of results.
void refuse_another_file(const std::string& path) {
    base::refuse_irregular<base::OptionError>(path);
    std::error_code none;
    if (!fs::exists(path, none) || fs::file_size(path, none) == 0) return;
    const std::lock_guard lock(hdf5::library_mutex());
    if (!hdf5::is_hdf5(path) || hdf5::File::open_to_read(path).root().has("runs"))
        throw base::OptionError(
            fmt::format("{} exists and is not a file of parameters; name another file", path),
            {kSetting});
}

class Parameters final : public StepObserver {
  public:
    // Refuses a file that could not be written now (read-only, forbidden, full).
    explicit Parameters(ObservedRun& observed)
        : StepObserver(observed), path_(*observed.options.settings.save_parameters) {
        observed.steps.sync().complete_parameters();
        comm::on_root(observed.control, [&] {
            const fs::path folder = fs::absolute(path_).parent_path();
            std::error_code error;
            if (!fs::is_directory(folder, error))
                throw base::OptionError(
                    fmt::format("{}: the folder {} does not exist; make it first", path_,
                                folder.string()),
                    {kSetting});
            refuse_another_file(path_);
            results::StagedFile(path_, kSetting).reserve(image_of(observed.model).size());
        });
    }

    // A file that cannot be written does not end the run.
    void end() override {
        observed_.steps.sync().complete_parameters();
        if (observed_.control.rank() > 0) return;
        try {
            results::StagedFile staged(path_, kSetting);
            staged.write(image_of(observed_.model));
            staged.commit();
        } catch (const std::exception& error) {
            failure_ = base::describe_failure(error);
        }
    }

    void fill(results::Run& run, RankMeasurements&) override {
        if (failure_) add_failure(run, *failure_);
    }

  private:
    std::string path_;
    std::optional<base::Failure> failure_;  // on rank 0
};

}  // namespace

ObserverEntry parameters_entry() {
    return {.wanted = [](auto& options) { return options.settings.save_parameters.has_value(); },
            .make = make_observer<Parameters>};
}

}  // namespace ranklab::experiments
