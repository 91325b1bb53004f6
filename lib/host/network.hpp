// The network that this process uses: what MPI and NCCL have loaded and opened, and what is there.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>

#include "host/process.hpp"

namespace ranklab::host {

struct Network {
    std::string host = {};
    /// Loaded parts of MPI, UCX, libfabric and NCCL: "pml ob1, btl tcp", "UCX ib", "provider cxi";
    /// "" if the libraries have them built in.
    std::string components = {};
    std::string opened = {};  ///< network devices that the process has opened; "": none
    std::string up = {};      ///< fast networks whose link is up: "mlx5_0"; "": none

    static auto fields(auto& self) {
        return std::tie(self.host, self.components, self.opened, self.up);
    }
    std::string text() const;
};

/// To be called after MPI_Init, which loads components and opens devices.
Network network_of_process(const std::filesystem::path& root = system_root());

}  // namespace ranklab::host
