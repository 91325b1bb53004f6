#include "hdf5/file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::size_t kGrowBy = 1U << 20U;  // of a file in memory

Id access_properties() {
    Id properties = file_access();
    // V18 is the oldest form with compact groups and links kept in the order they were made.
    check<H5Pset_libver_bounds>("file access", properties.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
    // Small allocation blocks: what is left of the last one stays in the file as a hole.
    check<H5Pset_meta_block_size>("file access", properties.get(), 512);
    check<H5Pset_small_data_block_size>("file access", properties.get(), 512);
    return properties;
}

// Runs are read one after the other and not again, which HDF5's cache takes for a reason to grow: to hundreds
// of megabytes in a file of 10,000 runs, since it counts an entry's size in the file and not in memory.
void keep_cache_small(const Id& access) {
    constexpr std::size_t kBytes = std::size_t{512} << 10;
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    check<H5Pget_mdc_config>("file access", access.get(), &config);
    config.set_initial_size = true;
    config.initial_size = config.min_size = config.max_size = kBytes;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    check<H5Pset_mdc_config>("file access", access.get(), &config);
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
    if (!base::irregular_kind(path).empty()) return false;  // HDF5 would wait for a FIFO's writer
    if (::access(path.c_str(), R_OK) != 0) {
        if (errno == EACCES || errno == EPERM) base::throw_read_errno("open", path, errno);
        return false;
    }
    initialise();
    return H5Fis_hdf5(path.c_str()) > 0;
}

void spare(const std::filesystem::path& path, const std::string& setting) {
    if (is_hdf5(path))
        throw base::OptionError(
            fmt::format("{} is an HDF5 file, which is not replaced by a text; name another file",
                        path.string()),
            {setting});
}

std::string library_version() {
    initialise();
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    check<H5get_libversion>("the library", &major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

File::File(Id id, std::string path) : id_(std::move(id)), path_(std::move(path)) {}

File File::open_to_read(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    keep_cache_small(access);
    return {own<H5Fopen>(path.string(), path.c_str(), H5F_ACC_RDONLY, access.get()), path.string()};
}

File File::open_to_change(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    return {own<H5Fopen>(path.string(), path.c_str(), H5F_ACC_RDWR, access.get()), path.string()};
}

File File::create(const std::filesystem::path& path) {
    const Id access = access_properties();
    Id id = own<H5Fcreate>(path.string(), path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    return {std::move(id), path.string()};
}

File File::create_in_memory() {
    const Id access = access_properties();
    // HDF5 1.10 clears a flag in the image of a newer superblock, and not its checksum: the oldest has none.
    check<H5Pset_libver_bounds>("file access", access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    check<H5Pset_fapl_core>("file access", access.get(), kGrowBy, false);
    return {own<H5Fcreate>("a file in memory", "memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "memory"};
}

std::vector<std::byte> File::image() const {
    check<H5Fflush>(path_, id_.get(), H5F_SCOPE_GLOBAL);
    std::vector<std::byte> bytes(check<H5Fget_file_image>(path_, id_.get(), nullptr, 0));
    check<H5Fget_file_image>(path_, id_.get(), bytes.data(), bytes.size());
    return bytes;
}

Group File::root() const {
    return {own<H5Gopen2>(path_, id_.get(), "/", H5P_DEFAULT), "/"};
}

void File::close() {
    check<H5Fclose>(path_, id_.release());
}

}  // namespace ranklab::hdf5
