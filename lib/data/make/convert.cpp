#include "data/make/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>

#include "base/element.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/make/output_file.hpp"
#include "data/make/pieces.hpp"
#include "data/sources/npy.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

std::string line_of(const std::string& from, const std::string& to, const VolumeShape& written) {
    return fmt::format("{} -> {} {}\n", from, to, base::shape_text(written));
}

struct Input {
    fs::path path;
    std::string dataset;
    VolumeShape shape{};  // [C, D, H, W]
};

std::string name_for(const hdf5::Rows& npy, const ConvertSpec& spec) {
    if (spec.dataset) return *spec.dataset;
    const std::int64_t channels = npy.shape.back();
    if (channels == 4) return kVolumeNames[0];
    if (channels == 5) return kVolumeNames[1];
    throw base::DataError(
        fmt::format("{} has {} channels, but only 4 (/Nbody) and 5 (/Hydro) imply a dataset; name "
                    "the dataset",
                    npy.name, channels),
        {"dataset"});
}

Input examine(const fs::path& path, const ConvertSpec& spec) {
    const auto npy = open_npy_rows(path.string());
    const auto& s = npy.shape;
    if (s.size() != 4 || std::ranges::count(s, 0) > 0)
        throw base::DataError(
            fmt::format("{} has the shape {}, not [D, H, W, C]", npy.name, base::shape_text(s)));
    return {path, name_for(npy, spec), {s[3], s[0], s[1], s[2]}};
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
                                                    "by one and name the dataset",
                                                    input.dataset),
                                        {"dataset"});
            const auto& first = inputs.front().shape;
            if (!std::equal(first.begin() + 1, first.end(), input.shape.begin() + 1))
                throw base::DataError(fmt::format(
                    "{} and {} have different extents, [{}] and [{}]; they do not belong together",
                    inputs.front().path.string(), path.string(),
                    fmt::join(first.begin() + 1, first.end(), ", "),
                    fmt::join(input.shape.begin() + 1, input.shape.end(), ", ")));
        }
    });
    return inputs;
}

// [rows][columns] becomes [columns][rows].
void transpose(std::span<const float> from, std::int64_t columns, std::vector<float>& to) {
    const std::int64_t rows = columns == 0 ? 0 : std::ssize(from) / columns;
    to.resize(from.size());
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < rows; ++r) to[c * rows + r] = from[r * columns + c];
}

// Copies an input to its dataset. Returns the dataset's checksum.
std::uint64_t copy_into(comm::Communicator& control, const Input& input, hdf5::DatasetFile& file,
                        base::ProgressSink& progress) {
    hdf5::Rows npy;
    comm::all_or_throw(control,
                       [&] { npy = open_npy_rows(input.path.string(), ByteAccess::read); });
    const std::int64_t channels = input.shape[0];
    const std::int64_t plane = channels * input.shape[2] * input.shape[3];
    const auto dataset = file.open(input.dataset);
    std::vector<float> values, turned;
    ValueScan read, written;
    for_each_piece(control, input.shape, progress, [&](base::Share planes) {
        values.resize(planes.count * plane);
        comm::all_or_throw(control, [&] {
            for (std::int64_t i = 0; i < planes.count; ++i)
                npy.read(planes.first + i, base::Element::f32,
                         reinterpret_cast<std::byte*>(&values[i * plane]));
        });
        read.add(planes.first * plane, values);
        transpose(values, channels, turned);
        write_all(control, file, dataset, part_of(input.shape, planes), turned);
        written.add_planes(input.shape, planes, turned);
    });
    read.gather(control);
    written.gather(control);
    comm::all_or_throw(control, [&] { read.judge(npy.name, npy.shape, std::nullopt); });
    return written.sum;
}

}  // namespace

std::string npy_to_hdf5(comm::Communicator& control, const ConvertSpec& spec,
                        base::ProgressSink& progress) {
    const auto inputs = examine_all(control, spec);
    std::uint64_t bytes = kHeaderBytes;
    for (const auto& [path, dataset, s] : inputs) bytes += 4 * s[0] * s[1] * s[2] * s[3];
    OutputFile output(control, spec.output, spec.force, bytes);
    hdf5::DatasetFile file(output.path(), volume_file(control));
    for (const auto& input : inputs) make_volume(file, input.dataset, input.shape, spec.chunk);
    file.flush();
    comm::on_root(control, [&] { output.reserve(kHeaderBytes); });
    std::vector<std::uint64_t> sums;
    std::string report;
    for (const auto& input : inputs) {
        sums.push_back(copy_into(control, input, file, progress));
        report += line_of(input.path.string(), fmt::format("{}:/{}", spec.output, input.dataset),
                          input.shape);
    }
    file.close();
    comm::on_root(control, [&] {
        auto whole = hdf5::File::open_to_change(output.path());
        for (std::size_t i = 0; i < inputs.size(); ++i)
            hdf5::open_dataset(whole.root(), inputs[i].dataset)
                .set_int("checksum_sum64", std::bit_cast<std::int64_t>(sums[i]));
        whole.close();
    });
    output.commit();
    progress.finish();
    return report;
}

namespace {

// Writes the values as [D, H, W, C], and checks each value.
void copy_out(comm::Communicator& control, const Volume& volume, OutputFile& out,
              base::ProgressSink& progress) {
    const auto shape = volume.shape();
    const auto& [channels, depth, height, width] = shape;
    const std::string header = base::npy_header("<f4", {depth, height, width, channels});
    comm::on_root(control, [&] { out.write(0, std::as_bytes(std::span(header))); });
    const std::int64_t plane = height * width;
    std::vector<float> turned;
    check_planes(control, volume, progress, [&](base::Share planes, std::span<const float> values) {
        transpose(values, planes.count * plane, turned);
        const std::uint64_t place = planes.first * plane * channels * 4;
        out.write(header.size() + place, std::as_bytes(std::span(turned)));
    });
}

}  // namespace

std::string hdf5_to_npy(comm::Communicator& control, const ConvertSpec& spec,
                        base::ProgressSink& progress) {
    const fs::path& input = spec.inputs.front();
    const std::lock_guard lock(hdf5::library_mutex());
    std::optional<VolumePair> pair;
    comm::all_or_throw(control, [&] { pair = open_volumes(input, false); });
    std::string report;
    std::vector<std::unique_ptr<OutputFile>> outputs;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto [channels, depth, height, width] = pair->volumes[i].shape();
        const std::string target = spec.output + (i == 0 ? "_data.npy" : "_label.npy");
        const std::uint64_t bytes = 4 * channels * depth * height * width;
        outputs.push_back(std::make_unique<OutputFile>(control, target, spec.force, bytes));
        copy_out(control, pair->volumes[i], *outputs.back(), progress);
        report += line_of(fmt::format("{}:/{}", input.string(), kVolumeNames[i]), target,
                          {depth, height, width, channels});
    }
    for (const auto& output : outputs) output->commit();
    progress.finish();
    return report;
}

}  // namespace ranklab::data
