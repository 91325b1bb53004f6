#include "comm/scatterv.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/counts.hpp"
#include "comm/mpi_check.hpp"

namespace ranklab::comm {
namespace {

void need_parts(const Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
                const BufferView& receive) {
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const std::size_t ranks = communicator.world_size();
    const std::size_t mine = communicator.rank();
    if (counts.size() == ranks && sum == send.count && counts[mine] == receive.count &&
        send.dtype == receive.dtype)
        return;
    throw base::Error(
        fmt::format("internal: a scatterv over {} ranks was given {} counts of {} elements together, to send "
                    "{}, and room for {}",
                    ranks, counts.size(), sum, send.count, receive.count));
}

}  // namespace

void scatterv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
              const BufferView& receive, int root) {
    need_host<base::Error>(receive, "host");
    const bool is_root = communicator.rank() == root;
    if (is_root) {
        need_host<base::Error>(send, "host");
        need_parts(communicator, send, counts, receive);
    }
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    if (mpi == nullptr && communicator.world_size() > 1) {
        throw base::OptionError(fmt::format("the {} backend does not scatter parts to ranks; use another",
                                            communicator.backend()),
                                {"backend mpi"});
    }
    if (mpi == nullptr) {
        if (receive.count > 0) std::memcpy(receive.data, send.data, receive.bytes());
        return;
    }
    std::vector<int> lengths;
    std::vector<int> begins;
    if (is_root) {
        static_cast<void>(mpi_count(send.count));  // then every begin fits too
        int begin = 0;
        for (const std::size_t count : counts) {
            lengths.push_back(static_cast<int>(count));
            begins.push_back(begin);
            begin += lengths.back();
        }
    }
    const MPI_Datatype type = mpi_type(receive.dtype);
    mpi_done(MPI_Scatterv(send.data, lengths.data(), begins.data(), type, receive.data,
                          mpi_count(receive.count), type, root, mpi->native()),
             "MPI_Scatterv");
}

}  // namespace ranklab::comm
