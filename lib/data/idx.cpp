#include "data/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"
#include "base/stop_signals.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kImagesMagic = 0x00000803;
constexpr std::uint32_t kLabelsMagic = 0x00000801;

// Reads plain files too: gzread passes them through.
class IdxReader {
  public:
    explicit IdxReader(const fs::path& path) : path_(path) {
        base::refuse_irregular<base::DataError>(path);
        if (!fs::exists(path)) fail("does not exist; check the folder", {"data-dir"});
        file_.reset(gzopen(path.c_str(), "rb"));
        if (!file_)
            fail(fmt::format("cannot be opened: {}; check its permissions", std::strerror(errno)));
        gzbuffer(file_.get(), 1U << 18U);
    }

    [[noreturn]] void fail(const std::string& what, base::Settings settings = {}) const {
        throw base::DataError(fmt::format("{} {}", path_.string(), what), std::move(settings));
    }

    std::uint32_t read_header_word() {
        std::array<unsigned char, 4> bytes{};
        if (read_some(bytes.data(), bytes.size()) != bytes.size())
            fail("is too short for an idx header; copy the file again");
        return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
               std::uint32_t{bytes[2]} << 8U | bytes[3];
    }

    void expect_magic(std::uint32_t expected, const char* kind) {
        const std::uint32_t magic = read_header_word();
        if (magic == expected) return;
        fail(fmt::format(
            "starts with 0x{:08x}, not 0x{:08x}: it is not an idx file of {}; check that the files "
            "are not mixed up",
            magic, expected, kind));
    }

    // Throws DataError unless exactly `count` bytes follow. Reads in pieces, so that a false header
    // cannot cause a large allocation.
    std::vector<std::uint8_t> read_body(std::uint64_t count) {
        constexpr std::uint64_t kPiece = 1U << 22U;
        std::vector<std::uint8_t> body;
        body.reserve(std::min<std::uint64_t>(count, 16 * fs::file_size(path_)));
        const auto refuse = [&](std::size_t held) {
            fail(
                fmt::format("is truncated or damaged: its header promises {} bytes of data, it "
                            "holds {}; copy the file again",
                            count, held));
        };
        while (body.size() < count) {
            const std::size_t wanted = std::min(kPiece, count - body.size());
            const std::size_t begin = body.size();
            body.resize(begin + wanted);
            const std::size_t got = read_some(body.data() + begin, wanted);
            if (got != wanted) refuse(begin + got);
        }
        std::uint8_t extra = 0;
        if (read_some(&extra, 1) != 0) refuse(count + 1);
        // Z_BUF_ERROR: a gzip file lacks its checksum, which the read past the end would include.
        int code = Z_OK;
        gzerror(file_.get(), &code);
        if (code == Z_BUF_ERROR)
            fail("is truncated: it ends before its checksum; copy the file again");
        return body;
    }

  private:
    std::size_t read_some(void* to, std::size_t count) {
        const int got = gzread(file_.get(), to, static_cast<unsigned>(count));
        int code = Z_OK;
        const char* text = gzerror(file_.get(), &code);
        if (got >= 0 && (code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END)) return got;
        fail(fmt::format("cannot be read or unpacked: {}; copy the file again",
                         code == Z_ERRNO ? std::strerror(errno) : text));
    }

    fs::path path_;
    base::unique_handle<gzFile, nullptr, gzclose> file_;
};

}  // namespace

void check_label_range(const fs::path& file, const std::vector<std::uint8_t>& labels,
                       std::int64_t classes) {
    const auto bad =
        std::find_if(labels.begin(), labels.end(), [&](std::uint8_t l) { return l >= classes; });
    if (bad == labels.end()) return;
    throw base::DataError(fmt::format(
        "{}: label {} of sample {} is not in 0..{}; the file is damaged or of another data set",
        file.string(), *bad, bad - labels.begin(), classes - 1));
}

namespace {

// The file that a thread reads ahead, and its images.
std::future<std::pair<fs::path, ImageSet>>& read_ahead() {
    static std::future<std::pair<fs::path, ImageSet>> images;
    return images;
}

ImageSet images_in(const fs::path& file) {
    IdxReader reader(file);
    reader.expect_magic(kImagesMagic, "images");
    const std::int64_t count = reader.read_header_word();
    const std::int64_t rows = reader.read_header_word();
    const std::int64_t columns = reader.read_header_word();
    if (count == 0 || rows == 0 || columns == 0 || rows > 65535 || columns > 65535)
        reader.fail(
            fmt::format("has an unusable header ({} images of {} x {}); copy the file again", count,
                        rows, columns));
    return {{1, rows, columns},
            0,
            reader.read_body(static_cast<std::uint64_t>(count) * (rows * columns)),
            {}};
}

}  // namespace

ImageSet read_idx_images(const fs::path& file) {
    if (read_ahead().valid())
        if (auto [read, images] = read_ahead().get(); read == file) return std::move(images);
    return images_in(file);
}

std::vector<std::uint8_t> read_idx_labels(const fs::path& file) {
    IdxReader reader(file);
    reader.expect_magic(kLabelsMagic, "labels");
    return reader.read_body(reader.read_header_word());
}

ImageSet read_idx_set(const fs::path& images_file, const fs::path& labels_file,
                      std::int64_t classes) {
    ImageSet set = read_idx_images(images_file);
    const std::int64_t count = std::ssize(set.images) / set.shape.bytes();
    set.classes = classes;
    set.labels = read_idx_labels(labels_file);
    if (set.size() != count)
        throw base::DataError(
            fmt::format("{} has {} images but {} has {} labels; the files do not belong together",
                        images_file.string(), count, labels_file.string(), set.size()));
    check_label_range(labels_file, set.labels, classes);
    return set;
}

ImageSets read_idx_folder(const fs::path& folder, const ImageShape& shape, std::int64_t classes,
                          bool test_images) {
    const auto text_of = [](const ImageShape& of) {
        return fmt::format("{} x {} x {}", of.channels, of.height, of.width);
    };
    const auto set = [&](std::size_t first) {
        const auto images = plain_or_gz(folder, kIdxNames[first]);
        auto read = read_idx_set(images, plain_or_gz(folder, kIdxNames[first + 1]), classes);
        if (read.shape != shape)
            throw base::DataError(
                fmt::format("{} has images of {}, the model takes {}; use another set",
                            images.string(), text_of(read.shape), text_of(shape)),
                {"data"});
        return read;
    };
    if (test_images) return {set(0), set(2), folder.string()};
    auto labels = read_idx_labels(plain_or_gz(folder, kIdxNames[3]));
    return {set(0), {shape, classes, {}, std::move(labels)}, folder.string()};
}

SourceEntry idx_source(std::string name, std::string summary, ImagePlace place) {
    place.file = kIdxNames.front();
    return {.name = std::move(name),
            .summary = std::move(summary),
            .pixel_mean = {0.1307},
            .pixel_std = {0.3081},
            .open =
                [place](const DataRequest& request, comm::Communicator& control) {
                    return open_images(request, control, [&] {
                        return read_idx_folder(find_image_folder(place, request.directory),
                                               request.image_shape(), request.classes,
                                               request.evaluates);
                    });
                },
            .read_ahead =
                [place](const std::string& directory) {
                    const base::StopSignalsBlocked for_the_main_thread;
                    // Not in the thread: reads environment variables, which MPI may set meanwhile.
                    fs::path file;
                    try {
                        file = plain_or_gz(find_image_folder(place, directory), kIdxNames[0]);
                    } catch (const base::Error&) {
                        return;  // `open` will say why
                    }
                    read_ahead() = std::async(std::launch::async,
                                              [file] { return std::pair(file, images_in(file)); });
                }};
}

}  // namespace ranklab::data
