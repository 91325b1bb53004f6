#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/program.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {

#ifdef H5_HAVE_PARALLEL
namespace {

struct Info : base::Immovable {
    MPI_Info hints = MPI_INFO_NULL;
    ~Info() {
        if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    }
};

void mpi_check(int code, const char* call, std::string_view what) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw base::Error(fmt::format("{} failed on {}: {}", call, what, text.data()));
}

void set_hints(MPI_Info info, const DatasetFileOptions& options) {
    for (const auto& [key, value] : options.hints) {
        const bool fits = !key.empty() && key.size() < MPI_MAX_INFO_KEY && !value.empty() &&
                          value.size() < MPI_MAX_INFO_VAL;
        if (!fits || MPI_Info_set(info, key.c_str(), value.c_str()) != MPI_SUCCESS)
            throw base::OptionError(
                fmt::format("MPI refuses the hint {}={}; give KEY=VALUE, both short and not empty",
                            key, value));
    }
}

Facts hints_in_effect(MPI_File file, const std::string& path) {
    Info info;
    mpi_check(MPI_File_get_info(file, &info.hints), "MPI_File_get_info", path);
    int keys = 0;
    if (info.hints != MPI_INFO_NULL)
        mpi_check(MPI_Info_get_nkeys(info.hints, &keys), "MPI_Info_get_nkeys", path);
    Facts hints;
    for (int i = 0; i < keys; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        int found = 0;
        mpi_check(MPI_Info_get_nthkey(info.hints, i, key.data()), "MPI_Info_get_nthkey", path);
        mpi_check(MPI_Info_get(info.hints, key.data(), MPI_MAX_INFO_VAL, value.data(), &found),
                  "MPI_Info_get", path);
        if (found != 0) hints.emplace_back(key.data(), value.data());
    }
    return hints;
}

// ROMIO reports romio_ hints for every file. Open MPI's only alternative is OMPIO.
std::string implementation(const Facts& hints) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi_check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version",
              "the library");
    const std::string name = base::mpi_library_name(text.data());
    const std::string library = name.substr(0, name.find(','));
    for (const auto& [key, value] : hints) {
        if (key.rfind("romio_", 0) == 0) return fmt::format("ROMIO ({})", library);
    }
    if (library.rfind("Open MPI", 0) == 0) return fmt::format("OMPIO ({})", library);
    return fmt::format("unknown ({})", library);
}

}  // namespace

void use_mpi_io(const Id& access, const DatasetFileOptions& options) {
    Info info;
    if (!options.hints.empty()) {
        mpi_check(MPI_Info_create(&info.hints), "MPI_Info_create", "the hints");
        set_hints(info.hints, options);
    }
    // HDF5 keeps duplicates of the communicator and the hints.
    check<H5Pset_fapl_mpio>("file access", access.get(), *static_cast<const MPI_Comm*>(options.mpi),
                            info.hints);
    check<H5Pset_coll_metadata_write>("file access", access.get(), options.collective_metadata);
    check<H5Pset_all_coll_metadata_ops>("file access", access.get(),
                                        options.collective_metadata && options.collective_opening);
}

Id mpi_transfer(Requested requested) {
    Id transfer = own<H5Pcreate>("a transfer", H5P_DATASET_XFER);
    const auto mode =
        requested == Requested::collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT;
    check<H5Pset_dxpl_mpio>("a transfer", transfer.get(), mode);
    return transfer;
}

Transfer outcome_of(const Id& transfer, Requested requested) {
    H5D_mpio_actual_io_mode_t io_mode = H5D_MPIO_NO_COLLECTIVE;
    H5D_mpio_actual_chunk_opt_mode_t chunk_mode = H5D_MPIO_NO_CHUNK_OPTIMIZATION;
    Transfer outcome{.requested = requested};
    check<H5Pget_mpio_actual_io_mode>("a transfer", transfer.get(), &io_mode);
    check<H5Pget_mpio_actual_chunk_opt_mode>("a transfer", transfer.get(), &chunk_mode);
    check<H5Pget_mpio_no_collective_cause>("a transfer", transfer.get(), &outcome.local_cause,
                                           &outcome.global_cause);
    outcome.io_mode = io_mode;
    outcome.chunk_mode = chunk_mode;
    return outcome;
}

Facts describe_mpi_io(const Id& file, const std::string& path) {
    void* handle = nullptr;
    check<H5Fget_vfd_handle>(path, file.get(), H5P_DEFAULT, &handle);
    const Facts hints = hints_in_effect(*static_cast<MPI_File*>(handle), path);
    Facts facts{{"implementation", implementation(hints)}};
    for (const auto& [key, value] : hints) facts.emplace_back("hint " + key, value);
    return facts;
}

#else

void use_mpi_io(const Id&, const DatasetFileOptions&) {
    throw base::EnvironmentError(
        "this ranklab was built on an HDF5 without MPI, so several ranks cannot write one file; "
        "let one rank write it, or build on a parallel HDF5 (libhdf5-openmpi-dev, "
        "libhdf5-mpich-dev)");
}
Id mpi_transfer(Requested) {
    return {};
}
Transfer outcome_of(const Id&, Requested requested) {
    return {.requested = requested};
}
Facts describe_mpi_io(const Id&, const std::string&) {
    return {};
}

#endif

}  // namespace ranklab::hdf5
