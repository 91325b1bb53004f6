#include "base/whole_io.hpp"

#include <unistd.h>

#include <cerrno>

namespace ranklab::base {
namespace {

// Calls move(bytes, done), which moves some of the bytes that are left, until none are left or none came.
// How many were moved; nullopt where it failed.
template <class Bytes, class Move>
std::optional<std::size_t> move_all(Bytes bytes, const Move& move) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t moved = move(bytes.subspan(done), done);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return std::nullopt;
        if (moved == 0) break;
        done += moved;
    }
    return done;
}

}  // namespace

bool write_bytes(int file, std::span<const std::byte> bytes) {
    return move_all(bytes, [&](auto left, std::size_t) { return ::write(file, left.data(), left.size()); }) ==
           bytes.size();
}

bool write_bytes_at(int file, std::span<const std::byte> bytes, std::uint64_t at) {
    return move_all(bytes, [&](auto left, std::size_t done) {
               return ::pwrite(file, left.data(), left.size(), at + done);
           }) == bytes.size();
}

std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes) {
    return move_all(bytes, [&](auto left, std::size_t) { return ::read(file, left.data(), left.size()); });
}

std::optional<std::size_t> read_bytes_at(int file, std::span<std::byte> bytes, std::uint64_t at) {
    return move_all(bytes, [&](auto left, std::size_t done) {
        return ::pread(file, left.data(), left.size(), at + done);
    });
}

}  // namespace ranklab::base
