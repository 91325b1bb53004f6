#include "data/make/slab_writer.hpp"

#include <utility>

namespace ranklab::data {

SlabWriter::SlabWriter(comm::Communicator& control, hdf5::VolumeWriter& file, std::string name,
                       const hdf5::VolumeShape& shape)
    : control_(control), file_(file), name_(std::move(name)), shape_(shape) {}

void SlabWriter::write(std::int64_t first_channel, std::int64_t channels, base::Share mine,
                       std::span<const float> values) {
    file_.write(name_,
                {.first_channel = first_channel,
                 .channels = channels,
                 .first_plane = mine.first,
                 .planes = mine.count},
                values);
    const std::int64_t plane = shape_[2] * shape_[3];
    const std::size_t part = mine.count * plane;
    for (std::int64_t c = 0; c < channels && part > 0; ++c) {
        const std::int64_t place = ((first_channel + c) * shape_[1] + mine.first) * plane;
        sum_ += sum64(place, values.subspan(static_cast<std::size_t>(c) * part, part));
    }
}

std::uint64_t SlabWriter::checksum() const {
    return sum_over_ranks(control_, sum_);
}

}  // namespace ranklab::data
