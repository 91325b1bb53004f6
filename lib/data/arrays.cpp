#include "data/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/npy.hpp"
#include "data/volume_field.hpp"
#include "hdf5/rows.hpp"

namespace ranklab::data {

SampleArray::SampleArray(std::string name, std::vector<std::int64_t> shape, std::string type)
    : name_(std::move(name)), shape_(std::move(shape)), type_(std::move(type)) {
    if (shape_.empty() || std::ranges::count(shape_, 0) > 0)
        throw base::DataError(
            fmt::format("{} holds no samples: its shape is {}, and the first axis is the sample",
                        name_, base::shape_text(shape_)));
}

std::int64_t SampleArray::sample_elements() const {
    return std::accumulate(shape_.begin() + 1, shape_.end(), std::int64_t{1}, std::multiplies<>());
}

namespace {

// Numbers that lie one behind the other in a file.
class PlainArray final : public SampleArray {
  public:
    PlainArray(std::string name, std::vector<std::int64_t> shape, const std::string& file,
               NpyType type, std::uint64_t first_byte)
        : SampleArray(std::move(name), std::move(shape), std::string(name_of(type))),
          bytes_(file, access_for(file)),
          type_(type),
          first_byte_(first_byte),
          sample_bytes_(static_cast<std::size_t>(sample_elements()) * bytes_of(type)) {
        bytes_.at(first_byte_ + (this->shape()[0] - 1) * sample_bytes_, sample_bytes_);
    }

    void read(std::int64_t index, std::span<float> values) const override {
        convert_numbers(type_, sample(index), values);
    }
    void read(std::int64_t index, std::span<std::int64_t> values) const override {
        convert_numbers(type_, sample(index), values);
    }

  private:
    const std::byte* sample(std::int64_t index) const {
        return bytes_.at(first_byte_ + static_cast<std::uint64_t>(index) * sample_bytes_,
                         sample_bytes_);
    }

    FileBytes bytes_;
    NpyType type_;
    std::uint64_t first_byte_;
    std::size_t sample_bytes_;
};

class Hdf5Array final : public SampleArray {
  public:
    Hdf5Array(std::string name, hdf5::Rows rows)
        : SampleArray(std::move(name), rows.shape(), rows.type()), rows_(std::move(rows)) {}

    void read(std::int64_t index, std::span<float> values) const override {
        rows_.read(index, values);
    }
    void read(std::int64_t index, std::span<std::int64_t> values) const override {
        rows_.read(index, values);
    }

  private:
    hdf5::Rows rows_;
};

std::vector<std::int64_t> behind_first(const std::vector<std::int64_t>& shape) {
    return {shape.begin() + 1, shape.end()};
}

class Arrays final : public Source {
  public:
    using Files = std::vector<std::shared_ptr<const SampleArray>>;

    /// Samples from `first` on; the last array is of the targets.
    Arrays(Files files, std::vector<Field> fields, std::int64_t first, std::int64_t count)
        : files_(std::move(files)), fields_(std::move(fields)), first_(first), count_(count) {
        layout_ = {base::packed({fields_.begin(), fields_.end() - 1}), fields_.back()};
    }

    const SampleLayout& layout() const override { return layout_; }
    std::int64_t size() const override { return count_; }

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = base::Clock::now();
        for (std::size_t i = 0; i + 1 < files_.size(); ++i) {
            read_field(i, draw.index, input);
            input += 8 * fields_[i].words();
        }
        read_field(files_.size() - 1, draw.index, target);
        times.read += base::seconds_since(start);
    }

  private:
    void read_field(std::size_t i, std::int64_t index, std::byte* to) const {
        const std::size_t count = fields_[i].elements();
        if (fields_[i].element == Element::i64)
            files_[i]->read(first_ + index, std::span(reinterpret_cast<std::int64_t*>(to), count));
        else
            files_[i]->read(first_ + index, std::span(reinterpret_cast<float*>(to), count));
    }

    Files files_;
    std::vector<Field> fields_;
    std::int64_t first_, count_;
    SampleLayout layout_;
};

void check_array(const SampleArray& array, const Field& wanted, std::int64_t samples,
                 const char* setting) {
    if (behind_first(array.shape()) != wanted.sizes)
        throw base::DataError(
            fmt::format("{} holds samples of {}, and {} are expected", array.name(),
                        base::shape_text(behind_first(array.shape())),
                        base::shape_text(wanted.sizes)),
            {setting});
    if (array.shape()[0] != samples)
        throw base::DataError(fmt::format("{} holds {} samples, and the first input {}",
                                          array.name(), array.shape()[0], samples));
    if (wanted.element == Element::i64 && array.is_floating())
        throw base::DataError(
            fmt::format("{} holds floating-point numbers, and classes and tokens are integers; "
                        "save them as int64",
                        array.name()));
}

void check_classes(const SampleArray& targets, base::Share part, std::int64_t classes) {
    std::vector<std::int64_t> values(targets.sample_elements());
    for (std::int64_t i = part.first; i < part.end(); ++i) {
        targets.read(i, values);
        for (const std::int64_t value : values)
            if (value < 0 || value >= classes)
                throw base::DataError(
                    fmt::format("sample {} of {} is of class {}, and classes are 0 to {}", i,
                                targets.name(), value, classes - 1),
                    {"classes"});
    }
}

struct Split {
    std::int64_t train, test;
};

// The last tenth validates where nothing else is asked for.
Split split_of(const DataRequest& request, std::int64_t samples, std::int64_t ranks) {
    Split split{request.train_samples, request.test_samples};
    if (split.test == 0 && request.evaluates) split.test = std::max<std::int64_t>(1, samples / 10);
    if (split.train == 0) split.train = samples - split.test;
    if (split.train >= ranks && split.train + split.test <= samples) return split;
    throw base::OptionError(
        fmt::format("the files hold {} samples, too few for {} of training and {} of validation on "
                    "{} ranks",
                    samples, std::max(split.train, ranks), split.test, ranks),
        {"train-samples", "validation-samples", "evaluate off"});
}

DataSet open_here(const DataRequest& request, comm::Communicator& control, const OpenArray& open) {
    if (request.input_files.size() != request.own_inputs.size() || request.target_file.empty())
        throw base::OptionError(
            fmt::format("your own data are {} files of inputs, with commas, and one of targets",
                        request.own_inputs.size()),
            {"inputs", "targets"});
    Arrays::Files files;
    auto fields = request.own_inputs;
    for (const auto& name : request.input_files) files.push_back(open(name));
    files.push_back(open(request.target_file));
    fields.push_back(request.own_target);
    const std::int64_t samples = files.front()->shape()[0];
    for (std::size_t i = 0; i < files.size(); ++i)
        check_array(*files[i], fields[i], samples,
                    i + 1 < files.size()               ? "input-shape"
                    : request.own_target.sizes.empty() ? "classes"
                                                       : "target-shape");
    if (request.own_target.element == Element::i64)
        check_classes(*files.back(), base::share_of(samples, control.rank(), control.world_size()),
                      request.classes);
    const auto split = split_of(request, samples, control.world_size());
    return {std::make_shared<Arrays>(files, fields, 0, split.train),
            std::make_shared<Arrays>(files, fields, samples - split.test, split.test),
            fmt::format("{}, {}", fmt::join(request.input_files, ", "), request.target_file)};
}

}  // namespace

std::unique_ptr<SampleArray> open_npy_array(const std::string& name) {
    const auto header = NpyFile(name).header();
    return std::make_unique<PlainArray>(name, header.shape, name, header.type, header.data_offset);
}

bool is_dataset_name(const std::string& name) {
    return name.rfind(":/") != std::string::npos;
}

std::unique_ptr<SampleArray> open_hdf5_array(const std::string& name) {
    const auto colon = name.rfind(":/");
    if (!is_dataset_name(name))
        throw base::OptionError(
            fmt::format("{} does not name a dataset; write FILE:/DATASET", name));
    const std::string file = name.substr(0, colon);
    base::refuse_irregular<base::DataError>(file);
    if (!hdf5::is_hdf5(file))
        throw base::DataError(fmt::format("{} is not an HDF5 file; check the name", file));
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::Rows rows(file, name.substr(colon + 1));
    const auto type = npy_type(rows.descr());
    if (!type || !rows.contiguous_at()) return std::make_unique<Hdf5Array>(name, std::move(rows));
    return std::make_unique<PlainArray>(name, rows.shape(), file, *type, *rows.contiguous_at());
}

// Each rank opens the files, and a rank whose file system lacks them is named.
DataSet open_arrays(const DataRequest& request, comm::Communicator& control,
                    const OpenArray& open) {
    DataSet set;
    comm::together(control, [&] {
        if (!request.is_own())
            throw base::OptionError(
                "files of your own are for your own network; use --model FILE.pt", {"data"});
        try {
            set = open_here(request, control, open);
        } catch (const base::Hdf5Error& error) {
            throw base::DataError(
                fmt::format("the HDF5 file is damaged or has no such dataset ({})", error.what()),
                {"inputs", "targets"});
        }
    });
    return set;
}

}  // namespace ranklab::data
