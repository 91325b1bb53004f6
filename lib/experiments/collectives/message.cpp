#include "experiments/collectives/message.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "device/gpus.hpp"
#include "experiments/shared/experiment.hpp"
#include "options/field.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

namespace {

using comm::DType;
using comm::Operation;

// In the order of the result tables.
constexpr std::array kTypes{DType::f32, DType::f16, DType::bf16, DType::f64,
                            DType::i32, DType::i64, DType::u8};
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50U;
constexpr std::size_t kMostSizes = 1000;
constexpr std::array<std::string_view, 4> kReductionWords{"sum", "min", "max", "avg"};

// Returns the enum values whose words the option `name` lists.
template <class Enum>
std::vector<Enum> chosen(const std::string& given, const char* name,
                         std::span<const std::string_view> words) {
    std::vector<Enum> entries;
    for (const auto i : chosen_of(given, name, {words.begin(), words.end()}))
        entries.push_back(static_cast<Enum>(i));
    return entries;
}

// Larger sizes are typing errors, and would overflow.
void need_possible(std::uint64_t bytes) {
    if (bytes <= kMostBytes) return;
    throw base::OptionError(
        fmt::format("a message of {} bytes is above the limit of 2^50 bytes", bytes));
}

std::vector<std::uint64_t> listed_sizes(const std::string& list) {
    std::vector<std::uint64_t> sizes;
    for (const auto& word : base::split(list, ',')) {
        const auto size = options::parse_bytes(base::trim(word));
        if (!size)
            throw base::OptionError(
                fmt::format("--sizes takes message sizes such as 8,64K,1M; not '{}'",
                            base::printable(word, 40)));
        need_possible(*size);
        sizes.push_back(*size);
    }
    return sizes;
}

// Returns the bytes of a buffer of `count` elements, rounded up to whole pages.
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

std::string_view word_of(Reduction reduction) {
    return kReductionWords.at(base::number_of(reduction));
}

std::string_view summary_of(Operation operation) {
    constexpr std::array<std::string_view, comm::kOperationNames.size()> kSummaries{
        "all ranks get the reduction of all ranks' elements, as in summing gradients",
        "all ranks get the root's elements",
        "the root gets the reduction of all ranks' elements",
        "all ranks get all ranks' parts",
        "each rank gets its part of the reduction",
        "each rank gets a part from each rank",
        "each rank sends to the next one and receives from the one before",
        "no rank goes on before all have arrived",
        "half a ping-pong between the first rank and the last",
        "64 messages at once from the first rank to the last; the time is per message"};
    return kSummaries.at(base::number_of(operation));
}

std::vector<Operation> chosen_operations(const std::string& words) {
    return chosen<Operation>(words, "op", comm::kOperationNames);
}

std::vector<DType> chosen_types(const std::string& words) {
    std::vector<std::string> names;
    for (const auto type : kTypes) names.emplace_back(word_of(type));
    std::vector<DType> types;
    for (const auto i : chosen_of(words, "datatype", names)) types.push_back(kTypes[i]);
    return types;
}

std::vector<Reduction> chosen_reductions(const std::string& words) {
    return chosen<Reduction>(words, "redop", kReductionWords);
}

bool Message::is_in_parts() const {
    return operation == Operation::allgather || operation == Operation::reduce_scatter ||
           operation == Operation::alltoall;
}

std::uint64_t Message::bytes() const {
    return part * comm::size_of(dtype) * (is_in_parts() ? static_cast<std::uint64_t>(ranks) : 1);
}

std::size_t Message::send_count() const {
    const bool whole = operation == Operation::reduce_scatter || operation == Operation::alltoall;
    return part * (whole ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t Message::receive_count() const {
    const bool whole = operation == Operation::allgather || operation == Operation::alltoall ||
                       (operation == Operation::reduce_scatter && in_place);
    return part * (whole ? static_cast<std::size_t>(ranks) : 1);
}

double Message::algbw_GBps(double us) const {
    if (operation == Operation::barrier || !(us > 0)) return stats::kNone;
    return static_cast<double>(bytes()) / us / 1e3;
}

double Message::busbw_GBps(double us) const {
    if (ranks < 2) return stats::kNone;
    // The factors of nccl-tests' doc/PERFORMANCE.md.
    const double others = (ranks - 1.0) / ranks;
    const double factor = operation == Operation::allreduce ? 2 * others
                          : is_in_parts()                   ? others
                                                            : 1;
    return algbw_GBps(us) * factor;
}

std::string_view Message::redop() const {
    return comm::reduces(operation) ? word_of(reduction) : "none";
}

std::string Message::name() const {
    if (operation == Operation::barrier) return std::string(comm::name_of(operation));
    return fmt::format("{}:{}:{}:{}{}", comm::name_of(operation), word_of(dtype), redop(), bytes(),
                       in_place ? ":in-place" : "");
}

std::vector<std::uint64_t> message_sizes(const vocabulary::CollectivesSettings& settings) {
    if (settings.sizes) return listed_sizes(*settings.sizes);
    const auto smallest = settings.min_bytes, largest = settings.max_bytes;
    if (smallest > largest)
        throw base::OptionError(fmt::format(
            "the smallest message, -b {}, is larger than the largest, -e {}", smallest, largest));
    need_possible(largest);
    const auto step = base::real(std::min(settings.step_bytes.value_or(0), kMostBytes));
    std::vector<std::uint64_t> sizes;
    // A double is exact: kMostBytes is far below 2^53.
    for (double next = base::real(smallest); next <= base::real(largest);
         next = step > 0   ? next + step
                : next < 1 ? 1
                           : next * settings.step_factor) {
        const auto size = static_cast<std::uint64_t>(next);
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
        if (sizes.size() > kMostSizes)
            throw base::OptionError(fmt::format(
                "more than {} message sizes; take a larger step in bytes (-i) or factor (-f); "
                "-n is the number of timed calls",
                kMostSizes));
    }
    return sizes;
}

std::vector<Message> messages_of(const Message& form, const std::vector<std::uint64_t>& sizes) {
    if (form.operation == Operation::barrier) return {form};
    std::vector<Message> messages;
    Message one = form;
    one.part = 1;
    const std::uint64_t unit = one.bytes();
    for (const std::uint64_t size : sizes) {
        one.part = static_cast<std::size_t>(std::max<std::uint64_t>(1, size / unit));
        if (std::ranges::find(messages, one) == messages.end()) messages.push_back(one);
    }
    return messages;
}

std::vector<Message> chosen_forms(const vocabulary::CollectivesSettings& settings,
                                  const comm::BackendEntry& backend, int ranks) {
    std::vector<Message> forms;
    const auto wanted = [&](Operation operation, bool in_place) {
        return backend.offers(operation, in_place) &&
               settings.place != (in_place ? "out-of-place" : "in-place");
    };
    const auto types = chosen_types(settings.datatype);
    const auto reductions = chosen_reductions(settings.redop);
    for (const Operation operation : chosen_operations(settings.op)) {
        if (comm::is_between_two(operation) && ranks < 2) continue;
        const bool is_barrier = operation == Operation::barrier;
        for (const auto dtype : is_barrier ? std::vector{DType::u8} : types)
            for (const auto reduction :
                 comm::reduces(operation) ? reductions : std::vector{Reduction::sum})
                for (const bool in_place : {false, true})
                    if (wanted(operation, in_place) || (is_barrier && !in_place))
                        forms.push_back({operation, dtype, reduction, in_place, ranks, 0});
    }
    return forms;
}

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
