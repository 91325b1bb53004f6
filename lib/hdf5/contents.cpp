#include "hdf5/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/inside.hpp"
#include "hdf5/layout.hpp"
#include "hdf5/look_over.hpp"
#include "hdf5/texts.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr int kDeepest = 16;

// Appends fields to the bytes, each with its length, so that no two different lists look alike.
class Writer {
  public:
    explicit Writer(Contents& contents) : contents_(contents) {}

    void text(std::string_view field) {
        number(field.size());
        contents_.bytes += field;
    }
    void number(unsigned long long value) { contents_.bytes += fmt::format("{};", value); }
    void not_comparable() { contents_.comparable = false; }
    void dataset() { ++contents_.datasets; }
    // Each group once: one that is found again lies within itself, or has many names.
    void visit(const Group& group) {
        H5O_info_t info{};
        check<H5Oget_info2>(group.path(), group.id(), &info, H5O_INFO_BASIC);
        if (!groups_.insert(info.addr).second)
            throw base::DataError(
                fmt::format("{} has several names (hard links), which ranklab does not make; remove all but "
                            "one",
                            group.path()));
    }

  private:
    Contents& contents_;
    std::set<haddr_t> groups_;
};

void describe_type(hid_t type, const std::string& what, Writer& out);

void describe_members(hid_t record, const std::string& what, Writer& out) {
    const int count = check<H5Tget_nmembers>(what, record);
    for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
        char* name = check<H5Tget_member_name>(what, record, i);
        out.text(name);
        H5free_memory(name);
        out.number(H5Tget_member_offset(record, i));
        describe_type(own<H5Tget_member_type>(what, record, i).get(), what, out);
    }
}

// What its bytes mean. Pointers into a heap or the file mean nothing to another file.
void describe_type(hid_t type, const std::string& what, Writer& out) {
    const H5T_class_t kind = check<H5Tget_class>(what, type);
    out.number(kind);
    if (kind == H5T_COMPOUND) return describe_members(type, what, out);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_STRING) out.not_comparable();
    // The library would follow these into heaps that nobody has looked over.
    if (kind == H5T_VLEN || is_variable_text(type))
        throw base::DataError(fmt::format(
            "{} holds lists of variable length, or texts of variable length within records, which ranklab "
            "neither writes nor reads; remove it",
            what));
    if (kind == H5T_ARRAY) describe_type(own<H5Tget_super>(what, type).get(), what, out);
    out.number(H5Tget_size(type));
    if (kind != H5T_STRING) out.number(H5Tget_order(type));
    if (kind == H5T_INTEGER) out.number(H5Tget_sign(type));
}

// The number of entries; the shape is described.
hsize_t describe_space(const Id& space, const std::string& what, Writer& out) {
    out.number(H5Sget_simple_extent_type(space.get()));
    for (const hsize_t edge : extents_of(space, what)) out.number(edge);
    return entries_of(space, what);
}

// `read(memory)` fills a buffer of `entries` of that type.
template <class Read>
void add_values(hid_t object, hid_t type, hsize_t entries, const std::string& what, Read read, Writer& out) {
    const std::size_t size = H5Tget_size(type);
    if (entries == 0 || size == 0) return;
    if (entries > (1ULL << 40U) / size)
        throw base::DataError(fmt::format("{} claims {} entries: the file is damaged", what, entries));
    check_size(object, entries * size, what);
    std::string bytes(entries * size, '\0');
    read(bytes.data());
    out.text(bytes);
}

void add_texts(const std::vector<std::string>& texts, Writer& out) {
    for (const auto& text : texts) out.text(text);
}

void describe(hid_t type, const std::string& what, Writer& out) {
    if (is_variable_text(type)) return out.text("text");
    describe_type(type, what, out);
}

void add_attribute(const Object& object, const std::string& name, Writer& out) {
    const std::string what = attribute_name(object, name);
    const Id attribute = own<H5Aopen>(what, object.id(), name.c_str(), H5P_DEFAULT);
    const Id type = own<H5Aget_type>(what, attribute.get());
    const Id space = own<H5Aget_space>(what, attribute.get());
    out.text(name);
    describe(type.get(), what, out);
    const hsize_t entries = describe_space(space, what, out);
    if (is_variable_text(type.get()))
        return add_texts(attribute_texts(attribute.get(), type.get(), entries, what), out);
    const auto read = [&](void* to) { check<H5Aread>(what, attribute.get(), type.get(), to); };
    add_values(attribute.get(), type.get(), entries, what, read, out);
}

void add_attributes(const Object& object, std::string_view except, Writer& out) {
    for (const auto& name : attributes_of(object))
        if (name != except) add_attribute(object, name, out);
}

void add_dataset(const Object& dataset, Writer& out) {
    const Id type = own<H5Dget_type>(dataset.path(), dataset.id());
    const Id space = own<H5Dget_space>(dataset.path(), dataset.id());
    out.dataset();
    describe(type.get(), dataset.path(), out);
    const hsize_t entries = describe_space(space, dataset.path(), out);
    if (is_variable_text(type.get()))
        return add_texts(dataset_texts(dataset.id(), type.get(), entries, dataset.path()), out);
    const auto read = [&](void* to) {
        check<H5Dread>(dataset.path(), dataset.id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
    };
    add_values(dataset.id(), type.get(), entries, dataset.path(), read, out);
}

void add_group(const Group& group, std::string_view except, int depth, Writer& out);

void add_object(const Group& object, int depth, Writer& out) {
    switch (H5Iget_type(object.id())) {
        case H5I_GROUP:
            return add_group(object, "", depth, out);
        case H5I_DATASET:
            add_attributes(object, "", out);
            return add_dataset(object, out);
        default:
            out.not_comparable();
    }
}

void add_group(const Group& group, std::string_view except, int depth, Writer& out) {
    if (depth > kDeepest)
        throw base::DataError(fmt::format("{} is nested too deeply: the file is damaged", group.path()));
    out.visit(group);
    add_attributes(group, except, out);
    std::vector<std::string> names = group.members();
    std::sort(names.begin(), names.end());
    out.number(names.size());
    for (const auto& name : names) {
        out.text(name);
        add_object(member_of(group, name), depth + 1, out);
    }
}

}  // namespace

Contents contents_of(const Group& group, std::string_view except) {
    Contents contents;
    Writer out(contents);
    add_group(group, except, 0, out);
    return contents;
}

// A soft link would be copied as one, and lead to nothing in its new place.
Group member_of(const Group& group, const std::string& name) {
    const std::string path = group.path_of(name);
    H5L_info_t link{};
    check<H5Lget_info>(path, group.id(), name.c_str(), &link, H5P_DEFAULT);
    Id id = open_inside(group.id(), name, path);
    if (link.type != H5L_TYPE_HARD)
        throw base::DataError(
            fmt::format("{} is a soft link to another place, which ranklab does not make; "
                        "put what it leads to in its place (h5copy)",
                        path));
    return {std::move(id), path};
}

std::size_t look_over(const Group& from, const std::string& name) {
    Contents contents;
    Writer out(contents);
    add_object(member_of(from, name), 0, out);
    return contents.datasets;
}

void look_over_attribute(const Object& object, const std::string& name) {
    Contents contents;
    Writer out(contents);
    add_attribute(object, name, out);
}

}  // namespace ranklab::hdf5
