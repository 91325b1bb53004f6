// Private to this room: what is kept of each file that is open to be read: how much was taken out of it, and
// where its texts lie. Such a file may be anybody's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/check.hpp"

namespace ranklab::hdf5 {

/// Where a text of variable length lies, as the file has it.
struct TextReference {
    std::uint32_t length = 0;
    std::uint64_t heap = 0;
    std::uint32_t index = 0;
};

class ReadState {
  public:
    /// `file` is open to be read, with the driver that has a descriptor.
    explicit ReadState(hid_t file, const std::string& path);

    /// Counts `bytes` that are about to be held in memory. DataError where they are more than a file of this
    /// size may plausibly hold: a small file must not fill the memory, be it by one claim or by many.
    void take(std::uint64_t bytes, std::string_view what);
    /// The same for what is given back soon.
    void hold(std::uint64_t bytes, std::string_view what) const;

    /// The text, taken from the file without the library, which would follow damaged sizes out of its
    /// memory. DataError where the global heap is not as the HDF5 File Format Specification (III.E) has it.
    std::string text(const TextReference& reference, std::string_view what);

  private:
    struct Item {
        std::uint32_t index = 0;
        std::uint64_t offset = 0;  ///< in the heap
        std::uint64_t size = 0;
    };
    struct Heap {
        std::uint64_t address = 0;  ///< 0: none, since a file begins with something else
        std::string bytes;
        std::vector<Item> items;  ///< by index
    };

    std::uint64_t most() const;
    const Heap& heap_at(std::uint64_t address, std::string_view what);
    std::string heap_bytes(std::uint64_t address, std::string_view what);
    bool read(std::uint64_t offset, char* to, std::uint64_t bytes) const;
    std::vector<Item> looked_over(std::uint64_t address, const std::string& heap) const;
    [[noreturn]] void damaged(std::uint64_t address) const;

    int descriptor_ = -1;  // HDF5's
    std::uint64_t base_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t taken_ = 0;
    std::array<Heap, 4> recent_;  // a run's texts lie in one or two
    std::size_t oldest_ = 0;
};

/// Of the file that was opened by File::open_to_read and holds the object; nullptr for files that we write.
ReadState* read_state_of(hid_t object, std::string_view what);

/// To be kept as long as the file is open.
std::shared_ptr<ReadState> make_read_state(hid_t file, const std::string& path);

}  // namespace ranklab::hdf5
