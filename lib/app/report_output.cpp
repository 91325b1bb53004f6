#include "app/report_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/regular_file.hpp"
#include "base/whole_io.hpp"
#include "hdf5/file.hpp"
#include "results/staged_file.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{8} << 20U;

fs::path checked_target(const std::string& path) {
    const fs::path target = results::resolve(path);
    if (const auto kind = base::irregular_kind(target); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, and a report goes into a file or, without --output, to stdout",
                        target.string(), kind));
    hdf5::spare(target, "output");
    results::make_parent_folders(target);
    return target;
}

base::Descriptor nameless_file() {
    std::string name = (fs::temp_directory_path() / "ranklab-report-XXXXXX").string();
    base::Descriptor descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!descriptor) base::throw_errno("mkostemp", name, errno, "TMPDIR");
    ::unlink(name.c_str());
    return descriptor;
}

void write_to_stdout(std::string_view text) {
    if (!base::write_whole(STDOUT_FILENO, text)) refuse_stdout();
}

constexpr const char* kNoSpill =
    "the report does not fit into the folder for temporary files; set TMPDIR to one with more room, or give "
    "--output FILE";

}  // namespace

ReportOutput::ReportOutput(const std::string& path) : path_(path) {
    if (!path.empty()) file_.emplace(checked_target(path), "output");
}

void ReportOutput::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) flush();
}

void ReportOutput::flush() {
    if (file_) {
        file_->write(std::as_bytes(std::span(buffer_)));
    } else {
        if (!spill_) spill_ = nameless_file();
        if (!base::write_whole(spill_.get(), buffer_)) throw base::EnvironmentError(kNoSpill);
    }
    buffer_.clear();
}

void ReportOutput::commit() {
    if (file_) {
        flush();
        file_->commit();
        return base::log::info("the report is in " + base::one_line(path_));
    }
    if (spill_) {
        flush();
        if (::lseek(spill_.get(), 0, SEEK_SET) != 0) throw base::EnvironmentError(kNoSpill);
        std::string piece(kBufferBytes, '\0');
        for (;;) {
            const auto got = base::read_whole(spill_.get(), piece);
            if (!got) throw base::EnvironmentError(kNoSpill);
            if (*got == 0) return;
            write_to_stdout(std::string_view(piece).substr(0, *got));
        }
    }
    write_to_stdout(buffer_);
}

}  // namespace ranklab::app
