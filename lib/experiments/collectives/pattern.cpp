#include "experiments/collectives/pattern.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/numbers.hpp"
#include "device/gpus.hpp"

namespace ranklab::experiments {

namespace {

using comm::BufferView;
using comm::DType;
using comm::Operation;

struct Precision {
    double whole;  // the type holds all whole numbers up to this one
    double unit;   // distance from 1 to the next larger number
};
// In the order of DType. Sums above 255 in u8 are avoided: Open MPI 4.1 wraps or saturates.
constexpr std::array<Precision, 7> kPrecisions{{{255, 0},
                                                {0x1p31, 0},
                                                {0x1p31, 0},
                                                {0x1p24, 0x1p-23},
                                                {0x1p53, 0x1p-52},
                                                {0x1p11, 0x1p-10},
                                                {0x1p8, 0x1p-7}}};

// The finaliser of MurmurHash3: each bit of the result depends on each bit of the number.
std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ number >> 33U) * 0xff51afd7ed558ccdU;
    number = (number ^ number >> 33U) * 0xc4ceb9fe1a85ec53U;
    return number ^ number >> 33U;
}

// With fewer values, neighbouring indexes would often have equal values.
constexpr double kFewestNumbers = 3;

template <class T>
T as(double value) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
        return static_cast<T>(value);
    else
        return static_cast<T>(static_cast<float>(value));
}

// Returns the values from index `first` on, at most one period.
template <class T, class NumberAt>
std::vector<T> period(std::size_t first, std::size_t count, NumberAt number_at) {
    std::vector<T> numbers;
    for (std::size_t i = 0; i < std::min(count, Pattern::kPeriod); ++i)
        numbers.push_back(as<T>(number_at(first + i)));
    return numbers;
}

// Calls take(data, count) for consecutive pieces of at most one period.
template <class Take>
void each_period(const BufferView& buffer, Take take) {
    auto* bytes = static_cast<char*>(buffer.data);
    for (std::size_t done = 0; done < buffer.count; done += Pattern::kPeriod) {
        const std::size_t count = std::min(Pattern::kPeriod, buffer.count - done);
        take(bytes, count);
        bytes += count * comm::size_of(buffer.dtype);
    }
}

template <class T>
std::size_t differing(const char* bytes, const std::vector<T>& expected, std::size_t count,
                      double tolerance) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
        const auto right = static_cast<double>(expected[i]);
        if (!(std::abs(static_cast<double>(value) - right) <= tolerance * std::abs(right))) ++wrong;
    }
    return wrong;
}

// Compares pieces by memcmp first: most are correct, and memcmp runs at memory bandwidth.
template <class NumberAt>
std::size_t wrong_numbers(const BufferView& buffer, std::size_t first, double tolerance,
                          NumberAt number_at) {
    return comm::visit_type(buffer.dtype, [&](auto type) {
        using T = decltype(type);
        std::size_t wrong = 0;
        const auto expected = period<T>(first, buffer.count, number_at);
        each_period(buffer, [&](const char* bytes, std::size_t count) {
            if (std::memcmp(bytes, expected.data(), count * sizeof(T)) != 0)
                wrong += differing(bytes, expected, count, tolerance);
        });
        return wrong;
    });
}

// Host copies of a transfer's device buffers, to fill and compare. Host buffers are used directly.
class HostSide {
  public:
    explicit HostSide(const comm::Transfer& transfer) : device_(transfer), host_(transfer) {
        if (!is_on_device()) return;
        memory_.resize(transfer.receive.bytes() + transfer.send.bytes());
        host_.receive.memory = host_.send.memory = comm::Memory::host;
        host_.receive.data = memory_.data();
        host_.send.data =
            transfer.in_place() ? at(transfer.send) : memory_.data() + transfer.receive.bytes();
    }
    const comm::Transfer& host() const { return host_; }
    void to_device() const {
        if (!is_on_device()) return;
        const auto stream = device::compute_stream();
        device::copy_to_device(device_.receive.data, host_.receive.data, host_.receive.bytes(),
                               stream);
        device::copy_to_device(device_.send.data, host_.send.data, host_.send.bytes(), stream);
        device::synchronize(stream);
    }
    // Copies `on_device`, which lies in the receive buffer, to the host.
    BufferView fetched(BufferView on_device) {
        if (!is_on_device() || on_device.count == 0) return on_device;
        char* const to = at(on_device);
        device::copy_to_host(to, on_device.data, on_device.bytes(), device::compute_stream());
        device::synchronize(device::compute_stream());
        return {to, on_device.count, on_device.dtype};
    }

  private:
    bool is_on_device() const { return device_.receive.memory == comm::Memory::device; }
    // Returns the address of the host copy of a part of the receive buffer.
    char* at(const BufferView& part) {
        return memory_.data() +
               (static_cast<char*>(part.data) - static_cast<char*>(device_.receive.data));
    }

    comm::Transfer device_, host_;
    std::vector<char> memory_;
};

// Changes the first element's most significant byte; in every type the change exceeds the
// tolerance.
void flip_a_bit(const comm::BufferView& result) {
    if (result.count == 0) return;
    static_cast<unsigned char*>(result.data)[comm::size_of(result.dtype) - 1] ^= 1U;
}

}  // namespace

Pattern::Pattern(const Message& message, std::uint64_t salt)
    : dtype_(message.dtype), reduction_(message.reduction), ranks_(message.ranks), salt_(salt) {
    if (!comm::reduces(message.operation) || !is_sum()) return;
    const auto [whole, unit] = kPrecisions.at(base::number_of(dtype_));
    const auto most = [&, whole = whole] {
        const double senders = std::ceil(base::real(ranks_) / base::real(every_));
        return std::floor(whole / senders);
    };
    while (most() < kFewestNumbers) ++every_;
    most_ = static_cast<std::uint64_t>(std::min(most(), 251.0));
    if (reduction_ == Reduction::avg) tolerance_ = (ranks_ + 2) * unit;
}

// Pseudo-random, so that no two ranks, calls or index shifts have the same sequence of values.
std::uint64_t Pattern::number(int rank, std::size_t index) const {
    const auto r = static_cast<std::uint64_t>(rank);
    const std::uint64_t place = index % kPeriod;
    if (every_ > 1 && (r + place) % every_ != 0) return 0;
    return 1 + mixed(place + kPeriod * (r + (std::uint64_t{1} << 24U) * salt_)) % most_;
}

double Pattern::reduced(std::size_t index) const {
    auto value = static_cast<double>(number(0, index));
    for (int rank = 1; rank < ranks_; ++rank) {
        const auto other = static_cast<double>(number(rank, index));
        value = is_sum()                       ? value + other
                : reduction_ == Reduction::min ? std::min(value, other)
                                               : std::max(value, other);
    }
    if (reduction_ != Reduction::avg) return value;
    return base::is_floating(dtype_) ? value / ranks_ : std::floor(value / ranks_);
}

void Pattern::fill(const BufferView& buffer, int rank, std::size_t first) const {
    comm::visit_type(buffer.dtype, [&](auto type) {
        using T = decltype(type);
        const auto numbers = period<T>(first, buffer.count, [&](std::size_t i) {
            return static_cast<double>(number(rank, i));
        });
        each_period(buffer, [&](char* bytes, std::size_t count) {
            std::memcpy(bytes, numbers.data(), count * sizeof(T));
        });
    });
}

std::size_t Pattern::wrong_of_rank(const BufferView& buffer, int rank, std::size_t first) const {
    return wrong_numbers(buffer, first, 0,
                         [&](std::size_t i) { return static_cast<double>(number(rank, i)); });
}

std::size_t Pattern::wrong_of_reduction(const BufferView& buffer, std::size_t first) const {
    return wrong_numbers(buffer, first, tolerance_, [&](std::size_t i) { return reduced(i); });
}

void fill_message(const Message& message, const Pattern& pattern, const comm::Transfer& host,
                  int rank) {
    constexpr int kPoison = 0xA5;  // in types of several bytes no value or sum equals it
    const bool sends = message.operation != Operation::broadcast || rank == host.root;
    if (host.receive.bytes() > 0) std::memset(host.receive.data, kPoison, host.receive.bytes());
    if (message.operation == Operation::broadcast && sends) pattern.fill(host.receive, rank, 0);
    if (message.operation != Operation::broadcast) pattern.fill(host.send, rank, 0);
}

std::size_t wrong_in(const Message& message, const Pattern& pattern, const BufferView& result,
                     int root, int rank) {
    const Operation operation = message.operation;
    if (result.count == 0 || operation == Operation::barrier) return 0;
    const std::size_t own_part = static_cast<std::size_t>(rank) * message.part;
    if (comm::reduces(operation))
        return pattern.wrong_of_reduction(result,
                                          operation == Operation::reduce_scatter ? own_part : 0);
    if (!message.is_in_parts()) {
        const int others = message.ranks - 1;
        const int from = operation == Operation::broadcast  ? root
                         : operation == Operation::sendrecv ? (rank + others) % message.ranks
                         : rank == 0                        ? others
                                                            : 0;
        return pattern.wrong_of_rank(result, from, 0);
    }
    std::size_t wrong = 0;
    BufferView part = result;
    part.count = message.part;
    for (int r = 0; r < message.ranks; ++r) {  // part r comes from rank r
        wrong += pattern.wrong_of_rank(part, r, operation == Operation::alltoall ? own_part : 0);
        part.data = static_cast<char*>(part.data) + part.bytes();
    }
    return wrong;
}

std::int64_t wrong_of_call(const Message& message, comm::Communicator& data,
                           const comm::Transfer& transfer, const CheckedCall& how) {
    const int rank = data.rank();
    const Pattern pattern(message, how.salt);
    HostSide host(transfer);
    fill_message(message, pattern, host.host(), rank);
    host.to_device();
    how.started ? data.start(transfer).wait() : data.run(transfer);
    data.synchronize();
    const auto result = host.fetched(data.result_of(transfer));
    if (how.flips_a_bit) flip_a_bit(result);
    return static_cast<std::int64_t>(wrong_in(message, pattern, result, transfer.root, rank));
}

}  // namespace ranklab::experiments
