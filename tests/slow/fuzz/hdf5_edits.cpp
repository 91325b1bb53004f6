#include "fuzz/hdf5_edits.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/hdf5_datasets.hpp"
#include "hdf5/file.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestElement = std::size_t{64} << 10U;

// An object of the file, as its group and its name there.
struct Place {
    std::string group;
    std::string name;
};

herr_t note_link(hid_t, const char* name, const H5L_info_t*, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

std::vector<Place> places_of(hid_t file) {
    std::vector<std::string> names;
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, note_link, &names);
    std::vector<Place> places;
    for (const auto& name : names) {
        const std::size_t slash = name.rfind('/');
        places.push_back(slash == std::string::npos ? Place{"/", name}
                                                    : Place{name.substr(0, slash), name.substr(slash + 1)});
    }
    return places;
}

struct Spot {
    hid_t file;
    hid_t group;
    const std::string& name;
};

void link_outside(const Spot& spot, Random& random) {
    constexpr std::array kFiles{"in.h5", "secret.h5", "fifo", "/dev/zero", "nothing.h5", "/etc/hostname"};
    constexpr std::array kObjects{"/", "/runs", "/samples", "/Nbody", "/x"};
    H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
    H5Lcreate_external(random.pick(kFiles), random.pick(kObjects), spot.group, spot.name.c_str(), H5P_DEFAULT,
                       H5P_DEFAULT);
}

void link_softly(const Spot& spot, Random& random) {
    const std::array<std::string, 5> targets{"/", ".", spot.name, "/nowhere", "/runs"};
    H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
    H5Lcreate_soft(random.pick(targets).c_str(), spot.group, spot.name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
}

void link_in_circle(const Spot& spot, Random& random) {
    if (random.chance(50)) H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
    H5Lcreate_hard(spot.file, random.chance(50) ? "/" : "/runs", spot.group,
                   random.chance(50) ? spot.name.c_str() : "again", H5P_DEFAULT, H5P_DEFAULT);
}

void drop(const Spot& spot, Random&) {
    H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
}

void rename(const Spot& spot, Random& random) {
    const std::string name = hostile_text(random, 60);
    H5Lmove(spot.group, spot.name.c_str(), spot.group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
}

void replace_by_dataset(const Spot& spot, Random& random) {
    H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
    make_odd_dataset(spot.group, spot.name, random);
}

void replace_by_type(const Spot& spot, Random& random) {
    H5Ldelete(spot.group, spot.name.c_str(), H5P_DEFAULT);
    const Held type = odd_type(random);
    H5Tcommit2(spot.group, spot.name.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

void add_many(const Spot& spot, Random& random) {
    const std::size_t count = 1 + random.mostly_small(2000);
    for (std::size_t i = 0; i < count; ++i)
        H5Gclose(
            H5Gcreate2(spot.group, fmt::format("more{}", i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

std::string attribute_of(hid_t object, Random& random) {
    const int count = H5Aget_num_attrs(object);
    if (count < 1 || random.chance(10)) return "new";
    std::array<char, 100> name{};
    H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE,
                       random.below(static_cast<std::size_t>(count)), name.data(), name.size(), H5P_DEFAULT);
    return name.data();
}

void set_text(hid_t object, const std::string& name, const std::string& text) {
    const Held type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    const Held space(H5Screate(H5S_SCALAR));
    const Held attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    const char* const pointer = text.c_str();
    H5Awrite(attribute, type, static_cast<const void*>(&pointer));
}

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  // of an attribute

void change_attribute(const Spot& spot, Random& random) {
    const Held object(H5Oopen(spot.group, spot.name.c_str(), H5P_DEFAULT));
    if (object < 0) return;
    const std::string name = attribute_of(object, random);
    H5Adelete(object, name.c_str());
    if (random.chance(10)) return;
    if (random.chance(60)) {
        set_text(object, name, name.ends_with("_json") ? hostile_json(random) : hostile_text(random, 100000));
        return;
    }
    const Held type = odd_type(random);
    if (H5Tget_size(type) > kLargestElement) return;  // HDF5 would fill it in this process
    const Held space = odd_space(random, true);
    // A file of gigabytes may take gigabytes to read: that is no finding.
    if (H5Sget_simple_extent_npoints(space) > static_cast<hssize_t>(kMostBytes / H5Tget_size(type))) return;
    const Held attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
}

constexpr std::array kEdits{link_outside,
                            link_softly,
                            link_in_circle,
                            drop,
                            rename,
                            replace_by_dataset,
                            replace_by_type,
                            add_many,
                            replace_by_dataset,
                            change_attribute,
                            change_attribute,
                            change_attribute};

void edit_file(const fs::path& path, Random& random) {
    if (!hdf5::is_hdf5(path)) return;
    const Held access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access, random.chance(80) ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    const Held file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access));
    if (file < 0) return;
    const auto places = places_of(file);
    if (places.empty()) return;
    const Place& place = random.pick(places);
    const Held group(H5Gopen2(file, place.group.c_str(), H5P_DEFAULT));
    random.pick(kEdits)({file, group, place.name}, random);
}

}  // namespace

const char* const kSecret = "73104455812";

void edit_hdf5(Input& input, Random& random, const fs::path& folder) {
    const fs::path path = folder / "edited.h5";
    write_file(path, input.bytes);
    edit_file(path, random);
    input.bytes = read_file(path);
    fs::remove(path);
}

// HDF5 does not survive every damage, and must not be asked to edit one.
void Hdf5Format::edit(Input& input, Random& random, std::span<const Input> others,
                      const std::filesystem::path& folder) const {
    if (!input.damaged && random.chance(50)) return edit_hdf5(input, random, folder);
    if (!input.damaged) input.checksums = find_checksums(input.bytes);
    input.damaged = true;
    edit_bytes(input, random, others);
}

void Hdf5Format::finish(Input& input, Random& random) const {
    if (random.chance(80)) renew_checksums(input.bytes, input.checksums);
}

void lay_traps(const fs::path& folder) {
    const double secret = 73104455812.0;
    Bytes bytes;
    for (int i = 0; i < 512; ++i) bytes.append(reinterpret_cast<const char*>(&secret), sizeof secret);
    write_file(folder / "secret.bin", bytes);
    ::mkfifo((folder / "fifo").c_str(), 0600);
    static const Bytes kFile = [&] {
        const fs::path path = folder / "secret.h5";
        const Held file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
        const Held samples(H5Gcreate2(file, "samples", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const hsize_t size = 512;
        const Held space(H5Screate_simple(1, &size, nullptr));
        const Held dataset(
            H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
        H5Fflush(file, H5F_SCOPE_GLOBAL);
        return read_file(path);
    }();
    write_file(folder / "secret.h5", kFile);
}

}  // namespace ranklab::fuzz
