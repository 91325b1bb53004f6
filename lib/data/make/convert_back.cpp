// From an HDF5 file of volumes to npy files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/npy_header.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/convert.hpp"
#include "data/make/output_file.hpp"
#include "data/make/slab_writer.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

struct Exported {
    VolumeWanted wanted;
    const char* suffix;
    hdf5::VolumeShape shape{};
};

// The checks of `data verify`, but for the cube: npy volumes of any extents are taken, and given back.
void check_sources(const fs::path& path, std::span<Exported> sources) {
    const auto file = open_volume_file(path);
    std::vector<hdf5::Volume> volumes;
    for (auto& source : sources) {
        volumes.push_back(open_volume(path, file, source.wanted, false));
        const auto& shape = volumes.back().place().shape;
        std::copy(shape.begin(), shape.end(), source.shape.begin());
    }
    check_extents(path, volumes.front(), volumes.back());
}

std::vector<std::int64_t> npy_shape(const hdf5::VolumeShape& s) {
    return {s[1], s[2], s[3], s[0]};
}

// One dataset into an npy file, all of whose values are looked at on the way.
class Export {
  public:
    Export(comm::Communicator& control, const fs::path& path, const Exported& source, OutputFile& out)
        : control_(control),
          path_(path),
          source_(source),
          out_(out),
          header_(base::npy_header("<f4", npy_shape(source.shape))) {
        comm::together(control_, [&] {
            file_.emplace(open_volume_file(path_));
            volume_.emplace(open_volume(path_, *file_, source_.wanted, false));
            stored_ = stored_sum(*volume_);
            if (control_.rank() == 0) out_.write(0, std::as_bytes(std::span(header_)));
        });
    }

    void copy(base::ProgressSink& progress) {
        for_each_piece(control_, source_.shape, progress, [&](base::Share planes) {
            comm::together(control_, [&] {
                if (planes.count > 0) copy_planes(planes);
            });
        });
        found_.gather(control_);
        comm::together(control_, [&] {
            judge(fmt::format("{}:/{}", path_.string(), source_.wanted.name), found_,
                  {source_.shape.begin(), source_.shape.end()}, stored_);
        });
    }

  private:
    void copy_planes(base::Share planes) {
        const auto& [channels, depth, height, width] = source_.shape;
        const std::int64_t part = planes.count * height * width;
        read_.resize(channels * part);
        turned_.resize(read_.size());
        volume_->read(
            {.first_channel = 0, .channels = channels, .first_plane = planes.first, .planes = planes.count},
            read_);
        for (std::int64_t c = 0; c < channels; ++c)
            found_.add((c * depth + planes.first) * height * width, std::span(read_).subspan(c * part, part));
        transpose(read_, part, turned_);
        out_.write(header_.size() + static_cast<std::uint64_t>(planes.first * height * width * channels) * 4,
                   std::as_bytes(std::span(turned_)));
    }

    comm::Communicator& control_;
    const fs::path& path_;
    const Exported& source_;
    OutputFile& out_;
    std::string header_;
    std::optional<hdf5::File> file_;
    std::optional<hdf5::Volume> volume_;
    std::optional<std::uint64_t> stored_;
    VolumeScan found_;
    std::vector<float> read_;
    std::vector<float> turned_;
};

}  // namespace

std::vector<Converted> hdf5_to_npy(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress) {
    const fs::path& input = spec.inputs.front();
    std::array sources{Exported{kVolumesWanted[0], "_data.npy"}, Exported{kVolumesWanted[1], "_label.npy"}};
    const std::lock_guard lock(hdf5::library_mutex());
    comm::together(control, [&] { check_sources(input, sources); });
    std::vector<Converted> report;
    std::vector<std::unique_ptr<OutputFile>> outputs;
    for (const auto& source : sources) {
        const auto shape = npy_shape(source.shape);
        const std::string target = spec.output.string() + source.suffix;
        std::uint64_t bytes = 4;
        for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
        outputs.push_back(std::make_unique<OutputFile>(control, target, spec.force, bytes));
        Export(control, input, source, *outputs.back()).copy(progress);
        report.push_back({fmt::format("{}:/{}", input.string(), source.wanted.name), target, shape});
    }
    for (const auto& output : outputs) output->commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
