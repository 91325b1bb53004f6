// Where the bytes of a read come from, as far as the kernel tells: how much of a file the page cache holds,
// what the block layer has delivered to this process, and how to make the cache let go. docs/writing.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ranklab::io {

/// Of one file, or of many added up: a sum of fixed size, however many files there are.
struct Residency {
    std::uint64_t bytes = 0;  ///< how large the files are
    std::uint64_t resident =
        0;  ///< of them, in this node's page cache: whole pages, but no more than `bytes`

    Residency& operator+=(const Residency& other) {
        bytes += other.bytes;
        resident += other.resident;
        return *this;
    }
};

/// Asks mincore(2). nullopt where that does not tell the truth: it says "all" to a process that neither owns
/// the file nor may write to it. EnvironmentError or OptionError where the file cannot be opened.
std::optional<Residency> residency_of(const std::filesystem::path& file);

/// Bytes that the block layer has fetched for this process since it began (read_bytes of /proc/self/io): the
/// difference of two calls is what came from the device in between, for whatever purpose. nullopt where the
/// kernel does not count, or does not say.
std::optional<std::uint64_t> delivered_bytes();

/// Has the file written to its device and asks the page cache to drop it (fsync, posix_fadvise DONTNEED).
/// That is a request: residency_of says what came of it. Pages that some process has mapped stay.
/// EnvironmentError where the file cannot be opened or written back.
void evict(const std::filesystem::path& file);

}  // namespace ranklab::io
