#include "hdf5/heap_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ranklab::hdf5 {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "GCOL\x01\0\0\0"sv;  // with the version and what is reserved
constexpr std::uint64_t kHeader = 16;                        // of a heap, and of each object in it

template <class T>
T number_at(const std::string& heap, std::uint64_t at) {
    T value{};
    std::memcpy(&value, heap.data() + at, sizeof value);
    return value;
}

// Where a heap begins. Blocks overlap so that no signature is cut in two.
std::vector<std::uint64_t> find_heaps(std::ifstream& file) {
    constexpr std::size_t kBlock = std::size_t{1} << 20U;
    std::vector<std::uint64_t> heaps;
    std::string block;
    std::uint64_t start = 0;
    do {
        const std::size_t kept = std::min(block.size(), kSignature.size() - 1);
        start += block.size() - kept;
        block.erase(0, block.size() - kept);
        block.resize(kept + kBlock);
        file.read(block.data() + kept, kBlock);
        block.resize(kept + static_cast<std::size_t>(file.gcount()));
        for (std::size_t at = 0; (at = block.find(kSignature, at)) != std::string::npos; ++at)
            heaps.push_back(start + at);
    } while (file);
    file.clear();
    return heaps;
}

// Bytes from one object to the next; 0 where its size is none that it can have.
std::uint64_t step_over(const std::string& heap, std::uint64_t at, std::set<std::uint16_t>& seen) {
    const auto index = number_at<std::uint16_t>(heap, at);
    const auto size = number_at<std::uint64_t>(heap, at + 8);
    const std::uint64_t room = heap.size() - at;
    if (size > room) return 0;
    const std::uint64_t step =
        index == 0 ? size : kHeader + (size + 7) / 8 * 8;  // 0: free space, its header counted
    const bool possible = step >= kHeader && step <= room && index <= heap.size() / kHeader;
    return possible && seen.insert(index).second ? step : 0;
}

bool sound(const std::string& heap) {
    std::set<std::uint16_t> seen;
    std::uint64_t at = kHeader;
    while (heap.size() - at >= kHeader) {  // less is free space too small for a header
        const std::uint64_t step = step_over(heap, at, seen);
        if (step == 0) return false;
        at += step;
    }
    return true;
}

// The whole heap, or nothing where it does not fit into the file.
std::string read_heap(std::ifstream& file, std::uint64_t start, std::uint64_t file_size) {
    std::string heap(kHeader, '\0');
    file.seekg(static_cast<std::streamoff>(start));
    if (!file.read(heap.data(), kHeader)) return {};
    const auto size = number_at<std::uint64_t>(heap, 8);
    if (size < kHeader || size > file_size - start) return {};
    heap.resize(size);
    file.read(heap.data() + kHeader, static_cast<std::streamsize>(size - kHeader));
    return file ? heap : std::string();
}

}  // namespace

void check_text_heaps(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::uint64_t file_size = std::filesystem::file_size(path);
    for (const std::uint64_t start : find_heaps(file)) {
        const std::string heap = read_heap(file, start, file_size);
        if (heap.empty() || !sound(heap))
            throw base::DataError(
                fmt::format("the texts at byte {} are damaged; restore the file or name another", start));
    }
}

}  // namespace ranklab::hdf5
