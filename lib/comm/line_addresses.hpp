// Where a rank listens: only where ranks come from. Private to comm and its tests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ranklab::comm {

/// This machine's IPv4 addresses that are up, without loopback.
std::vector<std::string> own_addresses();
/// Of this machine, the address that packets to `remote` leave from, as the kernel's routes have it. Sends
/// nothing.
std::optional<std::string> address_towards(const std::string& remote);
/// Names the machine and its network: processes with the same one reach each other by loopback.
std::string network_id(const std::string& host);

/// One rank's.
struct RankPlace {
    std::string network;
    std::vector<std::string> addresses;

    static auto fields(auto& self) { return std::tie(self.network, self.addresses); }
};

/// The first is who listens, the others who come. Loopback for those of the same network; for each other rank
/// the address that faces it. Addresses that a rank has in common with the first (bridges of containers are
/// the same everywhere) say nothing, and a rank that has no others may come by any: then all of the first
/// one's are taken.
std::vector<std::string> addresses_to_listen_on(
    const std::vector<RankPlace>& ranks,
    const std::function<std::optional<std::string>(const std::string& remote)>& towards = address_towards);

}  // namespace ranklab::comm
