#include "data/make/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <span>

#include "base/error.hpp"
#include "base/npy_header.hpp"
#include "comm/exchange.hpp"
#include "comm/point_to_point.hpp"
#include "data/arrays.hpp"
#include "data/formats/npy.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/output_file.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHeaderBytes = 1U << 20U;

struct Input {
    fs::path path;
    std::string dataset;
    hdf5::VolumeShape shape{};  // [C, D, H, W]
};

std::string name_for(const NpyHeader& header, const fs::path& path, const ConvertSpec& spec) {
    if (!spec.dataset.empty()) return spec.dataset;
    const std::int64_t channels = header.shape.back();
    if (channels == 4) return "Nbody";
    if (channels == 5) return "Hydro";
    throw base::DataError(
        fmt::format(
            "{} has {} channels, where [D, H, W, 4] becomes /Nbody and [D, H, W, 5] /Hydro; name "
            "another dataset",
            path.string(), channels),
        {"dataset"});
}

Input examine(const fs::path& path, const ConvertSpec& spec) {
    const NpyHeader header = read_npy_header(path);
    if (header.shape.size() != 4 || header.values() == 0)
        throw base::DataError(fmt::format("{} has the shape [{}], not [D, H, W, C]", path.string(),
                                          fmt::join(header.shape, ", ")));
    const auto& s = header.shape;
    return {path, name_for(header, path, spec), {s[3], s[0], s[1], s[2]}};
}

std::vector<Input> examine_all(comm::Communicator& control, const ConvertSpec& spec) {
    std::vector<Input> inputs;
    comm::all_or_throw(control, [&] {
        std::set<std::string> names;
        for (const auto& path : spec.inputs) {
            inputs.push_back(examine(path, spec));
            const Input& input = inputs.back();
            if (!names.insert(input.dataset).second)
                throw base::OptionError(fmt::format("two inputs would become /{}; convert them one "
                                                    "by one, and name the dataset",
                                                    input.dataset),
                                        {"dataset"});
            const auto& first = inputs.front().shape;
            if (!std::equal(first.begin() + 1, first.end(), input.shape.begin() + 1))
                throw base::DataError(fmt::format(
                    "{} and {} have different extents [{}] and [{}]; they do not belong together",
                    inputs.front().path.string(), path.string(),
                    fmt::join(first.begin() + 1, first.end(), ", "),
                    fmt::join(input.shape.begin() + 1, input.shape.end(), ", ")));
        }
    });
    return inputs;
}

std::uint64_t copy_into(comm::Communicator& control, const Input& input, hdf5::VolumeWriter& file,
                        base::ProgressSink& progress) {
    hdf5::Rows npy;
    comm::all_or_throw(control, [&] { npy = open_npy_rows(input.path.string()); });
    SlabWriter out(control, file, input.dataset, input.shape);
    const std::int64_t channels = input.shape[0];
    const std::int64_t plane = channels * input.shape[2] * input.shape[3];
    std::vector<float> read;
    std::vector<float> turned;
    VolumeScan found;
    for_each_piece(control, input.shape, progress, [&](base::Share planes) {
        read.resize(planes.count * plane);
        turned.resize(read.size());
        comm::all_or_throw(control, [&] {
            for (std::int64_t i = 0; i < planes.count; ++i)
                npy.read(planes.first + i, base::Element::f32,
                         reinterpret_cast<std::byte*>(&read[i * plane]));
        });
        found.add(planes.first * plane, read);
        transpose(read, channels, turned);
        out.write(0, channels, planes, turned);
    });
    found.gather(control);
    comm::all_or_throw(control, [&] { judge(npy.name, found, npy.shape, std::nullopt); });
    return out.checksum();
}

void store_checksums(const fs::path& path, const std::vector<Input>& inputs,
                     const std::vector<std::uint64_t>& sums) {
    auto file = hdf5::File::open_to_change(path);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        hdf5::open_dataset(file.root(), inputs[i].dataset)
            .set_int("checksum_sum64", std::bit_cast<std::int64_t>(sums[i]));
    file.close();
}

}  // namespace

std::vector<Converted> npy_to_hdf5(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress) {
    const auto inputs = examine_all(control, spec);
    std::uint64_t bytes = kHeaderBytes;
    for (const auto& [path, dataset, s] : inputs)
        bytes +=
            4 * static_cast<std::uint64_t>(s[0]) * static_cast<std::uint64_t>(s[1] * s[2] * s[3]);
    OutputFile output(control, spec.output, spec.force, bytes);
    hdf5::VolumeWriter file(output.path(), comm::native_mpi(control));
    for (const auto& input : inputs) file.make(input.dataset, input.shape, spec.chunk);
    file.flush();
    comm::all_or_throw(control, [&] {
        if (control.rank() == 0) output.reserve(kHeaderBytes);
    });
    std::vector<std::uint64_t> sums;
    std::vector<Converted> report;
    for (const auto& input : inputs) {
        sums.push_back(copy_into(control, input, file, progress));
        report.push_back({input.path.string(),
                          fmt::format("{}:/{}", spec.output.string(), input.dataset),
                          {input.shape.begin(), input.shape.end()}});
    }
    file.close();
    comm::all_or_throw(control, [&] {
        if (control.rank() == 0) store_checksums(output.path(), inputs, sums);
    });
    output.commit();
    progress.finish();
    return report;
}

namespace {

namespace fs = std::filesystem;

struct Exported {
    VolumeWanted wanted;
    const char* suffix;
    hdf5::VolumeShape shape{};
};

// Makes the checks of `data verify` except that for a cube: npy volumes of any extents are
// converted both ways.
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
    Export(comm::Communicator& control, const fs::path& path, const Exported& source,
           OutputFile& out)
        : control_(control),
          path_(path),
          source_(source),
          out_(out),
          header_(base::npy_header("<f4", npy_shape(source.shape))) {
        comm::all_or_throw(control_, [&] {
            file_.emplace(open_volume_file(path_));
            volume_.emplace(open_volume(path_, *file_, source_.wanted, false));
            stored_ = stored_sum(*volume_);
            if (control_.rank() == 0) out_.write(0, std::as_bytes(std::span(header_)));
        });
    }

    void copy(base::ProgressSink& progress) {
        for_each_piece(control_, source_.shape, progress, [&](base::Share planes) {
            comm::all_or_throw(control_, [&] {
                if (planes.count > 0) copy_planes(planes);
            });
        });
        found_.gather(control_);
        comm::all_or_throw(control_, [&] {
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
        volume_->read({.first_channel = 0,
                       .channels = channels,
                       .first_plane = planes.first,
                       .planes = planes.count},
                      read_);
        for (std::int64_t c = 0; c < channels; ++c)
            found_.add((c * depth + planes.first) * height * width,
                       std::span(read_).subspan(c * part, part));
        transpose(read_, part, turned_);
        out_.write(header_.size() +
                       static_cast<std::uint64_t>(planes.first * height * width * channels) * 4,
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
    std::array sources{Exported{kVolumesWanted[0], "_data.npy"},
                       Exported{kVolumesWanted[1], "_label.npy"}};
    const std::lock_guard lock(hdf5::library_mutex());
    comm::all_or_throw(control, [&] { check_sources(input, sources); });
    std::vector<Converted> report;
    std::vector<std::unique_ptr<OutputFile>> outputs;
    for (const auto& source : sources) {
        const auto shape = npy_shape(source.shape);
        const std::string target = spec.output.string() + source.suffix;
        std::uint64_t bytes = 4;
        for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
        outputs.push_back(std::make_unique<OutputFile>(control, target, spec.force, bytes));
        Export(control, input, source, *outputs.back()).copy(progress);
        report.push_back(
            {fmt::format("{}:/{}", input.string(), source.wanted.name), target, shape});
    }
    for (const auto& output : outputs) output->commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
