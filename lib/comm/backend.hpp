// The catalogue of communication backends. Each is one file in backends/ and one entry in
// CMakeLists.txt.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

struct BackendEntry {
    std::string name;
    std::string summary;           ///< one line for --list
    Memory memory = Memory::host;  ///< of the backend's buffers; device: one GPU per rank
    bool one_rank_alone = false;   ///< serves one rank and needs no MPI
    /// Why the backend cannot serve these ranks here; "" if it can. Collective; equal on all ranks.
    std::function<std::string(Communicator& control)> refuses;
    /// Makes the data communicator of all ranks, bootstrapped over `control`. Collective. Throws on
    /// all ranks if refuses() gives a reason.
    std::function<std::unique_ptr<Communicator>(Communicator& control)> make;
    /// Library and version, "NCCL 2.28.9 (/opt/nccl/lib/libnccl.so.2)". May load the library.
    std::function<std::string()> library;
    /// Whether the backend has the operation, in-place or with separate send and receive buffers.
    std::function<bool(Operation operation, bool in_place)> offers;
};

/// Generated: all entries, in CMake's order.
std::vector<BackendEntry> backends();

/// The first entry whose buffers lie in that memory.
inline BackendEntry default_backend(Memory memory) {
    const auto all = backends();
    return *std::ranges::find(all, memory, &BackendEntry::memory);
}

/// Throws base::Error for device memory, which would crash the backend's library.
inline void need_host(const BufferView& buffer, const char* backend) {
    if (buffer.memory == Memory::host) return;
    throw base::Error(
        fmt::format("backend {} works in host memory and was given GPU memory; compute on the CPU, "
                    "or use another backend",
                    backend),
        {"device cpu", "backend nccl"});
}

}  // namespace ranklab::comm
