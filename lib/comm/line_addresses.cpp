#include "comm/line_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>

#include "comm/line_socket.hpp"

namespace ranklab::comm {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

std::string text_of(const sockaddr_in& address) {
    const std::string place = place_text(address);
    return place.substr(0, place.find(':'));
}

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::vector<std::string> own_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
    std::vector<std::string> addresses;
    for (const ifaddrs* item = first; item != nullptr; item = item->ifa_next) {
        const bool usable = item->ifa_addr != nullptr && item->ifa_addr->sa_family == AF_INET &&
                            (item->ifa_flags & IFF_UP) != 0 && (item->ifa_flags & IFF_LOOPBACK) == 0;
        if (!usable) continue;
        sockaddr_in address;
        std::memcpy(&address, item->ifa_addr, sizeof address);
        addresses.push_back(text_of(address));
    }
    return addresses;
}

std::optional<std::string> address_towards(const std::string& remote) {
    auto to = place_of(remote);
    const Socket socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!to || !socket) return std::nullopt;
    to->sin_port = htons(9);  // any: connecting a datagram socket asks the routes alone
    sockaddr_in own{};
    socklen_t size = sizeof own;
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&*to), sizeof *to) != 0 ||
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
        return std::nullopt;
    return text_of(own);
}

std::string network_id(const std::string& host) {
    std::array<char, 64> text{};
    const auto length = readlink("/proc/self/ns/net", text.data(), text.size());
    return host + "/" + std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length)));
}

std::vector<std::string> addresses_to_listen_on(
    const std::vector<RankPlace>& ranks,
    const std::function<std::optional<std::string>(const std::string&)>& towards) {
    const RankPlace& own = ranks.front();
    std::set<std::string> chosen;
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
        if (ranks[rank].network == own.network) {
            chosen.insert(kLoopback);
            continue;
        }
        bool faced = false;
        for (const auto& remote : ranks[rank].addresses) {
            const auto facing = has(own.addresses, remote) ? std::nullopt : towards(remote);
            if (!facing || !has(own.addresses, *facing)) continue;
            chosen.insert(*facing);
            faced = true;
        }
        if (!faced) chosen.insert(own.addresses.begin(), own.addresses.end());
    }
    if (chosen.empty() && ranks.size() > 1) chosen.insert(kLoopback);  // there is no other
    return {chosen.begin(), chosen.end()};
}

}  // namespace ranklab::comm
