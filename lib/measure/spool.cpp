#include "measure/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/whole_io.hpp"

namespace ranklab::measure {
namespace {

constexpr std::size_t kBlockValues = 32768;

void read_all(int file, std::span<double> to, std::size_t at) {
    const auto got = base::read_whole_at(file, to, at);
    if (got == to.size_bytes()) return;
    throw base::EnvironmentError(fmt::format(
        "the temporary file of this run's samples cannot be read back ({}); name another place with "
        "the environment variable TMPDIR",
        got ? "it ends too early" : std::generic_category().message(errno)));
}

// Without a name where the file system can do that (NFS cannot), else removed as soon as it is open.
base::Descriptor open_nameless(const std::string& folder) {
    base::Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file) return file;
    std::string name = folder + "/ranklab-samples-XXXXXX";
    base::Descriptor named(::mkostemp(name.data(), O_CLOEXEC));
    if (named) ::unlink(name.c_str());
    return named;
}

}  // namespace

Spool::Spool(std::size_t columns, std::size_t most_held, std::string folder)
    : columns_(columns),
      block_rows_(std::max<std::size_t>(1, kBlockValues / std::max<std::size_t>(1, columns))),
      most_blocks_(std::max<std::size_t>(1, most_held / (block_rows_ * std::max<std::size_t>(1, columns)))),
      folder_(std::move(folder)) {
    if (columns == 0) throw base::Error("internal: a spool of rows without columns");
}

void Spool::push(std::span<const double> row) {
    if (row.size() != columns_)
        throw base::Error(fmt::format("internal: a row of {} values for {} columns", row.size(), columns_));
    const std::size_t in_block = rows_ % block_rows_;
    if (in_block == 0) make_room();
    std::copy(row.begin(), row.end(), held_.back().get() + in_block * columns_);
    ++rows_;
}

void Spool::amend(std::size_t column, double value) {
    const std::size_t in_block = (rows_ - 1) % block_rows_;
    held_.back()[in_block * columns_ + column] = value;
}

// A block more. The oldest go to the file one by one, not all at once: no step waits for more than one block.
void Spool::make_room() {
    if (held_.size() >= most_blocks_ && trouble_.empty() && spill_oldest()) {
        held_.push_back(std::move(held_.front()));
        held_.pop_front();
        return;
    }
    // Not initialised: pages that are never used are never made.
    held_.push_back(std::unique_ptr<double[]>(new double[block_rows_ * columns_]));
}

bool Spool::spill_oldest() {
    if (!file_) open_file();
    const std::span block(held_.front().get(), block_rows_ * columns_);
    if (file_ && base::write_whole_at(file_.get(), block, written_blocks_ * block.size_bytes())) {
        ++written_blocks_;
        return true;
    }
    trouble_ = fmt::format(
        "the samples of this long run stay in memory from row {} on, since {} does not take them ({}); free "
        "some space, or name another place with the environment variable TMPDIR",
        written_blocks_ * block_rows_ + 1, folder_, std::generic_category().message(errno));
    return false;
}

void Spool::open_file() {
    std::error_code none;
    if (folder_.empty()) folder_ = std::filesystem::temp_directory_path(none).string();
    if (folder_.empty()) folder_.assign(1, '.');
    file_ = open_nameless(folder_);
}

void Spool::read(std::size_t first, std::span<double> to) const {
    if (to.size() % columns_ != 0 || first + to.size() / columns_ > rows_)
        throw base::Error(
            fmt::format("internal: rows {} and {} values on of {} rows", first, to.size(), rows_));
    while (!to.empty()) {
        const std::size_t row = first % block_rows_;
        const std::size_t rows = std::min(to.size() / columns_, block_rows_ - row);
        read_block(first / block_rows_, row, to.first(rows * columns_));
        to = to.subspan(rows * columns_);
        first += rows;
    }
}

void Spool::read_block(std::size_t block, std::size_t row, std::span<double> to) const {
    if (block < written_blocks_) {
        const std::size_t values = (block * block_rows_ + row) * columns_;
        return read_all(file_.get(), to, values * sizeof(double));
    }
    const double* from = held_[block - written_blocks_].get() + row * columns_;
    std::copy(from, from + to.size(), to.begin());
}

}  // namespace ranklab::measure
