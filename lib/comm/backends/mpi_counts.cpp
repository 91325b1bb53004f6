#include "comm/backends/mpi_counts.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/log.hpp"
#include "comm/mpi_check.hpp"

namespace ranklab::comm {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30U;  // elements that an int counts

MPI_Datatype contiguous(int count, MPI_Datatype of) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi_check(MPI_Type_contiguous(count, of, &type), "MPI_Type_contiguous");
    return type;
}

// Whole pieces, then the rest behind them.
MPI_Datatype long_type(std::size_t count, MPI_Datatype element) {
    MPI_Aint lower = 0;
    MPI_Aint bytes = 0;
    mpi_check(MPI_Type_get_extent(element, &lower, &bytes), "MPI_Type_get_extent");
    const std::size_t whole = count / kPiece;
    MPI_Datatype piece = contiguous(static_cast<int>(kPiece), element);
    MPI_Datatype pieces = contiguous(static_cast<int>(whole), piece);
    MPI_Datatype rest = contiguous(static_cast<int>(count % kPiece), element);
    const std::array<int, 2> counts{1, 1};
    const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(whole * kPiece) * bytes};
    const std::array<MPI_Datatype, 2> types{pieces, rest};
    MPI_Datatype all = MPI_DATATYPE_NULL;
    mpi_check(MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &all),
              "MPI_Type_create_struct");
    mpi_check(MPI_Type_commit(&all), "MPI_Type_commit");
    for (auto* part : {&piece, &pieces, &rest}) MPI_Type_free(part);
    return all;
}

}  // namespace

MpiLength::MpiLength(std::size_t count, MPI_Datatype element) : type_(element) {
    owned_ = count > static_cast<std::size_t>(std::numeric_limits<int>::max());
    count_ = owned_ ? 1 : static_cast<int>(count);
    if (owned_) type_ = long_type(count, element);
}

MpiLength::~MpiLength() {
    if (owned_ && MPI_Type_free(&type_) != MPI_SUCCESS) base::log::warn("MPI_Type_free failed");
}

std::vector<MpiPiece> mpi_pieces(const BufferView& buffer) {
    std::vector<MpiPiece> pieces;
    std::size_t begin = 0;
    do {
        const std::size_t count = std::min(kPiece, buffer.count - begin);
        pieces.push_back({begin * size_of(buffer.dtype), static_cast<int>(count)});
        begin += count;
    } while (begin < buffer.count);
    return pieces;
}

}  // namespace ranklab::comm
