#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

std::string attribute_name(const Object& object, const std::string& name) {
    return fmt::format("attribute '{}' of {}", name, object.path());
}

void create(const Object& object, const std::string& name, hid_t type, const void* value) {
    const std::string what = attribute_name(object, name);
    const Id space = own<H5Screate>(what, H5S_SCALAR);
    const Id attribute = own<H5Acreate2>(what, object.id(), name.c_str(), type, space.get(),
                                         H5P_DEFAULT, H5P_DEFAULT);
    check<H5Awrite>(what, attribute.get(), type, value);
}

// Reads an attribute of one value. Throws DataError unless its type class is in `wanted`; texts
// must have variable length. HDF5 allocates a text, the caller frees it.
template <class Value>
Value read(const Object& object, const std::string& name, std::initializer_list<H5T_class_t> wanted,
           hid_t as) {
    const std::string what = attribute_name(object, name);
    const Id attribute = own<H5Aopen>(what, object.id(), name.c_str(), H5P_DEFAULT);
    const Id space = own<H5Aget_space>(what, attribute.get());
    const Id type = own<H5Aget_type>(what, attribute.get());
    const H5T_class_t kind = check<H5Tget_class>(what, type.get());
    const bool fits = std::ranges::find(wanted, kind) != wanted.end() &&
                      (kind != H5T_STRING || H5Tis_variable_str(type.get()) > 0);
    if (!fits || H5Sget_simple_extent_npoints(space.get()) != 1)
        throw base::DataError(
            fmt::format("{} does not have the type that ranklab's files give it", what));
    Value value{};
    check<H5Aread>(what, attribute.get(), as, static_cast<void*>(&value));
    return value;
}

}  // namespace

bool Object::has_attribute(const std::string& name) const {
    return check<H5Aexists>(attribute_name(*this, name), id(), name.c_str()) > 0;
}

void Object::set_int(const std::string& name, std::int64_t value) const {
    create(*this, name, H5T_NATIVE_INT64, &value);
}

void Object::set_double(const std::string& name, double value) const {
    create(*this, name, H5T_NATIVE_DOUBLE, &value);
}

void Object::set_text(const std::string& name, const std::string& value) const {
    const Id type = text_type(H5T_VARIABLE);
    const char* text = value.c_str();
    create(*this, name, type.get(), &text);
}

std::int64_t Object::int_attribute(const std::string& name) const {
    return read<std::int64_t>(*this, name, {H5T_INTEGER}, H5T_NATIVE_INT64);
}

double Object::double_attribute(const std::string& name) const {
    return read<double>(*this, name, {H5T_FLOAT, H5T_INTEGER}, H5T_NATIVE_DOUBLE);
}

std::string Object::text_attribute(const std::string& name) const {
    const Id type = text_type(H5T_VARIABLE);
    char* const text = read<char*>(*this, name, {H5T_STRING}, type.get());
    const std::string value = text == nullptr ? "" : text;
    H5free_memory(text);
    return value;
}

}  // namespace ranklab::hdf5
