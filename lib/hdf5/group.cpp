#include "hdf5/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "hdf5/check.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr unsigned kMostInHeader = 60;
constexpr unsigned kUsualNameLength = 16;

Id creation_properties() {
    Id properties = own<H5Pcreate>("a group", H5P_GROUP_CREATE);
    check<H5Pset_link_creation_order>("a group", properties.get(),
                                      H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    check<H5Pset_obj_track_times>("a group", properties.get(), false);
    return properties;
}

Group create(const Group& parent, const std::string& name, const Id& properties) {
    const std::string path = parent.path_of(name);
    Id id = own<H5Gcreate2>(path, parent.id(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT);
    return {std::move(id), path};
}

// The order in which a member was made (0 in a file that does not track that), and its name.
using Member = std::pair<std::int64_t, std::string>;

herr_t add_name(hid_t, const char* name, const H5L_info_t* link, void* members) noexcept {
    try {
        static_cast<std::vector<Member>*>(members)->emplace_back(link->corder_valid ? link->corder : 0, name);
        return 0;
    } catch (...) {
        return -1;
    }
}

herr_t refuse_to_follow(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                        void* met) noexcept {
    *static_cast<bool*>(met) = true;
    return -1;
}

// Whether the library came upon a link into another file since this was last set to false. One for the
// process, as the library is.
bool& met_external_link() {
    static bool met = false;
    return met;
}

// Made once: asking it of each object would cost more than the object.
hid_t link_access() {
    static const hid_t properties = [] {
        const hid_t made = check<H5Pcreate>("link access", H5P_LINK_ACCESS);
        check<H5Pset_elink_cb>("link access", made, refuse_to_follow, &met_external_link());
        return made;
    }();
    return properties;
}

}  // namespace

Group Group::create_group(const std::string& name, std::size_t members) const {
    const Id properties = creation_properties();
    const auto expected = static_cast<unsigned>(std::min<std::size_t>(members, kMostInHeader));
    check<H5Pset_link_phase_change>(name, properties.get(), kMostInHeader, kMostInHeader / 2);
    check<H5Pset_attr_phase_change>(name, properties.get(), kMostInHeader, kMostInHeader / 2);
    check<H5Pset_est_link_info>(name, properties.get(), expected, kUsualNameLength);
    return create(*this, name, properties);
}

Group Group::create_large_group(const std::string& name) const {
    return create(*this, name, creation_properties());
}

Group Group::open_group(const std::string& name) const {
    const std::string path = path_of(name);
    Id group = open_inside(id(), name, path);
    if (H5Iget_type(group.get()) != H5I_GROUP) throw base::DataError(fmt::format("{} is not a group", path));
    return {std::move(group), path};
}

std::string Group::path_of(const std::string& name) const {
    return fmt::format("{}/{}", path() == "/" ? "" : path(), name);
}

bool Group::has(const std::string& name) const {
    return check<H5Lexists>(path_of(name), id(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Group::members() const {
    // In the library's own order, for which it makes no table of them.
    std::vector<Member> members;
    check<H5Literate>(path(), id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name, &members);
    std::sort(members.begin(), members.end());
    std::vector<std::string> names;
    names.reserve(members.size());
    for (auto& [made, name] : members) names.push_back(std::move(name));
    return names;
}

void Group::copy_member(const std::string& name, const Group& to, const std::string& new_name) const {
    check<H5Ocopy>(path_of(name), id(), name.c_str(), to.id(), new_name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
}

Object open_dataset(const Group& group, const std::string& name) {
    const std::string path = group.path_of(name);
    return {open_dataset_inside(group.id(), name, path), path};
}

Id open_inside(hid_t place, const std::string& name, const std::string& what) {
    met_external_link() = false;
    Id id(H5Oopen(place, name.c_str(), link_access()));
    if (met_external_link())
        throw base::DataError(
            fmt::format("{} leads into another file by an external link, which ranklab does not follow "
                        "(h5copy copies what is there)",
                        what));
    if (!id) fail(what);
    return id;
}

Id open_dataset_inside(hid_t place, const std::string& name, const std::string& what, hid_t access) {
    Id id = open_inside(place, name, what);
    if (H5Iget_type(id.get()) != H5I_DATASET) throw base::DataError(fmt::format("{} is not a dataset", what));
    if (access != H5P_DEFAULT) id = own<H5Dopen2>(what, place, name.c_str(), access);
    return id;
}

}  // namespace ranklab::hdf5
