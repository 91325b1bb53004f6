#include "data/make/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "comm/exchange.hpp"

namespace ranklab::data {

namespace fs = std::filesystem;

void check_output(const fs::path& target, bool force, std::uint64_t bytes) {
    const fs::path resolved = results::resolve(target);
    base::refuse_irregular<base::OptionError>(target);
    std::error_code unknown;
    if (fs::exists(resolved, unknown) && !force)
        throw base::OptionError(
            fmt::format("{} exists; replace it or give another name", target.string()), {"force"});
    results::check_free_space(resolved, bytes);
}

OutputFile::OutputFile(comm::Communicator& control, fs::path target, bool force,
                       std::uint64_t bytes)
    : control_(control), target_(std::move(target)) {
    comm::on_root(control_, [&] {
        check_output(target_, force, bytes);
        staged_.emplace(fs::absolute(target_));
        path_ = staged_->path();
    });
    path_ = comm::broadcast_text(control_, path_.string(), 0);
}

const base::Descriptor& OutputFile::descriptor() {
    if (!descriptor_) descriptor_ = base::Descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!descriptor_) base::throw_errno("open", target_, errno);
    return descriptor_;
}

std::uint64_t OutputFile::reserve(std::uint64_t more) {
    const int fd = descriptor().get();
    const off_t size = ::lseek(fd, 0, SEEK_END);
    if (size < 0) base::throw_errno("lseek", target_, errno);
    while (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size + static_cast<off_t>(more)) != 0) {
        if (errno == EINTR) continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS) break;
        base::throw_errno("fallocate", target_, errno);
    }
    return size;
}

void OutputFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (!base::write_whole(descriptor().get(), bytes, offset))
        base::throw_errno("pwrite", target_, errno);
}

void OutputFile::commit() {
    comm::all_or_throw(control_, [&] {
        if (descriptor_ && ::fsync(descriptor_.get()) != 0)
            base::throw_errno("fsync", target_, errno);
    });
    comm::on_root(control_, [&] { staged_->commit(); });
}

}  // namespace ranklab::data
