#include "hdf5/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/error.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

using Texts = std::vector<std::string>;

constexpr int kMostColumns = 1024;

// A column's place in the packed record in memory.
struct Member {
    std::string name;
    H5T_class_t kind;
    std::size_t offset;
    std::size_t size;
    bool in_file = false;  ///< the file's record has the same type at the same offset
};

std::size_t rows_of(const Column& column) {
    return std::visit([](const auto& values) { return values.size(); }, column.values);
}

// Bytes of an entry; for texts the column's longest, at least 1, as HDF5 requires.
std::size_t width_of(const Column& column) {
    const auto* texts = std::get_if<Texts>(&column.values);
    if (texts == nullptr) return sizeof(double);
    std::size_t width = 1;
    for (const auto& text : *texts) width = std::max(width, text.size());
    return width;
}

H5T_class_t kind_of(const Column& column) {
    static constexpr std::array kKinds{H5T_FLOAT, H5T_INTEGER, H5T_STRING};
    return kKinds[column.values.index()];
}

std::size_t record_size(const std::vector<Member>& members) {
    return members.empty() ? 0 : members.back().offset + members.back().size;
}

std::vector<Member> members_of(const std::vector<Column>& columns, const std::string& path) {
    std::vector<Member> members;
    std::set<std::string> names;
    for (const auto& column : columns) {
        if (rows_of(column) != rows_of(columns.front()) || !names.insert(column.name).second)
            throw base::Error(fmt::format(
                "internal: {}: column '{}' occurs twice or differs in length", path, column.name));
        members.push_back({column.name, kind_of(column), record_size(members), width_of(column)});
    }
    return members;
}

Id member_type(const Member& member) {
    if (member.kind == H5T_STRING) return text_type(member.size);
    return own<H5Tcopy>(member.name,
                        member.kind == H5T_FLOAT ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
}

Id record_type(const std::vector<Member>& members, const std::string& path) {
    Id record = own<H5Tcreate>(path, H5T_COMPOUND, record_size(members));
    for (const auto& member : members) {
        const Id type = member_type(member);
        check<H5Tinsert>(path, record.get(), member.name.c_str(), member.offset, type.get());
    }
    return record;
}

// Copies a column's entries into the packed records.
void pack(const Column& column, const Member& member, std::size_t stride,
          std::vector<char>& records) {
    std::visit(
        [&](const auto& values) {
            for (std::size_t row = 0; row < values.size(); ++row) {
                char* entry = records.data() + row * stride + member.offset;
                if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Texts>) {
                    std::copy(values[row].begin(), values[row].end(), entry);
                } else {
                    std::memcpy(entry, &values[row], sizeof values[row]);
                }
            }
        },
        column.values);
}

template <class T>
Column unpacked(const Member& member, std::size_t stride, std::size_t rows, const char* records) {
    std::vector<T> values(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const char* entry = records + row * stride + member.offset;
        if constexpr (std::is_same_v<T, std::string>)
            values[row].assign(entry, std::find(entry, entry + member.size, '\0'));
        else
            std::memcpy(&values[row], entry, sizeof(T));
    }
    return {member.name, std::move(values)};
}

Column unpack(const Member& member, std::size_t stride, std::size_t rows, const char* records) {
    if (member.kind == H5T_STRING) return unpacked<std::string>(member, stride, rows, records);
    if (member.kind == H5T_FLOAT) return unpacked<double>(member, stride, rows, records);
    return unpacked<std::int64_t>(member, stride, rows, records);
}

std::string member_name(hid_t record, unsigned index, const std::string& path) {
    char* name = check<H5Tget_member_name>(path, record, index);
    std::string copy = name;
    H5free_memory(name);
    return copy;
}

Member member_of(hid_t record, unsigned index, const std::string& path, std::size_t offset) {
    Member member{member_name(record, index, path), H5T_NO_CLASS, offset, sizeof(double)};
    const Id type = own<H5Tget_member_type>(path, record, index);
    member.kind = check<H5Tget_class>(path, type.get());
    const bool number = member.kind == H5T_FLOAT || member.kind == H5T_INTEGER;
    const bool text = member.kind == H5T_STRING && H5Tis_variable_str(type.get()) == 0;
    if (!number && !text)
        throw base::DataError(fmt::format(
            "{}: column '{}' holds neither numbers nor fixed-length texts", path, member.name));
    if (text) member.size = H5Tget_size(type.get());
    member.in_file = H5Tget_member_offset(record, index) == offset &&
                     (text ? H5Tget_strpad(type.get()) != H5T_STR_SPACEPAD
                           : H5Tequal(type.get(), member.kind == H5T_FLOAT ? H5T_NATIVE_DOUBLE
                                                                           : H5T_NATIVE_INT64) > 0);
    return member;
}

std::vector<Member> members_in_file(const Object& dataset, const Id& type) {
    const int count = H5Tget_class(type.get()) == H5T_COMPOUND ? H5Tget_nmembers(type.get()) : -1;
    if (count < 0 || count > kMostColumns)
        throw base::DataError(fmt::format("{} is not a table", dataset.path()));
    std::vector<Member> members;
    for (unsigned i = 0; i < static_cast<unsigned>(count); ++i)
        members.push_back(member_of(type.get(), i, dataset.path(), record_size(members)));
    return members;
}

hsize_t rows_of(const Object& dataset) {
    const auto shape = shape_of(dataset);
    if (shape.size() != 1)
        throw base::DataError(fmt::format("{} is not a table of one dimension", dataset.path()));
    return shape.front();
}

}  // namespace

void write_table(const Group& group, const std::string& name, const std::vector<Column>& columns) {
    const std::string path = group.path_of(name);
    const std::vector<Member> members = members_of(columns, path);
    const std::size_t stride = record_size(members);
    const std::array<hsize_t, 1> shape{rows_of(columns.at(0))};
    std::vector<char> records(shape[0] * stride, '\0');
    for (std::size_t i = 0; i < columns.size(); ++i) pack(columns[i], members[i], stride, records);

    const Id type = record_type(members, path);
    const Object dataset =
        create_dataset(group.id(), name, path, type.get(), shape, layout_for(shape, stride));
    write_whole(dataset, type.get(), records.empty() ? nullptr : records.data());
}

std::vector<Column> read_table(const Group& group, const std::string& name) {
    const Object dataset = open_dataset(group, name);
    const hsize_t rows = rows_of(dataset);
    Id type = own<H5Dget_type>(dataset.path(), dataset.id());
    const auto members = members_in_file(dataset, type);
    const std::size_t stride = record_size(members);
    // The file's own type is used if it is the packed one: HDF5 finds conversions slowly.
    if (H5Tget_size(type.get()) != stride || !std::ranges::all_of(members, &Member::in_file))
        type = record_type(members, dataset.path());
    check_claim(dataset.id(), bytes_of(std::array{rows}, stride), dataset.path());
    std::vector<char> records(rows * stride);
    read_whole(dataset, type.get(), records.empty() ? nullptr : records.data());
    std::vector<Column> columns;
    for (const auto& member : members)
        columns.push_back(unpack(member, stride, rows, records.data()));
    return columns;
}

}  // namespace ranklab::hdf5
