#include "hdf5/rows.hpp"

#include <fmt/format.h>

#include <mutex>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

// "float", "uint" or "int".
std::string kind_of(const Id& type, const std::string& what) {
    if (check<H5Tget_class>(what, type.get()) == H5T_FLOAT) return "float";
    return check<H5Tget_sign>(what, type.get()) == H5T_SGN_NONE ? "uint" : "int";
}

// Addresses count from a user block's end or from the file's begin, as the library's version has
// it: such a file is left to the library.
std::optional<std::uint64_t> place_of_values(const Object& dataset) {
    const std::string& what = dataset.path();
    const Id properties = own<H5Dget_create_plist>(what, dataset.id());
    const Id file = own<H5Iget_file_id>(what, dataset.id());
    const Id of_file = own<H5Fget_create_plist>(what, file.get());
    hsize_t user_block = 0;
    check<H5Pget_userblock>(what, of_file.get(), &user_block);
    if (user_block > 0 || check<H5Pget_layout>(what, properties.get()) != H5D_CONTIGUOUS)
        return std::nullopt;
    const haddr_t offset = H5Dget_offset(dataset.id());
    return offset == HADDR_UNDEF ? std::nullopt : std::optional<std::uint64_t>(offset);
}

}  // namespace

Rows::Rows(const std::filesystem::path& file, const std::string& dataset)
    : file_(File::open_to_read(file)),
      object_(open_dataset_inside(file_.root().id(), dataset, file.string() + ":" + dataset),
              file.string() + ":" + dataset) {
    const std::string& what = object_.path();
    const Id type = own<H5Dget_type>(what, object_.id());
    const H5T_class_t kind = check<H5Tget_class>(what, type.get());
    const auto shape = shape_of(object_);
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || shape.empty())
        throw base::DataError(fmt::format("{} is not an array of numbers", what));
    shape_.assign(shape.begin(), shape.end());
    const std::string name = kind_of(type, what);
    const std::size_t bytes = H5Tget_size(type.get());
    const bool little = check<H5Tget_order>(what, type.get()) == H5T_ORDER_LE;
    type_ = fmt::format("{}{}", name, 8 * bytes);
    descr_ = fmt::format("{}{}{}", bytes == 1 ? '|' : little ? '<' : '>', name.front(), bytes);
    contiguous_at_ = place_of_values(object_);
}

void Rows::read(std::int64_t index, std::span<float> values) const {
    read_as(H5T_NATIVE_FLOAT, index, values.size(), values.data());
}

void Rows::read(std::int64_t index, std::span<std::int64_t> values) const {
    read_as(H5T_NATIVE_INT64, index, values.size(), values.data());
}

void Rows::read_as(Id::type type, std::int64_t index, std::size_t count, void* values) const {
    const std::lock_guard lock(library_mutex());
    std::vector<hsize_t> start(shape_.size());
    start[0] = static_cast<hsize_t>(index);
    auto box = sizes(shape_);
    box[0] = 1;
    const Id space = select_box(object_, start, box);
    check_count(space, object_, count);
    const Id memory = space_of(std::vector<hsize_t>{count}, object_.path());
    if (H5Dread(object_.id(), type, memory.get(), space.get(), H5P_DEFAULT, values) < 0)
        throw base::DataError(
            fmt::format("row {} of {} cannot be read: its file is damaged or was cut short; copy "
                        "or make it again ({})",
                        index, object_.path(), library_text()));
}

}  // namespace ranklab::hdf5
