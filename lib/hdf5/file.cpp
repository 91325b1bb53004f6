#include "hdf5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/error.hpp"
#include "base/files.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr std::size_t kGrowBy = 1U << 20U;  // bytes, for a file in memory

Id access_properties() {
    Id properties = file_access();
    // V18 is the oldest format with compact groups and links in order of creation.
    check<H5Pset_libver_bounds>("file access", properties.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
    // Small allocation blocks: the unused rest of the last one stays in the file as a hole.
    check<H5Pset_meta_block_size>("file access", properties.get(), 512);
    check<H5Pset_small_data_block_size>("file access", properties.get(), 512);
    return properties;
}

// Limits HDF5's metadata cache. Reading each run once makes it grow to hundreds of megabytes for
// 10,000 runs, since it counts an entry's size in the file, not in memory.
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
    if (!base::irregular_kind(path).empty()) return false;  // opening a FIFO would block
    const auto file = base::open_file(path, O_RDONLY);
    if (!file && errno != EACCES && errno != EPERM && errno != EIO) return false;
    std::string byte;  // H5Fis_hdf5 hides that a disk cannot be read
    if (!file || !base::read_up_to(file, 1, byte)) base::throw_read_errno("read", path, errno);
    return H5Fis_hdf5(path.c_str()) > 0;
}

std::string library_version() {
    unsigned major = 0, minor = 0, release = 0;
    check<H5get_libversion>("the library", &major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

File::File(Id id, std::string path, bool changes)
    : id_(std::move(id)), path_(std::move(path)), changes_(changes) {}

File::~File() {
    // HDF5 1.10 crashes if it closes a file that it could not write.
    if (changes_ && std::uncaught_exceptions() > 0) static_cast<void>(id_.release());
}

File File::open_to_read(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    keep_cache_small(access);
    return {own<H5Fopen>(path.string(), path.c_str(), H5F_ACC_RDONLY, access.get()), path.string()};
}

File File::open_to_change(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    const Id access = access_properties();
    return {own<H5Fopen>(path.string(), path.c_str(), H5F_ACC_RDWR, access.get()), path.string(),
            true};
}

File File::create(const std::filesystem::path& path) {
    const Id access = access_properties();
    Id id = own<H5Fcreate>(path.string(), path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    return {std::move(id), path.string(), true};
}

File File::create_in_memory() {
    const Id access = access_properties();
    // The earliest superblock has no checksum: HDF5 1.10 clears a flag in an image without updating
    // the checksum of a newer one.
    check<H5Pset_libver_bounds>("file access", access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    check<H5Pset_fapl_core>("file access", access.get(), kGrowBy, false);
    return {own<H5Fcreate>("a file in memory", "memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
            "memory"};
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
    check<H5Fflush>(path_, id_.get(), H5F_SCOPE_GLOBAL);
    check<H5Fclose>(path_, id_.release());  // HDF5 crashes on a second attempt
}

namespace {

// A member's creation index (0 if the file does not track it) and name.
using Member = std::pair<std::int64_t, std::string>;

herr_t add_name(hid_t, const char* name, const H5L_info_t* link, void* members) noexcept {
    try {
        static_cast<std::vector<Member>*>(members)->emplace_back(
            link->corder_valid ? link->corder : 0, name);
        return 0;
    } catch (...) {
        return -1;
    }
}

}  // namespace

Group Group::create_group(const std::string& name, std::size_t members) const {
    constexpr unsigned kMostInHeader = 60, kUsualNameLength = 16;
    const std::string path = path_of(name);
    const Id properties = own<H5Pcreate>(path, H5P_GROUP_CREATE);
    check<H5Pset_link_creation_order>(path, properties.get(),
                                      H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    check<H5Pset_obj_track_times>(path, properties.get(), false);
    check<H5Pset_link_phase_change>(path, properties.get(), kMostInHeader, kMostInHeader / 2);
    check<H5Pset_attr_phase_change>(path, properties.get(), kMostInHeader, kMostInHeader / 2);
    check<H5Pset_est_link_info>(
        path, properties.get(),
        static_cast<unsigned>(std::min<std::size_t>(members, kMostInHeader)), kUsualNameLength);
    return {own<H5Gcreate2>(path, id(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
            path};
}

Group Group::open_group(const std::string& name) const {
    const std::string path = path_of(name);
    return {own<H5Gopen2>(path, id(), name.c_str(), H5P_DEFAULT), path};
}

std::string Group::path_of(const std::string& name) const {
    return fmt::format("{}/{}", path() == "/" ? "" : path(), name);
}

bool Group::has(const std::string& name) const {
    return check<H5Lexists>(path_of(name), id(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Group::members() const {
    // Iterates in native order, for which the library builds no table, and sorts afterwards.
    std::vector<Member> members;
    check<H5Literate>(path(), id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name, &members);
    std::sort(members.begin(), members.end());
    std::vector<std::string> names;
    names.reserve(members.size());
    for (auto& [made, name] : members) names.push_back(std::move(name));
    return names;
}

void Group::copy_member(const std::string& name, const Group& to) const {
    const Id how = own<H5Pcreate>(path_of(name), H5P_OBJECT_COPY);
    check<H5Pset_copy_object>(path_of(name), how.get(), H5O_COPY_EXPAND_REFERENCE_FLAG);
    check<H5Ocopy>(path_of(name), id(), name.c_str(), to.id(), name.c_str(), how.get(),
                   H5P_DEFAULT);
}

Object open_dataset(const Group& group, const std::string& name, const std::string& title) {
    const std::string path = title.empty() ? group.path_of(name) : title;
    return {own<H5Dopen2>(path, group.id(), name.c_str(), H5P_DEFAULT), path};
}

}  // namespace ranklab::hdf5
