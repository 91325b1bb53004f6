#include "hdf5/read_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/whole_io.hpp"

namespace ranklab::hdf5 {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "GCOL\x01\0\0\0"sv;  // with the version and what is reserved
constexpr std::uint64_t kHeader = 16;                        // of a heap, and of each object in it
constexpr std::uint64_t kSmallest = 4096;                    // heap that HDF5 makes
constexpr std::uint64_t kAlwaysTaken = std::uint64_t{512} << 20U;
constexpr std::uint64_t kOftenTaken = 16;  // times the file's size: repetitions, compression, texts in memory

template <class T>
T number_at(const std::string& heap, std::uint64_t at) {
    T value{};
    std::memcpy(&value, heap.data() + at, sizeof value);
    return value;
}

// By the identifier of the file. Identifiers are not used twice at a time.
std::map<hid_t, std::weak_ptr<ReadState>>& states() {
    static std::map<hid_t, std::weak_ptr<ReadState>> states;
    return states;
}

int descriptor_of(hid_t file, const std::string& path) {
    void* handle = nullptr;
    check<H5Fget_vfd_handle>(path, file, H5P_DEFAULT, &handle);
    return *static_cast<const int*>(handle);
}

// Texts are addressed by numbers of 8 bytes, as every HDF5 of today writes them.
std::uint64_t base_of(hid_t file, const std::string& path) {
    const Id properties = own<H5Fget_create_plist>(path, file);
    std::size_t address_bytes = 0;
    std::size_t size_bytes = 0;
    check<H5Pget_sizes>(path, properties.get(), &address_bytes, &size_bytes);
    if (address_bytes != 8 || size_bytes != 8)
        throw base::DataError(
            fmt::format("it addresses its parts by {} bytes, not 8; convert it with "
                        "h5repack, or name another",
                        address_bytes));
    hsize_t user_block = 0;
    check<H5Pget_userblock>(path, properties.get(), &user_block);
    return user_block;
}

}  // namespace

ReadState::ReadState(hid_t file, const std::string& path)
    : descriptor_(descriptor_of(file, path)), base_(base_of(file, path)) {
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) size_ = status.st_size;
}

std::uint64_t ReadState::most() const {
    return std::max(kAlwaysTaken, kOftenTaken * size_);
}

void ReadState::hold(std::uint64_t bytes, std::string_view what) const {
    if (bytes > most() - taken_)
        throw base::DataError(fmt::format(
            "{} claims {} bytes, more than its file can hold: the file is damaged, or parts of it "
            "were never written",
            what, bytes));
}

void ReadState::take(std::uint64_t bytes, std::string_view what) {
    hold(bytes, what);
    taken_ += bytes;
}

void ReadState::damaged(std::uint64_t address) const {
    throw base::DataError(
        fmt::format("the texts at byte {} are damaged; restore the file or name another", base_ + address));
}

bool ReadState::read(std::uint64_t offset, char* to, std::uint64_t bytes) const {
    return base::read_whole_at(descriptor_, std::span(to, bytes), offset) == bytes;
}

// Objects follow each other; number 0 is the free space, whose size counts its own header.
std::vector<ReadState::Item> ReadState::looked_over(std::uint64_t address, const std::string& heap) const {
    std::vector<Item> items;
    std::uint64_t at = kHeader;
    while (heap.size() - at >= kHeader) {  // less is free space too small for a header
        const auto index = number_at<std::uint16_t>(heap, at);
        const auto size = number_at<std::uint64_t>(heap, at + 8);
        const std::uint64_t room = heap.size() - at;
        if (size > room) damaged(address);
        const std::uint64_t step = index == 0 ? size : kHeader + (size + 7) / 8 * 8;
        if (step < kHeader || step > room) damaged(address);
        items.push_back({index, at + kHeader, size});
        at += step;
    }
    const auto by_index = [](const Item& a, const Item& b) { return a.index < b.index; };
    if (!std::is_sorted(items.begin(), items.end(), by_index))
        std::sort(items.begin(), items.end(), by_index);
    const auto same = [](const Item& a, const Item& b) { return a.index == b.index; };
    if (std::adjacent_find(items.begin(), items.end(), same) != items.end()) damaged(address);
    return items;
}

// Heaps that overlap, or that are asked for in turns, count anew: so their bytes are bounded like all others.
std::string ReadState::heap_bytes(std::uint64_t address, std::string_view what) {
    if (base_ > size_ || address > size_ - base_) damaged(address);
    const std::uint64_t room = size_ - base_ - address;
    std::string heap(std::min(room, kSmallest), '\0');
    if (heap.size() < kHeader || !read(base_ + address, heap.data(), heap.size())) damaged(address);
    const auto bytes = number_at<std::uint64_t>(heap, 8);
    if (!heap.starts_with(kSignature) || bytes < kHeader || bytes > room) damaged(address);
    take(bytes, what);
    const std::size_t had = heap.size();
    heap.resize(bytes);
    if (bytes > had && !read(base_ + address + had, heap.data() + had, bytes - had)) damaged(address);
    return heap;
}

const ReadState::Heap& ReadState::heap_at(std::uint64_t address, std::string_view what) {
    for (const Heap& heap : recent_)
        if (heap.address == address) return heap;
    Heap heap{address, heap_bytes(address, what), {}};
    heap.items = looked_over(address, heap.bytes);
    Heap& place = recent_[oldest_];
    oldest_ = (oldest_ + 1) % recent_.size();
    place = std::move(heap);
    return place;
}

std::string ReadState::text(const TextReference& reference, std::string_view what) {
    if (reference.heap == 0 || reference.length == 0) return "";
    const Heap& heap = heap_at(reference.heap, what);
    const auto item = std::lower_bound(heap.items.begin(), heap.items.end(), reference.index,
                                       [](const Item& a, std::uint32_t index) { return a.index < index; });
    if (reference.index == 0 || item == heap.items.end() || item->index != reference.index ||
        reference.length > item->size)
        damaged(reference.heap);
    take(reference.length, what);
    std::string text = heap.bytes.substr(item->offset, reference.length);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
}

ReadState* read_state_of(hid_t object, std::string_view what) {
    const Id file = own<H5Iget_file_id>(what, object);
    const auto found = states().find(file.get());
    return found == states().end() ? nullptr : found->second.lock().get();
}

std::shared_ptr<ReadState> make_read_state(hid_t file, const std::string& path) {
    std::erase_if(states(), [](const auto& entry) { return entry.second.expired(); });
    auto state = std::make_shared<ReadState>(file, path);
    states()[file] = state;
    return state;
}

}  // namespace ranklab::hdf5
