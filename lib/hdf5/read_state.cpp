#include "hdf5/read_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/error.hpp"

namespace ranklab::hdf5 {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "GCOL\x01\0\0\0"sv;  // with the version and what is reserved
constexpr std::uint64_t kHeader = 16;                        // of a heap, and of each object in it
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
    check(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), "H5Fget_vfd_handle", path);
    return *static_cast<const int*>(handle);
}

// Texts are addressed by numbers of 8 bytes, as every HDF5 of today writes them.
std::uint64_t base_of(hid_t file, const std::string& path) {
    const Id properties = own(H5Fget_create_plist(file), "H5Fget_create_plist", path);
    std::size_t address_bytes = 0;
    std::size_t size_bytes = 0;
    check(H5Pget_sizes(properties.get(), &address_bytes, &size_bytes), "H5Pget_sizes", path);
    if (address_bytes != 8 || size_bytes != 8)
        throw base::DataError(
            fmt::format("it addresses its parts by {} bytes, not 8; convert it with "
                        "h5repack, or name another",
                        address_bytes));
    hsize_t user_block = 0;
    check(H5Pget_userblock(properties.get(), &user_block), "H5Pget_userblock", path);
    return user_block;
}

}  // namespace

ReadState::ReadState(hid_t file, const std::string& path)
    : descriptor_(descriptor_of(file, path)), base_(base_of(file, path)) {
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t ReadState::most() const {
    return std::max(kAlwaysTaken, kOftenTaken * size_);
}

void ReadState::hold(std::uint64_t bytes, std::string_view what) const {
    if (bytes > most() - taken_)
        throw base::DataError(
            fmt::format("{} claims {} bytes, more than its file can hold: the file is damaged", what, bytes));
}

void ReadState::take(std::uint64_t bytes, std::string_view what) {
    hold(bytes, what);
    taken_ += bytes;
}

void ReadState::damaged(std::uint64_t offset) const {
    throw base::DataError(
        fmt::format("the texts at byte {} are damaged; restore the file or name another", offset));
}

std::string ReadState::bytes_at(std::uint64_t offset, std::uint64_t size) const {
    if (offset > size_ || size > size_ - offset) damaged(offset);
    std::string bytes(size, '\0');
    for (std::uint64_t done = 0; done < size;) {
        const ssize_t got =
            ::pread(descriptor_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) damaged(offset);
        done += static_cast<std::uint64_t>(got);
    }
    return bytes;
}

// Objects follow each other; number 0 is the free space, whose size counts its own header.
ReadState::Heap ReadState::looked_over(std::uint64_t start, const std::string& heap) const {
    Heap items;
    std::uint64_t at = kHeader;
    while (heap.size() - at >= kHeader) {  // less is free space too small for a header
        const auto index = number_at<std::uint16_t>(heap, at);
        const auto size = number_at<std::uint64_t>(heap, at + 8);
        const std::uint64_t room = heap.size() - at;
        if (size > room) damaged(start);
        const std::uint64_t step = index == 0 ? size : kHeader + (size + 7) / 8 * 8;
        if (step < kHeader || step > room) damaged(start);
        if (!items.emplace(index, Item{start + at + kHeader, size}).second) damaged(start);
        at += step;
    }
    return items;
}

// Each heap is read once. Heaps that overlap would make that long: together they fit into the file.
const ReadState::Heap& ReadState::heap_at(std::uint64_t address) {
    const auto found = heaps_.find(address);
    if (found != heaps_.end()) return found->second;
    if (address > size_ - std::min(base_, size_)) damaged(address);
    const std::uint64_t start = base_ + address;
    const std::string header = bytes_at(start, kHeader);
    const auto bytes = number_at<std::uint64_t>(header, 8);
    if (!header.starts_with(kSignature) || bytes < kHeader || bytes > size_ - in_heaps_) damaged(start);
    in_heaps_ += bytes;
    return heaps_.emplace(address, looked_over(start, bytes_at(start, bytes))).first->second;
}

std::string ReadState::text(const TextReference& reference, std::string_view what) {
    if (reference.heap == 0 || reference.length == 0) return "";
    const Heap& heap = heap_at(reference.heap);
    const auto item = heap.find(reference.index);
    if (reference.index == 0 || item == heap.end() || reference.length > item->second.size)
        damaged(reference.heap);
    take(reference.length, what);
    std::string text = bytes_at(item->second.offset, reference.length);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
}

ReadState* read_state_of(hid_t object, std::string_view what) {
    const Id file = own(H5Iget_file_id(object), "H5Iget_file_id", what);
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
