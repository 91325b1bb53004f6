// A user's own samples: arrays of npy or HDF5 files whose first axis is the sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace ranklab::data {

class SampleArray {
  public:
    virtual ~SampleArray() = default;
    const std::string& name() const { return name_; }                  ///< for messages
    const std::vector<std::int64_t>& shape() const { return shape_; }  ///< [samples, ...]
    std::int64_t sample_elements() const;
    const std::string& type() const { return type_; }  ///< NumPy's name, "float32"
    bool is_floating() const { return type_.starts_with("float"); }

    /// One sample, converted. Several threads at once. DataError where it cannot be read.
    virtual void read(std::int64_t index, std::span<float> values) const = 0;
    virtual void read(std::int64_t index, std::span<std::int64_t> values) const = 0;

  protected:
    SampleArray(std::string name, std::vector<std::int64_t> shape, std::string type);

  private:
    std::string name_;
    std::vector<std::int64_t> shape_;
    std::string type_;
};

using OpenArray = std::function<std::unique_ptr<SampleArray>(const std::string& name)>;

/// Of "X.npy": mapped on a local file system, read on any other. DataError for what is not as it
/// should be.
std::unique_ptr<SampleArray> open_npy_array(const std::string& name);
/// "FILE:/DATASET".
bool is_dataset_name(const std::string& name);
/// Of such a name: a contiguous dataset as above, any other through the library.
std::unique_ptr<SampleArray> open_hdf5_array(const std::string& name);

/// The request's files as samples: the last ones for validation. Collective, as SourceEntry::open.
DataSet open_arrays(const DataRequest& request, comm::Communicator& control, const OpenArray& open);

}  // namespace ranklab::data
