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

std::string child_path(const Group& group, const std::string& name) {
    return group.path() == "/" ? "/" + name : fmt::format("{}/{}", group.path(), name);
}

Id creation_properties() {
    Id properties = own(H5Pcreate(H5P_GROUP_CREATE), "H5Pcreate", "a group");
    check(H5Pset_link_creation_order(properties.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
          "H5Pset_link_creation_order", "a group");
    check(H5Pset_obj_track_times(properties.get(), false), "H5Pset_obj_track_times", "a group");
    return properties;
}

Group create(const Group& parent, const std::string& name, const Id& properties) {
    const std::string path = child_path(parent, name);
    Id id = own(H5Gcreate2(parent.id(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                "H5Gcreate2", path);
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
    check(H5Pset_link_phase_change(properties.get(), kMostInHeader, kMostInHeader / 2),
          "H5Pset_link_phase_change", name);
    check(H5Pset_attr_phase_change(properties.get(), kMostInHeader, kMostInHeader / 2),
          "H5Pset_attr_phase_change", name);
    check(H5Pset_est_link_info(properties.get(), expected, kUsualNameLength), "H5Pset_est_link_info", name);
    return create(*this, name, properties);
}

Group Group::create_large_group(const std::string& name) const {
    return create(*this, name, creation_properties());
}

Group Group::open_group(const std::string& name) const {
    const std::string path = child_path(*this, name);
    return {open_group_inside(id(), name, path), path};
}

bool Group::has(const std::string& name) const {
    return check(H5Lexists(id(), name.c_str(), H5P_DEFAULT), "H5Lexists", child_path(*this, name)) > 0;
}

std::vector<std::string> Group::members() const {
    // In the library's own order, for which it makes no table of them, but for few links in the group's
    // header.
    static_cast<void>(has(kNobody));
    Members members;
    check(H5Literate(id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name, &members), "H5Literate", path());
    if (!members.twice.empty())
        throw base::DataError(
            fmt::format("{} is another name of something beside it (a hard link), which would be read once a "
                        "name; remove "
                        "that link",
                        child_path(*this, members.twice)));
    std::sort(members.all.begin(), members.all.end());
    std::vector<std::string> names;
    names.reserve(members.all.size());
    for (auto& member : members.all) names.push_back(std::move(member.name));
    return names;
}

}  // namespace ranklab::hdf5
