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

struct Parts {
    std::size_t send = 0, receive = 0;  // bytes of one call, with the offset
    std::size_t calls = 1;              // that use different parts of the pool
};

Parts parts_of(const Message& message, const BufferPlan& plan, int ranks) {
    const auto stride = [&](std::size_t count) {
        return whole_pages(count * comm::size_of(message.dtype) + plan.unalign);
    };
    Parts parts{.send = stride(message.in_place ? 0 : message.send_count(ranks)),
                .receive = stride(message.receive_count(ranks))};
    const std::size_t largest = std::max(parts.send, parts.receive);
    if (plan.pool_bytes > 0 && largest > 0)
        parts.calls = std::max<std::size_t>(2, plan.pool_bytes / largest);
    return parts;
}

comm::BufferView view_of(char* data, std::size_t count, comm::DType dtype, MemoryKind kind) {
    return {.data = data,
            .count = count,
            .dtype = dtype,
            .memory = kind == MemoryKind::device ? comm::Memory::device : comm::Memory::host};
}

std::shared_ptr<char> zeroed_pages(std::size_t bytes, bool locked) {
    const std::size_t length = whole_pages(bytes);
    const auto size = base::human_bytes(static_cast<double>(length));
    void* const data =
        mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        throw base::EnvironmentError(
            fmt::format("{} of memory cannot be allocated ({}); make the largest message smaller",
                        size, std::strerror(errno)),
            {"max-bytes"});
    std::shared_ptr<char> pages(static_cast<char*>(data),
                                [length](char* begin) { munmap(begin, length); });
    if (locked && mlock(data, length) != 0)
        throw base::EnvironmentError(
            fmt::format(
                "{} of memory cannot be pinned ({}); raise the limit (ulimit -l unlimited), or use "
                "pageable memory",
                size, std::strerror(errno)),
            {"memory pageable"});
    std::memset(data, 0, bytes);  // page faults must not be timed
    return pages;
}

}  // namespace

MemoryNeed memory_of(const Message& message, const BufferPlan& plan, int ranks) {
    const Parts parts = parts_of(message, plan, ranks);
    return {parts.calls * parts.send, parts.calls * parts.receive};
}

Memory::Memory(std::size_t bytes, MemoryKind kind) : bytes_(bytes) {
    if (bytes == 0) return;
    if (kind != MemoryKind::device) {
        pages_ = zeroed_pages(bytes, kind == MemoryKind::pinned);
        return;
    }
    device_ = device::Buffer(bytes);
    device::fill_zero(device_.data(), bytes, device::compute_stream());
}

void Memory::ensure(std::size_t bytes, MemoryKind kind) {
    if (bytes <= bytes_) return;
    *this = Memory();  // frees before it allocates
    *this = Memory(bytes, kind);
}

Buffers::Buffers(const BufferPlan& plan, const MemoryNeed& need) : plan_(plan) {
    send_.ensure(need.send, plan.kind);
    receive_.ensure(need.receive, plan.kind);
}

std::vector<comm::Transfer> Buffers::transfers(const Message& message, int root, int ranks,
                                               int rank) {
    const Parts parts = parts_of(message, plan_, ranks);
    send_.ensure(parts.calls * parts.send, plan_.kind);
    receive_.ensure(parts.calls * parts.receive, plan_.kind);
    std::vector<comm::Transfer> transfers;
    for (std::size_t call = 0; call < parts.calls; ++call) {
        char* const out = receive_.data() + plan_.unalign + call * parts.receive;
        const bool own_part = message.operation == comm::Operation::allgather;
        const std::size_t element = comm::size_of(message.dtype);
        char* const in = !message.in_place ? send_.data() + plan_.unalign + call * parts.send
                         : own_part ? out + static_cast<std::size_t>(rank) * message.part * element
                                    : out;
        const auto& [op, average] = message.reduction;
        transfers.push_back(
            {.operation = message.operation,
             .send = view_of(in, message.send_count(ranks), message.dtype, plan_.kind),
             .receive = view_of(out, message.receive_count(ranks), message.dtype, plan_.kind),
             .op = op,
             .average = average,
             .root = root});
    }
    return transfers;
}

}  // namespace ranklab::experiments
