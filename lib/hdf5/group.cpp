#include "hdf5/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/inside.hpp"
#include "hdf5/look_over.hpp"

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

struct Member {
    std::int64_t made;  // the how manyth; 0 in a file that does not track that
    std::string name;
    auto operator<=>(const Member&) const = default;
};

struct Members {
    std::vector<Member> all;
    std::unordered_set<haddr_t> objects;
    std::string twice;  // the last name of an object that has another
};

herr_t add_name(hid_t, const char* name, const H5L_info_t* link, void* out) noexcept {
    try {
        auto& members = *static_cast<Members*>(out);
        members.all.push_back({link->corder_valid ? link->corder : 0, name});
        if (link->type == H5L_TYPE_HARD && !members.objects.insert(link->u.address).second)
            members.twice = name;
        return 0;
    } catch (...) {
        return -1;
    }
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
    return {open_group_inside(id(), name, path), path};
}

std::string Group::path_of(const std::string& name) const {
    return fmt::format("{}/{}", path() == "/" ? "" : path(), name);
}

bool Group::has(const std::string& name) const {
    return check<H5Lexists>(path_of(name), id(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Group::members() const {
    // In the library's own order, for which it makes no table of them, but for few links in the group's
    // header.
    has(kNobody);
    Members members;
    check<H5Literate>(path(), id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name, &members);
    if (!members.twice.empty())
        throw base::DataError(
            fmt::format("{} is another name of something beside it (a hard link), which would be read once a "
                        "name; remove "
                        "that link",
                        path_of(members.twice)));
    std::sort(members.all.begin(), members.all.end());
    std::vector<std::string> names;
    names.reserve(members.all.size());
    for (auto& member : members.all) names.push_back(std::move(member.name));
    return names;
}

}  // namespace ranklab::hdf5
