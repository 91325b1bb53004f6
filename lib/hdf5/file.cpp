#include "hdf5/file.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "hdf5/check.hpp"
#include "hdf5/read_state.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::size_t kGrowBy = 1U << 20U;  // of a file in memory

Id access_properties() {
    initialise();
    Id properties = own(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", "file access");
    // V18 is the oldest form with compact groups and links kept in the order they were made.
    check(H5Pset_libver_bounds(properties.get(), H5F_LIBVER_V18, H5F_LIBVER_V110), "H5Pset_libver_bounds",
          "file access");
    check(H5Pset_fclose_degree(properties.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree", "file access");
    check(H5Pset_file_locking(properties.get(), false, true), "H5Pset_file_locking", "file access");
    // Small allocation blocks: what is left of the last one stays in the file as a hole.
    check(H5Pset_meta_block_size(properties.get(), 512), "H5Pset_meta_block_size", "file access");
    check(H5Pset_small_data_block_size(properties.get(), 512), "H5Pset_small_data_block_size", "file access");
    return properties;
}

// Runs are read one after the other and not again, which HDF5's cache takes for a reason to grow: to hundreds
// of megabytes in a file of 10,000 runs, since it counts an entry's size in the file and not in memory.
void keep_cache_small(const Id& access) {
    constexpr std::size_t kBytes = std::size_t{512} << 10;
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    check(H5Pget_mdc_config(access.get(), &config), "H5Pget_mdc_config", "file access");
    config.set_initial_size = true;
    config.initial_size = config.min_size = config.max_size = kBytes;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    check(H5Pset_mdc_config(access.get(), &config), "H5Pset_mdc_config", "file access");
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
    if (!base::irregular_kind(path).empty()) return false;  // HDF5 would wait for a FIFO's writer
    initialise();
    return H5Fis_hdf5(path.c_str()) > 0;
}

std::string library_version() {
    initialise();
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    check(H5get_libversion(&major, &minor, &release), "H5get_libversion", "the library");
    return fmt::format("{}.{}.{}", major, minor, release);
}

File::File(Id id, std::string path) : id_(std::move(id)), path_(std::move(path)) {}

File File::open_to_read(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    keep_cache_small(access);
    File file(own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "H5Fopen", path.string()),
              path.string());
    file.read_state_ = make_read_state(file.id_.get(), path.string());
    return file;
}

File File::open_to_change(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    return {own(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), "H5Fopen", path.string()), path.string()};
}

File File::create(const std::filesystem::path& path) {
    const Id access = access_properties();
    Id id =
        own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate", path.string());
    return {std::move(id), path.string()};
}

File File::create_in_memory() {
    const Id access = access_properties();
    // HDF5 1.10 clears a flag in the image of a newer superblock, and not its checksum: the oldest has none.
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), "H5Pset_libver_bounds",
          "file access");
    check(H5Pset_fapl_core(access.get(), kGrowBy, false), "H5Pset_fapl_core", "file access");
    return {
        own(H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate", "a file in memory"),
        "memory"};
}

std::vector<std::byte> File::image() const {
    check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL), "H5Fflush", path_);
    const ssize_t size = H5Fget_file_image(id_.get(), nullptr, 0);
    check(size < 0 ? -1 : 0, "H5Fget_file_image", path_);
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    check(H5Fget_file_image(id_.get(), bytes.data(), bytes.size()) < 0 ? -1 : 0, "H5Fget_file_image", path_);
    return bytes;
}

Group File::root() const {
    return {own(H5Gopen2(id_.get(), "/", H5P_DEFAULT), "H5Gopen2", path_), "/"};
}

void File::close() {
    check(H5Fclose(id_.release()), "H5Fclose", path_);
}

}  // namespace ranklab::hdf5
