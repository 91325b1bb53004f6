#include "hdf5/dataset_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {
namespace {

constexpr const char* kReadGroup = "/output";

Id access_properties(const DatasetFileOptions& options) {
    Id access = file_access();
    const auto oldest = options.latest_format ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST;
    check<H5Pset_libver_bounds>("file access", access.get(), oldest, H5F_LIBVER_LATEST);
    if (options.alignment > 1)
        check<H5Pset_alignment>("file access", access.get(), options.alignment, options.alignment);
    if (options.chunk_cache > 0)
        check<H5Pset_cache>("file access", access.get(), 0, kChunkSlots, options.chunk_cache, 0.75);
    if (options.mpi != nullptr) use_mpi_io(access, options);
    return access;
}

}  // namespace

DatasetFile::DatasetFile(const std::filesystem::path& path, DatasetFileOptions options)
    : path_(path.string()), options_(std::move(options)) {
    create();
    if (options_.mpi != nullptr) {
        independent_ = mpi_transfer(Requested::independent);
        collective_ = mpi_transfer(Requested::collective);
        mpi_io_ = describe_mpi_io(file_, path_);
    }
    group_ = options_.group == "/" ? own<H5Gopen2>(path_, file_.get(), "/", H5P_DEFAULT)
                                   : own<H5Gcreate2>(path_, file_.get(), options_.group.c_str(),
                                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

void DatasetFile::create() try {
    const Id access = access_properties(options_);
    // Open MPI locks this semaphore when it opens a file through MPI-IO. A rank that was killed
    // meanwhile left it locked, and all later jobs with a file of this name would wait for ever.
    if (options_.mpi != nullptr)
        ::sem_unlink(("/OMPIO_" + std::filesystem::path(path_).filename().string()).c_str());
    file_ = own<H5Fcreate>(path_, path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
} catch (const base::Hdf5Error& error) {
    rethrow_of_place(error);
}

// Throws the error of a failed write. MPI libraries do not always say whether the disk or the quota
// is full, or the file is gone.
void DatasetFile::rethrow_of_place(const base::Hdf5Error& error) const {
    throw base::EnvironmentError(
        fmt::format("{}: no room for it, or it cannot be written there; free some space or name "
                    "another folder ({})",
                    path_, error.what()),
        {options_.setting});
}

DatasetFile::~DatasetFile() {
    // A write failed if the file is still open: HDF5 1.10 would crash if it closed the file.
    static_cast<void>(group_.release());
    static_cast<void>(file_.release());
}

void DatasetFile::make(const std::string& name, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> chunk) {
    const auto extents = sizes(shape);
    const Id properties = plain_dataset();
    check<H5Pset_alloc_time>(
        name, properties.get(),
        options_.early_allocation ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_LATE);
    check<H5Pset_fill_time>(name, properties.get(),
                            options_.fill ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
    if (!chunk.empty() && bytes_of(extents, 1) > 0) {
        std::vector<hsize_t> edges = sizes(chunk);
        for (std::size_t d = 0; d < edges.size(); ++d) edges[d] = std::min(edges[d], extents[d]);
        set_chunk(properties, edges);
    }
    try {
        create_dataset(group_.get(), name, name,
                       options_.element == base::Element::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE,
                       extents, properties);
        base::count_progress();
    } catch (const base::Hdf5Error& error) {
        rethrow_of_place(error);
    }
}

Object DatasetFile::open(const std::string& name) const {
    const std::string path =
        fmt::format("{}{}/{}", path_, options_.group == "/" ? "" : options_.group, name);
    return {own<H5Dopen2>(path, group_.get(), name.c_str(), H5P_DEFAULT), path};
}

void DatasetFile::write(const Object& dataset, const Box& box, base::Element element,
                        const void* values, std::size_t size, Requested requested) {
    const bool through_mpi = options_.mpi != nullptr;
    const Id& transfer = requested == Requested::collective ? collective_ : independent_;
    try {
        write_box(dataset, box, native_type(element), values, size,
                  through_mpi ? transfer.get() : H5P_DEFAULT);
    } catch (const base::Hdf5Error& error) {
        rethrow_of_place(error);
    }
    base::count_progress();
    if (through_mpi) ++transfers_[outcome_of(transfer, requested)];
}

void DatasetFile::flush() try {
    check<H5Fflush>(path_, file_.get(), H5F_SCOPE_GLOBAL);
} catch (const base::Hdf5Error& error) {
    rethrow_of_place(error);
}

// Needed because HDF5 leaves written bytes in the page cache, also through MPI-IO.
void DatasetFile::sync() {
    const auto file = base::open_file(path_, O_RDONLY);
    if (!file || ::fsync(file.get()) != 0)
        base::throw_errno("fsync", path_, errno, options_.setting);
}

void DatasetFile::close() try {
    // Flushes first: a failed flush is an error, while a failed close leaves the library broken.
    // Not through MPI-IO, where a flush waits for the device.
    if (options_.mpi == nullptr) flush();
    check<H5Gclose>(path_, group_.release());
    check<H5Fclose>(path_, file_.release());
} catch (const base::Hdf5Error& error) {
    rethrow_of_place(error);
}

namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
    throw base::DataError(fmt::format("{} {}; write it again with ranklab io", path, what));
}

bool is_float64(const Object& dataset) {
    const Id type = own<H5Dget_type>(dataset.path(), dataset.id());
    return check<H5Tequal>(dataset.path(), type.get(), H5T_IEEE_F64LE) > 0;
}

Id open_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) damaged(path, "is not there");
        base::throw_read_errno("stat", path, errno, "directory");
    }
    base::refuse_irregular<base::DataError>(path);
    Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access().get()));
    if (!file) damaged(path, fmt::format("cannot be opened by HDF5 ({})", library_text()));
    return file;
}

}  // namespace

DatasetSource::DatasetSource(const std::filesystem::path& path)
    : path_(path.string()), file_(open_file(path_)) {}

Object DatasetSource::open(const std::string& name, std::span<const std::int64_t> shape) const try {
    const std::string within = fmt::format("{}/{}", kReadGroup, name);
    const std::string path = path_ + within;
    Object dataset(own<H5Dopen2>(path, file_.get(), within.c_str(), H5P_DEFAULT), path);
    if (const auto found = shape_of(dataset); found != sizes(shape))
        damaged(path, fmt::format("has the shape [{}], not {}", fmt::join(found, ", "),
                                  base::shape_text(shape)));
    if (!is_float64(dataset)) damaged(path, "does not hold float64");
    return dataset;
} catch (const base::Hdf5Error& error) {
    damaged(path_, fmt::format("has no dataset {} ({})", name, error.what()));
}

// How data moved in a transfer, in words.
namespace {

// H5D_mpio_no_collective_cause_t. Older headers lack the last ones.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> kCauses{{
    {0x01, "independent I/O was asked for"},
    {0x02, "data type conversion"},
    {0x04, "data transform"},
    {0x08, "MPI types switched off by HDF5_MPI_OPT_TYPES"},
    {0x10, "dataspace neither simple nor scalar"},
    {0x20, "dataset neither contiguous nor chunked"},
    {0x40, "parallel filtered writes switched off"},
    {0x80, "error while checking"},
}};
constexpr std::uint32_t kKnownCauses = 0xFF;

// H5D_mpio_actual_io_mode_t
constexpr int kChunkCollective = 2;
constexpr int kContiguousCollective = 4;
constexpr std::array kIoModes{"no collective", "chunk independent", "chunk collective",
                              "chunk mixed", "contiguous collective"};
// H5D_mpio_actual_chunk_opt_mode_t
constexpr std::array kChunkModes{"none", "link chunk", "multi chunk"};

std::string name_of_mode(int mode, std::span<const char* const> names) {
    return mode >= 0 && mode < std::ssize(names) ? names[mode] : "mode " + std::to_string(mode);
}

std::string cause_of(const Transfer& transfer) {
    std::string text;
    const auto add = [&](std::string_view name, std::uint32_t bits) {
        if (!text.empty()) text += " + ";
        text += name;
        if ((transfer.local_cause & bits) == 0) text += " (elsewhere)";
    };
    const std::uint32_t all = transfer.local_cause | transfer.global_cause;
    for (const auto& [bit, name] : kCauses) {
        if ((all & bit) != 0) add(name, bit);
    }
    const std::uint32_t unknown = all & ~kKnownCauses;
    if (unknown != 0) add("cause " + std::to_string(unknown), unknown);
    return text.empty() ? "none" : text;
}

}  // namespace

bool Transfer::fell_back() const {
    if (requested != Requested::collective) return false;
    return global_cause != 0 || (io_mode != kChunkCollective && io_mode != kContiguousCollective);
}

std::array<std::string, 4> words_of(const Transfer& transfer) {
    return {transfer.requested == Requested::collective ? "collective" : "independent",
            name_of_mode(transfer.io_mode, kIoModes),
            name_of_mode(transfer.chunk_mode, kChunkModes), cause_of(transfer)};
}

}  // namespace ranklab::hdf5
