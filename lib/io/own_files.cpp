#include "io/own_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <mutex>
#include <string_view>

#include "base/error.hpp"
#include "base/npy_header.hpp"
#include "base/regular_file.hpp"
#include "hdf5/file.hpp"

namespace ranklab::io {
namespace {

constexpr std::string_view kNumber = "0.000000000000000000e+00";  // "%.18e": 0 any digit, + either sign

constexpr const char* kCut = "cannot be opened, and a run that was killed may have left it: ";

bool is_like(char c, char form) {
    if (form == '0') return c >= '0' && c <= '9';
    return form == '+' ? c == '+' || c == '-' : c == form;
}

// A run that was killed may have left the beginning alone.
bool begins_as_text(std::string_view bytes) {
    bytes.remove_prefix(bytes.starts_with('-') ? 1 : 0);
    bytes = bytes.substr(0, kNumber.size());
    return std::equal(bytes.begin(), bytes.end(), kNumber.begin(), is_like);
}

// Up to the size, which may have been another one.
bool begins_as_npy(std::string_view bytes) {
    const std::string header = base::npy_header("<f8", {1, 1});
    const std::string_view own = std::string_view(header).substr(0, header.find('(') + 1);
    return own.starts_with(bytes.substr(0, own.size()));
}

std::filesystem::path mark_of(const std::filesystem::path& shared) {
    return shared.parent_path() / fmt::format(".{}.being-written-by-ranklab-io", shared.filename().string());
}

bool is_marked(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(mark_of(path), unknown);
}

std::string why_not_opened(const std::filesystem::path& path, const std::exception& error) {
    return is_marked(path) ? "" : kCut + std::string(error.what());
}

std::string why_no_records(const std::filesystem::path& path) try {
    const std::lock_guard lock(hdf5::library_mutex());
    const auto file = hdf5::File::open_to_read(path);
    if (file.root().has_attribute("ranklab_schema")) return "is a results file";
    const auto members = file.root().members();
    return members == std::vector<std::string>{"output"} ? "" : "holds other things than the group /output";
} catch (const base::DataError& error) {
    return why_not_opened(path, error);
} catch (const base::Hdf5Error& error) {
    return why_not_opened(path, error);
}

}  // namespace

bool writes(const StrategyEntry& entry, const Job& job, const std::string& name) {
    if (entry.shared_file) return name == "data" + entry.extension;
    const std::size_t digits = std::string_view("data").size();
    std::int64_t id = -1;
    if (name.size() > digits) std::from_chars(name.data() + digits, name.data() + name.size(), id);
    return id >= 0 && id < job.files && name == record_name(id) + entry.extension;
}

std::string why_foreign(const std::filesystem::path& path, const std::string& extension) {
    if (!base::irregular_kind(path).empty()) return "";
    const auto file = base::open_file(path, O_RDONLY | O_NOFOLLOW);
    std::string bytes;
    if (!file || !base::read_up_to(file, 64, bytes) || bytes.empty()) return "";
    if (extension == ".txt") return begins_as_text(bytes) ? "" : "does not begin as numpy.savetxt's numbers";
    if (extension == ".npy") return begins_as_npy(bytes) ? "" : "does not begin as numpy.save's float64";
    if (hdf5::is_hdf5(path)) return why_no_records(path);
    // HDF5 writes its signature late.
    const bool blank = std::ranges::all_of(bytes, [](char c) { return c == 0; });
    return blank && is_marked(path) ? "" : "is no HDF5 file";
}

WritingMark::WritingMark(const std::filesystem::path& shared) : path_(mark_of(shared)) {
    std::ofstream(path_) << "ranklab io writes the file beside this one; a run that was killed left both\n";
}

WritingMark::~WritingMark() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

}  // namespace ranklab::io
