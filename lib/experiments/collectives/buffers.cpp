#include "experiments/collectives/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "device/stream.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

struct Parts {
    std::size_t send = 0, receive = 0;  // bytes of one call, including the offset
    std::size_t calls = 1;              // calls that use different parts of the pool
};

Parts parts_of(const Message& message, const BufferPlan& plan) {
    const auto stride = [&](std::size_t count) {
        return whole_pages(count * comm::size_of(message.dtype) + plan.unalign);
    };
    Parts parts{.send = stride(message.in_place ? 0 : message.send_count()),
                .receive = stride(message.receive_count())};
    const std::size_t largest = std::max(parts.send, parts.receive);
    if (plan.pool_bytes > 0 && largest > 0)
        parts.calls = std::max<std::size_t>(2, plan.pool_bytes / largest);
    return parts;
}

std::shared_ptr<char> host_pages(std::size_t bytes, bool locked) {
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

std::shared_ptr<char> device_memory(std::size_t bytes) {
    const auto buffer = std::make_shared<device::Buffer>(bytes);
    device::fill_zero(buffer->data(), bytes, device::compute_stream());
    return {buffer, static_cast<char*>(buffer->data())};
}

}  // namespace

std::uint64_t memory_of(const Message& message, const BufferPlan& plan) {
    const Parts parts = parts_of(message, plan);
    return parts.calls * (parts.send + parts.receive);
}

Buffers::Buffers(const BufferPlan& plan, std::uint64_t bytes) : plan_(plan) {
    reserve(bytes);
}

void Buffers::reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    memory_.reset();  // frees the old memory first
    bytes_ = 0;
    memory_ = plan_.kind == MemoryKind::device
                  ? device_memory(bytes)
                  : host_pages(bytes, plan_.kind == MemoryKind::pinned);
    bytes_ = bytes;
}

std::vector<comm::Transfer> Buffers::transfers(const Message& message, int root, int rank) {
    const Parts parts = parts_of(message, plan_);
    reserve(memory_of(message, plan_));
    const auto view_of = [&](char* data, std::size_t count) {
        return comm::BufferView{
            data, count, message.dtype,
            plan_.kind == MemoryKind::device ? comm::Memory::device : comm::Memory::host};
    };
    const bool average = message.reduction == Reduction::avg;
    const bool own_part = message.operation == comm::Operation::allgather;
    std::vector<comm::Transfer> transfers;
    char* next = memory_.get() + plan_.unalign;
    for (std::size_t call = 0; call < parts.calls; ++call, next += parts.send + parts.receive) {
        const auto out = view_of(next + parts.send, message.receive_count());
        auto in = view_of(next, message.send_count());
        if (message.in_place) in.data = next + parts.send + (own_part ? rank * in.bytes() : 0);
        transfers.push_back(
            {.operation = message.operation,
             .send = in,
             .receive = out,
             .op = average ? comm::ReduceOp::sum : static_cast<comm::ReduceOp>(message.reduction),
             .average = average,
             .root = root});
    }
    return transfers;
}

}  // namespace ranklab::experiments
