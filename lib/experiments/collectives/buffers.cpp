#include "experiments/collectives/message.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "device/stream.hpp"

namespace ranklab::experiments {
namespace {

// Bytes of a buffer of `count` elements, in whole pages.
std::size_t stride_of(const Message& message, std::size_t count, const BufferPlan& plan) {
    constexpr std::size_t kPage = 4096;
    const std::size_t bytes = count * comm::size_of(message.dtype) + plan.unalign;
    return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t send_stride(const Message& message, const BufferPlan& plan) {
    return stride_of(message, message.in_place ? 0 : message.send_count(), plan);
}

std::shared_ptr<char> host_pages(std::size_t bytes) {
    void* const data =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        throw base::EnvironmentError(
            fmt::format("{} of memory cannot be allocated ({}); make the largest message smaller",
                        base::human_bytes(static_cast<double>(bytes)), std::strerror(errno)),
            {"max-bytes"});
    std::memset(data, 0, bytes);  // page faults must not be timed
    return {static_cast<char*>(data), [bytes](char* begin) { munmap(begin, bytes); }};
}

std::shared_ptr<char> device_memory(std::size_t bytes) {
    const auto buffer = std::make_shared<device::Buffer>(bytes);
    device::fill_zero(buffer->data(), bytes, device::compute_stream());
    return {buffer, static_cast<char*>(buffer->data())};
}

}  // namespace

std::uint64_t memory_of(const Message& message, const BufferPlan& plan) {
    return send_stride(message, plan) + stride_of(message, message.receive_count(), plan);
}

Buffers::Buffers(const BufferPlan& plan, std::uint64_t bytes) : plan_(plan) {
    reserve(bytes);
}

void Buffers::reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    memory_.reset();  // frees the old memory first
    bytes_ = 0;
    memory_ = plan_.memory == comm::Memory::device ? device_memory(bytes) : host_pages(bytes);
    bytes_ = bytes;
}

comm::Transfer Buffers::transfer(const Message& message, int root, int rank) {
    reserve(memory_of(message, plan_));
    char* const begin = memory_.get() + plan_.unalign;
    const auto view_of = [&](char* data, std::size_t count) {
        return comm::BufferView{data, count, message.dtype, plan_.memory};
    };
    const auto out = view_of(begin + send_stride(message, plan_), message.receive_count());
    auto in = view_of(begin, message.send_count());
    const bool own_part = message.operation == comm::Operation::allgather;
    if (message.in_place)
        in.data = static_cast<char*>(out.data) + (own_part ? rank * in.bytes() : 0);
    const bool average = message.reduction == Reduction::avg;
    return {.operation = message.operation,
            .send = in,
            .receive = out,
            .op = average ? comm::ReduceOp::sum : static_cast<comm::ReduceOp>(message.reduction),
            .average = average,
            .root = root};
}

}  // namespace ranklab::experiments
