// How data moved in a transfer, in words.
#include <span>
#include <string_view>
#include <utility>

#include "hdf5/dataset_file.hpp"

namespace ranklab::hdf5 {
namespace {

// H5D_mpio_no_collective_cause_t. Older headers lack the last ones.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> kCauses{{
    {0x01, "independent I/O was asked for"},
    {0x02, "data type conversion"},
    {0x04, "data transform"},
    {0x08, "MPI types switched off by HDF5_MPI_OPT_TYPES"},
    {0x10, "dataspace neither simple nor scalar"},
    {0x20, "dataset neither contiguous nor chunked"},
    {0x40, "parallel filtered writes switched off"},
    {0x80, "error while checking"},
}};
constexpr std::uint32_t kKnownCauses = 0xFF;

// H5D_mpio_actual_io_mode_t
constexpr int kChunkCollective = 2;
constexpr int kContiguousCollective = 4;
constexpr std::array kIoModes{"no collective", "chunk independent", "chunk collective",
                              "chunk mixed", "contiguous collective"};
// H5D_mpio_actual_chunk_opt_mode_t
constexpr std::array kChunkModes{"none", "link chunk", "multi chunk"};

std::string name_of_mode(int mode, std::span<const char* const> names) {
    return mode >= 0 && mode < std::ssize(names) ? names[mode] : "mode " + std::to_string(mode);
}

std::string cause_of(const Transfer& transfer) {
    std::string text;
    const auto add = [&](std::string_view name, std::uint32_t bits) {
        if (!text.empty()) text += " + ";
        text += name;
        if ((transfer.local_cause & bits) == 0) text += " (elsewhere)";
    };
    const std::uint32_t all = transfer.local_cause | transfer.global_cause;
    for (const auto& [bit, name] : kCauses) {
        if ((all & bit) != 0) add(name, bit);
    }
    const std::uint32_t unknown = all & ~kKnownCauses;
    if (unknown != 0) add("cause " + std::to_string(unknown), unknown);
    return text.empty() ? "none" : text;
}

}  // namespace

bool Transfer::fell_back() const {
    if (requested != Requested::collective) return false;
    return global_cause != 0 || (io_mode != kChunkCollective && io_mode != kContiguousCollective);
}

std::array<std::string, 4> words_of(const Transfer& transfer) {
    return {transfer.requested == Requested::collective ? "collective" : "independent",
            name_of_mode(transfer.io_mode, kIoModes),
            name_of_mode(transfer.chunk_mode, kChunkModes), cause_of(transfer)};
}

}  // namespace ranklab::hdf5
