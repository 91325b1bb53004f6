// The reading side of hdf5/record_file.hpp: by one process, without MPI. What is not as it should be is a
// DataError that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

class RecordSource {
  public:
    /// DataError where the file is missing, cut off or no HDF5 file.
    explicit RecordSource(const std::filesystem::path& path);

    /// The dataset /output/NAME, which holds float64 of this shape; else DataError.
    Object open(const std::string& name, std::span<const std::int64_t> shape) const;
    /// All of the dataset, row-major.
    void read(const Object& dataset, std::span<double> values) const;
    /// Of a dataset of three dimensions the plane [index, :, :].
    void read_plane(const Object& dataset, std::int64_t index, std::span<double> values) const;

  private:
    Object open_within(const std::string& within) const;
    void read_part(const Object& dataset, Id::type memory, Id::type space, std::span<double> values) const;

    std::string path_;
    Id file_;
};

}  // namespace ranklab::hdf5
