#include "comm/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace ranklab::comm {

void Mailbox::put(int tag, const BufferView& message) {
    const auto* data = static_cast<const char*>(message.data);
    letters_.push_back({tag, std::vector<char>(data, data + message.bytes())});
}

std::optional<std::size_t> Mailbox::first(int tag) const {
    const auto found = std::ranges::find(letters_, tag, &Letter::tag);
    return found == letters_.end() ? std::nullopt : std::optional(found->bytes.size());
}

std::size_t Mailbox::take(int tag, const BufferView& buffer) {
    const auto found = std::ranges::find(letters_, tag, &Letter::tag);
    if (found == letters_.end() || found->bytes.size() > buffer.bytes()) {
        throw base::Error(
            fmt::format("internal: a rank alone waits for a message (tag {}) of at most {} bytes that it has "
                        "not sent itself",
                        tag, buffer.bytes()));
    }
    const std::size_t bytes = found->bytes.size();
    if (bytes > 0) std::memcpy(buffer.data, found->bytes.data(), bytes);
    letters_.erase(found);
    return bytes;
}

}  // namespace ranklab::comm
