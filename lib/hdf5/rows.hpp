// A dataset of numbers whose first axis counts rows: each read by itself, whatever the layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/file.hpp"

namespace ranklab::hdf5 {

class Rows {
  public:
    /// `dataset` is a path in the file. DataError where it is not a dataset of integers or
    /// floating-point numbers with at least one axis.
    Rows(const std::filesystem::path& file, const std::string& dataset);

    const std::vector<std::int64_t>& shape() const { return shape_; }  ///< [rows, ...]
    const std::string& type() const { return type_; }                  ///< NumPy's name: "float32"
    /// NumPy's word for the stored type: "<f4", or ">i8" of another byte order.
    const std::string& descr() const { return descr_; }
    /// The byte of the file where the values begin, where they lie there one behind the other.
    std::optional<std::uint64_t> contiguous_at() const { return contiguous_at_; }

    /// Row `index`, converted by the library. Takes library_mutex(). DataError where it cannot be
    /// read.
    void read(std::int64_t index, std::span<float> values) const;
    void read(std::int64_t index, std::span<std::int64_t> values) const;

  private:
    void read_as(Id::type type, std::int64_t index, std::size_t count, void* values) const;

    File file_;
    Object object_;
    std::vector<std::int64_t> shape_;
    std::string type_, descr_;
    std::optional<std::uint64_t> contiguous_at_;
};

}  // namespace ranklab::hdf5
