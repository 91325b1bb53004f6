// Objects of a file with their attributes, and boxes of datasets.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::hdf5 {

struct IdTraits {
    using type = std::int64_t;
    static constexpr type empty = -1;
    /// Closes an object of any kind; logs a failure.
    static void close(type id) noexcept;
};
using Id = base::unique_handle<IdTraits>;

/// The HDF5 library is not thread-safe: threads hold this mutex while they call it, such as a
/// loader's workers that read volumes, and the thread that stores a checkpoint or a run.
inline std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

/// An HDF5 object with scalar attributes. set_* creates one, and throws Hdf5Error if it exists.
/// *_attribute reads one; throws Hdf5Error if it is missing, DataError if it has another type or an
/// implausible size.
class Object {
  public:
    Object(Id id, std::string path) : id_(std::move(id)), path_(std::move(path)) {}

    Id::type id() const { return id_.get(); }
    const std::string& path() const { return path_; }  ///< names the object in messages

    bool has_attribute(const std::string& name) const;
    void set_int(const std::string& name, std::int64_t value) const;
    void set_double(const std::string& name, double value) const;
    /// UTF-8 of any length, stored with variable length. A NUL ends the text.
    void set_text(const std::string& name, const std::string& value) const;

    std::int64_t int_attribute(const std::string& name) const;
    double double_attribute(const std::string& name) const;
    std::string text_attribute(const std::string& name) const;

  private:
    Id id_;
    std::string path_;
};

/// A box of a dataset, one start and count per dimension; empty if a count is 0.
struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

}  // namespace ranklab::hdf5
