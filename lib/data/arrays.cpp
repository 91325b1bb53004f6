#include "data/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::data {
namespace {

using OpenRows = std::function<hdf5::Rows(const std::string& name)>;

class Arrays final : public Source {
  public:
    /// Holds `count` samples from index `first` on. The last array holds the targets.
    Arrays(std::vector<hdf5::Rows> arrays, std::vector<Field> fields, std::int64_t first,
           std::int64_t count)
        : Source({base::packed({fields.begin(), fields.end() - 1}), fields.back()}, count),
          arrays_(std::move(arrays)),
          fields_(std::move(fields)),
          first_(first) {}

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = base::Clock::now();
        for (std::size_t i = 0; i + 1 < arrays_.size(); ++i) {
            arrays_[i].read(first_ + draw.index, fields_[i].element, input);
            input += 8 * fields_[i].words();
        }
        arrays_.back().read(first_ + draw.index, fields_.back().element, target);
        times.read += base::seconds_since(start);
    }

  private:
    std::vector<hdf5::Rows> arrays_;
    std::vector<Field> fields_;
    std::int64_t first_;
};

void check_array(const hdf5::Rows& array, const Field& wanted, const hdf5::Rows& first) {
    if (array.shape.empty() || array.shape[0] == 0)
        throw base::DataError(fmt::format(
            "{} holds no samples: its shape is {}; the first axis must count the samples",
            array.name, base::shape_text(array.shape)));
    const bool one_number =
        wanted.elements() == 1 && Field{wanted.element, array.sizes()}.elements() == 1;
    if (array.sizes() != wanted.sizes && !one_number)
        throw base::DataError(
            fmt::format("{} holds samples of shape {}, expected {}", array.name,
                        base::shape_text(array.sizes()), base::shape_text(wanted.sizes)),
            {"input-shape", "target-shape"});
    if (array.shape[0] != first.shape[0])
        throw base::DataError(
            fmt::format("{} holds {} samples, but {} holds {}; the files do not belong together",
                        array.name, array.shape[0], first.name, first.shape[0]));
    if (wanted.element == Element::i64 && array.type.starts_with("float"))
        throw base::DataError(fmt::format(
            "{} holds floating-point numbers; save classes and tokens as int64", array.name));
}

void check_classes(const hdf5::Rows& targets, const Field& field, base::Share part,
                   std::int64_t classes) {
    std::vector<std::int64_t> values(field.elements());
    for (std::int64_t i = part.first; i < part.end(); ++i) {
        targets.read(i, Element::i64, reinterpret_cast<std::byte*>(values.data()));
        for (const std::int64_t value : values)
            if (value < 0 || value >= classes)
                throw base::DataError(fmt::format("sample {} of {} has class {}, outside 0 to {}",
                                                  i, targets.name, value, classes - 1),
                                      {"classes"});
    }
}

DataSet open_here(const DataRequest& request, comm::Communicator& control, const OpenRows& open) {
    if (!request.is_own())
        throw base::OptionError("npy and HDF5 files need a network of your own; name its file",
                                {"model FILE.py"});
    if (request.input_files.size() != request.own_inputs.size() ||
        request.input_files.front().empty() || request.target_file.empty())
        throw base::OptionError(
            fmt::format("give one file per input ({}, comma-separated) and one target file",
                        request.own_inputs.size()),
            {"inputs", "targets"});
    std::vector<hdf5::Rows> arrays;
    for (const auto& name : request.input_files) arrays.push_back(open(name));
    arrays.push_back(open(request.target_file));
    auto fields = request.own_inputs;
    fields.push_back(request.own_target);
    for (std::size_t i = 0; i < arrays.size(); ++i)
        check_array(arrays[i], fields[i], arrays.front());
    if (request.own_target.element == Element::i64)
        check_classes(arrays.back(), request.own_target,
                      base::share_of(arrays.front().shape[0], control.rank(), control.world_size()),
                      request.classes);
    return split_arrays(
        request, control.world_size(), arrays, fields,
        fmt::format("{}, {}", fmt::join(request.input_files, ", "), request.target_file));
}

}  // namespace

DataSet split_arrays(const DataRequest& request, int ranks, const std::vector<hdf5::Rows>& arrays,
                     const std::vector<Field>& fields, const std::string& origin) {
    const std::int64_t samples = arrays.front().shape[0];
    std::int64_t train = request.train_samples, test = request.test_samples;
    if (test == 0 && request.evaluates) test = std::max<std::int64_t>(1, samples / 10);
    if (train == 0) train = samples - test;
    if (train < ranks || train + test > samples)
        throw base::OptionError(
            fmt::format("the files hold {} samples, too few for {} to train and {} to validate on "
                        "{} ranks",
                        samples, std::max<std::int64_t>(train, ranks), test, ranks),
            {"train-samples", "validation-samples", "evaluate off"});
    return {std::make_shared<Arrays>(arrays, fields, 0, train),
            std::make_shared<Arrays>(arrays, fields, samples - test, test), origin};
}

DataSet open_own(const DataRequest& request, comm::Communicator& control, const OpenRows& open) {
    return open_on_each(control, [&] { return open_here(request, control, open); });
}

DataSet open_on_each(comm::Communicator& control, const std::function<DataSet()>& open) {
    DataSet set;
    comm::all_or_throw(control, [&] { set = open(); });
    return set;
}

}  // namespace ranklab::data
