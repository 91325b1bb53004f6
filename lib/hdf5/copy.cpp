#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hdf5/check.hpp"
#include "hdf5/contents.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/look_over.hpp"
#include "hdf5/texts.hpp"

namespace ranklab::hdf5 {
namespace {

void write_values(const Id& copy, hid_t type, const Id& attribute, hsize_t entries, const std::string& what) {
    if (is_variable_text(type)) {
        const auto texts = attribute_texts(attribute.get(), type, entries, what);
        std::vector<const char*> pointers;
        for (const auto& text : texts) pointers.push_back(text.c_str());
        check<H5Awrite>(what, copy.get(), type, static_cast<const void*>(pointers.data()));
        return;
    }
    std::string values(entries * H5Tget_size(type), '\0');
    check<H5Aread>(what, attribute.get(), type, values.data());
    check<H5Awrite>(what, copy.get(), type, values.data());
}

void copy_attribute(const Object& from, const Object& to, const std::string& name) {
    const std::string what = attribute_name(from, name);
    look_over_attribute(from, name);
    const Id attribute = own<H5Aopen>(what, from.id(), name.c_str(), H5P_DEFAULT);
    const Id type = own<H5Aget_type>(what, attribute.get());
    const Id space = own<H5Aget_space>(what, attribute.get());
    const hsize_t entries = entries_of(space, what);
    const Id copy =
        own<H5Acreate2>(what, to.id(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT);
    if (entries > 0) write_values(copy, type.get(), attribute, entries, what);
}

// Many attributes lie in a tree of their own ("dense"), and HDF5 1.10 dies where it copies one with texts.
bool has_tree_of_attributes(const Group& object) {
    H5O_info_t info{};
    check<H5Oget_info2>(object.path(), object.id(), &info, H5O_INFO_META_SIZE);
    if (info.meta_size.attr.heap_size > 0 || info.meta_size.attr.index_size > 0) return true;
    if (H5Iget_type(object.id()) != H5I_GROUP) return false;
    const auto names = object.members();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return has_tree_of_attributes(member_of(object, name));
    });
}

void copy_by_library(const Group& from, const std::string& name, const Group& to, const std::string& new_name,
                     unsigned flags) {
    const std::string what = from.path_of(name);
    const Id properties = own<H5Pcreate>(what, H5P_OBJECT_COPY);
    check<H5Pset_copy_object>(what, properties.get(), flags);
    check<H5Ocopy>(what, from.id(), name.c_str(), to.id(), new_name.c_str(), properties.get(), H5P_DEFAULT);
}

void copy_object(const Group& from, const std::string& name, const Group& to, const std::string& new_name) {
    const Group object = member_of(from, name);
    if (!has_tree_of_attributes(object)) return copy_by_library(from, name, to, new_name, 0);
    if (H5Iget_type(object.id()) != H5I_GROUP) {
        copy_by_library(from, name, to, new_name, H5O_COPY_WITHOUT_ATTR_FLAG);
        return copy_attributes(object, member_of(to, new_name));
    }
    const auto names = object.members();
    const Group copy = to.create_group(new_name, names.size());
    copy_attributes(object, copy);
    for (const auto& member : names) copy_object(object, member, copy, member);
}

}  // namespace

std::size_t copy_group(const Group& from, const std::string& name, const Group& to,
                       const std::string& new_name) {
    const std::size_t datasets = look_over(from, name);
    copy_object(from, name, to, new_name);
    return datasets;
}

void copy_attributes(const Object& from, const Object& to) {
    for (const auto& name : attributes_of(from))
        if (!to.has_attribute(name)) copy_attribute(from, to, name);
}

void copy_missing(const Group& from, const Group& to, const std::string& except) {
    copy_attributes(from, to);
    for (const auto& name : from.members())
        if (name != except && !to.has(name)) copy_group(from, name, to, name);
}

}  // namespace ranklab::hdf5
