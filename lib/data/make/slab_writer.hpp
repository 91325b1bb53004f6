// Writes a rank's planes of a volume in pieces, all ranks together, and keeps the volume's checksum and the
// progress.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/progress.hpp"
#include "base/share.hpp"
#include "comm/communicator.hpp"
#include "hdf5/volume_writer.hpp"

namespace ranklab::data {

/// Planes of `plane_values` floats that make a piece of at most 256 MiB, one at least.
std::int64_t planes_a_piece(std::int64_t plane_values);

class SlabWriter {
  public:
    SlabWriter(comm::Communicator& control, hdf5::VolumeWriter& file, std::string name,
               const hdf5::VolumeShape& shape);

    /// Collective: `values` are `channels` channels of the planes `mine`, row-major. Every rank calls it the
    /// same number of times, some perhaps with no planes.
    void write(std::int64_t first_channel, std::int64_t channels, base::Share mine,
               std::span<const float> values);
    /// One channel of a rank's whole share, in as many pieces as the longest share needs.
    void write_channel(std::int64_t channel, base::Share mine, std::span<const float> values);

    bool collective() const { return collective_; }
    /// Collective: the checksum of all that all ranks wrote.
    std::uint64_t checksum() const;

  private:
    comm::Communicator& control_;
    hdf5::VolumeWriter& file_;
    std::string name_;
    hdf5::VolumeShape shape_;
    std::uint64_t sum_ = 0;
    bool collective_ = true;
};

/// Collective: the ranks' numbers added modulo 2^64.
std::uint64_t sum_over_ranks(comm::Communicator& control, std::uint64_t mine);

}  // namespace ranklab::data
