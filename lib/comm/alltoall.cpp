#include "comm/alltoall.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "comm/counts.hpp"
#include "comm/mpi_check.hpp"
#include "comm/native_handle.hpp"

namespace ranklab::comm {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30U;  // bytes an int can count
constexpr int kTag = 7471;                             // of no meaning; the communicator is the caller's own

void need_sum(const BufferView& buffer, std::span<const std::size_t> counts, int ranks, const char* what) {
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (counts.size() == static_cast<std::size_t>(ranks) && sum == buffer.count) return;
    throw base::Error(
        fmt::format("internal: an alltoallv over {} ranks was given {} counts of {} elements together, to "
                    "{} {}",
                    ranks, counts.size(), sum, what, buffer.count));
}

std::size_t bytes_before(std::span<const std::size_t> counts, std::size_t rank, std::size_t element) {
    return element * std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

struct Part {
    char* data = nullptr;
    std::size_t bytes = 0;
};

// Either side is cut where it is longer than an int can count; the other side cuts at the same places.
void exchange(MPI_Comm comm, const Part& out, int to, const Part& in, int from) {
    std::size_t sent = 0;
    std::size_t received = 0;
    do {
        const auto out_now = static_cast<int>(std::min(kPiece, out.bytes - sent));
        const auto in_now = static_cast<int>(std::min(kPiece, in.bytes - received));
        mpi_done(MPI_Sendrecv(out.data + sent, out_now, MPI_BYTE, out_now > 0 ? to : MPI_PROC_NULL, kTag,
                              in.data + received, in_now, MPI_BYTE, in_now > 0 ? from : MPI_PROC_NULL, kTag,
                              comm, MPI_STATUS_IGNORE),
                 "MPI_Sendrecv");
        sent += out_now;
        received += in_now;
    } while (sent < out.bytes || received < in.bytes);
}

}  // namespace

void alltoallv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> send_counts,
               const BufferView& receive, std::span<const std::size_t> receive_counts) {
    const int ranks = communicator.world_size();
    const int rank = communicator.rank();
    need_host<base::Error>(send, "host");
    need_host<base::Error>(receive, "host");
    need_sum(send, send_counts, ranks, "send");
    need_sum(receive, receive_counts, ranks, "receive");
    const void* native = native_mpi(communicator);
    if (native == nullptr && ranks > 1) {
        throw base::OptionError(
            fmt::format("the {} backend does not exchange parts between ranks; use another",
                        communicator.backend()),
            {"backend mpi"});
    }
    const std::size_t element = size_of(send.dtype);
    const auto part = [&](const BufferView& buffer, std::span<const std::size_t> counts, int of) {
        const std::size_t r = of;
        return Part{static_cast<char*>(buffer.data) + bytes_before(counts, r, element), counts[r] * element};
    };
    const Part kept = part(send, send_counts, rank);
    if (kept.bytes > 0) std::memcpy(part(receive, receive_counts, rank).data, kept.data, kept.bytes);
    // In round s everyone sends s ranks up and receives from s ranks down: no rank is everybody's target.
    for (int step = 1; step < ranks; ++step) {
        const int to = (rank + step) % ranks;
        const int from = (rank - step + ranks) % ranks;
        exchange(*static_cast<const MPI_Comm*>(native), part(send, send_counts, to), to,
                 part(receive, receive_counts, from), from);
    }
}

}  // namespace ranklab::comm
