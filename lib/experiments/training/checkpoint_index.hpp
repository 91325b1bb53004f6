// What of a checkpoint's file is read (docs/checkpoint.md): a list of what lies where in it. The HDF5 part
// before it is for other programs; the library would not survive all that can be in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/training/checkpoint_file.hpp"

namespace ranklab::experiments {

/// Puts numbers, texts and arrays one after the other, with their lengths; in this machine's byte order.
class IndexWriter {
  public:
    void number(std::int64_t value);
    void text(std::string_view value);
    /// Its name, type and shape, and where its bytes begin in the data.
    void array(const NamedArray& array, std::uint64_t offset);

    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// The way back. DataError for an index that says what cannot be: lengths beyond its end, arrays beyond the
/// end of `data`, or more of them than `data` has bytes.
class IndexReader {
  public:
    IndexReader(std::span<const std::byte> index, std::span<const std::byte> data)
        : rest_(index), data_(data) {}

    std::int64_t number();
    std::string text();
    NamedArray array();
    /// Nothing may be left at the end.
    void finish() const;

  private:
    std::span<const std::byte> next(std::uint64_t bytes);
    hdf5::Element element();
    std::vector<std::int64_t> shape();

    std::span<const std::byte> rest_;
    std::span<const std::byte> data_;
    std::uint64_t in_arrays_ = 0;
};

}  // namespace ranklab::experiments
