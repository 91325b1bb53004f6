#include "experiments/collectives/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/text.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

// What one call's part of the pool takes, behind the offset.
std::size_t stride_of(std::size_t bytes, const BufferPlan& plan) {
    return whole_pages(bytes + plan.unalign);
}

std::size_t calls_in_pool(std::size_t stride, const BufferPlan& plan) {
    return plan.pool_bytes == 0 || stride == 0 ? 1 : std::max<std::size_t>(2, plan.pool_bytes / stride);
}

struct Sizes {
    std::size_t send = 0, receive = 0;  // bytes of one call
    std::size_t calls = 1;
};

Sizes sizes_of(const Message& message, const BufferPlan& plan, int ranks) {
    const std::size_t element = comm::size_of(message.dtype);
    Sizes sizes{.send = message.in_place ? 0 : message.send_count(ranks) * element,
                .receive = message.receive_count(ranks) * element};
    sizes.calls = calls_in_pool(stride_of(std::max(sizes.send, sizes.receive), plan), plan);
    return sizes;
}

comm::BufferView view_of(char* data, std::size_t count, comm::DType dtype, MemoryKind kind) {
    return {.data = data,
            .count = count,
            .dtype = dtype,
            .memory = kind == MemoryKind::device ? comm::Memory::device : comm::Memory::host};
}

std::string why() {
    return std::strerror(errno);
}

}  // namespace

MemoryNeed memory_of(const Message& message, const BufferPlan& plan, int ranks) {
    const Sizes sizes = sizes_of(message, plan, ranks);
    return {sizes.calls * stride_of(sizes.send, plan), sizes.calls * stride_of(sizes.receive, plan)};
}

struct Memory::Mapping : base::Pinned {
    Mapping(std::size_t bytes, bool locked) : length(whole_pages(bytes)) {
        data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED)
            throw base::EnvironmentError(
                fmt::format("{} of memory cannot be had ({}); make the largest message smaller",
                            base::human_bytes(static_cast<double>(length)), why()),
                {"max-bytes"});
        if (!locked || mlock(data, length) == 0) return;
        const std::string reason = why();
        munmap(data, length);
        throw base::EnvironmentError(
            fmt::format("{} of memory cannot be pinned ({}); raise the limit (ulimit -l unlimited), or use "
                        "pageable memory",
                        base::human_bytes(static_cast<double>(length)), reason),
            {"memory pageable"});
    }
    ~Mapping() { munmap(data, length); }

    void* data;
    std::size_t length;
};

Memory::Memory(std::size_t bytes, MemoryKind kind) : bytes_(bytes) {
    if (bytes == 0) return;
    if (kind == MemoryKind::device) {
        device_ = device::Buffer(bytes);
        device::fill_zero(device_.data(), bytes, device::compute_stream());
        data_ = static_cast<char*>(device_.data());
        return;
    }
    mapping_ = std::make_shared<Mapping>(bytes, kind == MemoryKind::pinned);
    data_ = static_cast<char*>(mapping_->data);
    std::memset(data_, 0, bytes);  // the pages are there before anything is timed
}

void Memory::ensure(Memory& memory, std::size_t bytes, MemoryKind kind) {
    if (bytes <= memory.bytes()) return;
    memory = Memory();  // before the larger one is asked for
    memory = Memory(bytes, kind);
}

Buffers::Buffers(const BufferPlan& plan, const MemoryNeed& need) : plan_(plan) {
    Memory::ensure(send_, need.send, plan.kind);
    Memory::ensure(receive_, need.receive, plan.kind);
}

std::vector<comm::Transfer> Buffers::transfers(const Message& message, int root, int ranks, int rank) {
    const Sizes sizes = sizes_of(message, plan_, ranks);
    const std::size_t send_stride = stride_of(sizes.send, plan_);
    const std::size_t receive_stride = stride_of(sizes.receive, plan_);
    if (sizes.send > 0) Memory::ensure(send_, sizes.calls * send_stride, plan_.kind);
    if (sizes.receive > 0) Memory::ensure(receive_, sizes.calls * receive_stride, plan_.kind);
    std::vector<comm::Transfer> transfers;
    for (std::size_t call = 0; call < sizes.calls; ++call) {
        char* const out = receive_.data() + plan_.unalign + call * receive_stride;
        const bool own_part = message.operation == comm::Operation::allgather;
        const std::size_t element = comm::size_of(message.dtype);
        char* const in = !message.in_place ? send_.data() + plan_.unalign + call * send_stride
                         : own_part        ? out + static_cast<std::size_t>(rank) * message.part * element
                                           : out;
        const auto& [op, average] = message.reduction;
        transfers.push_back({.operation = message.operation,
                             .send = view_of(in, message.send_count(ranks), message.dtype, plan_.kind),
                             .receive = view_of(out, message.receive_count(ranks), message.dtype, plan_.kind),
                             .op = op,
                             .average = average,
                             .root = root});
    }
    return transfers;
}

HostSide::HostSide(const comm::Transfer& transfer) : transfer_(transfer), host_(transfer) {
    if (!is_on_device()) return;
    receive_ = Memory(transfer.receive.bytes(), MemoryKind::pageable);
    host_.receive =
        view_of(receive_.data(), transfer.receive.count, transfer.receive.dtype, MemoryKind::pageable);
    host_.send.memory = comm::Memory::host;
    if (transfer.in_place()) {
        host_.send.data = receive_.data() + (static_cast<char*>(transfer.send.data) -
                                             static_cast<char*>(transfer.receive.data));
        return;
    }
    send_ = Memory(transfer.send.bytes(), MemoryKind::pageable);
    host_.send.data = send_.data();
}

void HostSide::to_device() const {
    if (!is_on_device()) return;
    const auto stream = device::compute_stream();
    device::copy_to_device(transfer_.receive.data, host_.receive.data, host_.receive.bytes(), stream);
    if (!transfer_.in_place())
        device::copy_to_device(transfer_.send.data, host_.send.data, host_.send.bytes(), stream);
    device::synchronize(stream);
}

comm::BufferView HostSide::fetched(const comm::BufferView& on_device) const {
    if (!is_on_device() || on_device.count == 0) return on_device;
    const auto offset = static_cast<char*>(on_device.data) - static_cast<char*>(transfer_.receive.data);
    auto host = view_of(static_cast<char*>(host_.receive.data) + offset, on_device.count, on_device.dtype,
                        MemoryKind::pageable);
    device::copy_to_host(host.data, on_device.data, on_device.bytes(), device::compute_stream());
    device::synchronize(device::compute_stream());
    return host;
}

}  // namespace ranklab::experiments
