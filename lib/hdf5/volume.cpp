#include "hdf5/volume.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/dataset_place.hpp"
#include "hdf5/inside.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr int kMostDimensions = 8;

std::string type_of(hid_t dataset, const std::string& what) {
    const Id type = own<H5Dget_type>(what, dataset);
    const auto kind = check<H5Tget_class>(what, type.get());
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) return "no number";
    const auto bits = H5Tget_size(type.get()) * 8;
    const bool foreign = H5Tget_order(type.get()) == H5T_ORDER_BE && bits > 8;
    return fmt::format("{}{}{}", kind == H5T_FLOAT ? "float" : "int", bits, foreign ? " big-endian" : "");
}

void read_layout(hid_t dataset, const std::string& what, VolumeInfo& info) {
    const Id properties = own<H5Dget_create_plist>(what, dataset);
    info.stored_bytes = H5Dget_storage_size(dataset);
    if (check<H5Pget_layout>(what, properties.get()) != H5D_CHUNKED) return;
    info.filtered = check<H5Pget_nfilters>(what, properties.get()) > 0;
    std::array<hsize_t, kMostDimensions + 1> chunk{};
    const int dimensions = check<H5Pget_chunk>(what, properties.get(), kMostDimensions + 1, chunk.data());
    info.chunk.assign(chunk.begin(), chunk.begin() + dimensions);
}

}  // namespace

Volume Volume::open(const Group& group, const std::string& name) {
    const std::string path = group.path_of(name);
    Object object(open_dataset_inside(group.id(), name, path), path);
    VolumeInfo info;
    info.shape = place_of(object).shape;  // looks at each chunk
    info.type = type_of(object.id(), path);
    read_layout(object.id(), path, info);
    return {std::move(object), std::move(info)};
}

void Volume::read(const VolumePart& part, std::span<float> values) const {
    const std::array<std::int64_t, 4> start{part.first_channel, part.first_plane, 0, 0};
    const std::array<std::int64_t, 4> count{part.channels, part.planes, info_.shape.at(2), info_.shape.at(3)};
    const std::int64_t selected = count[0] * count[1] * count[2] * count[3];
    if (selected != std::ssize(values))
        throw base::Error(fmt::format("internal: room for {} values of {}, a part has {}", values.size(),
                                      object_.path(), selected));
    read_box(object_, start, count, values.data());
}

}  // namespace ranklab::hdf5
