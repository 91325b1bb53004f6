// HDF5 files on a POSIX file system, and their objects with attributes. HDF5's file locks are off:
// a results file is never changed in place, other files have one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::hdf5 {

/// Closes an object of any kind; logs a failure.
void close_id(std::int64_t id) noexcept;
using Id = base::unique_handle<std::int64_t, -1, close_id>;

/// The HDF5 library is not thread-safe: threads hold this mutex while they call it, such as a
/// loader's workers that read volumes, and the thread that stores a checkpoint or a run.
inline std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

/// An HDF5 object with scalar attributes. set_* creates one, and throws Hdf5Error if it exists.
/// *_attribute reads one; throws Hdf5Error if it is missing, DataError if it has another type or
/// not exactly one value.
class Object {
  public:
    Object(Id id, std::string path) : id_(std::move(id)), path_(std::move(path)) {}

    std::int64_t id() const { return id_.get(); }
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

class Group : public Object {
  public:
    using Object::Object;

    /// `members` is the expected number of links and attributes; up to 60 lie in the group's
    /// header. More are allowed.
    Group create_group(const std::string& name, std::size_t members = 0) const;
    Group open_group(const std::string& name) const;

    /// The path of a member, "/runs/x"; it need not exist.
    std::string path_of(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Names in order of creation; sorted by name if the file does not track creation.
    std::vector<std::string> members() const;
    /// Copies a member and everything below it, including objects that ranklab does not know, and
    /// objects to which its references lead.
    void copy_member(const std::string& name, const Group& to) const;
};

/// `title` names the dataset in messages; otherwise its path does.
Object open_dataset(const Group& group, const std::string& name, const std::string& title = {});

/// Whether the file has HDF5's signature; false if it does not exist or is not regular. Throws
/// EnvironmentError if it cannot be read.
bool is_hdf5(const std::filesystem::path& path);

/// The library's version, "1.10.8".
std::string library_version();

class File {
  public:
    static File open_to_read(const std::filesystem::path& path);
    static File open_to_change(const std::filesystem::path& path);
    /// Replaces an existing file. Uses a format that HDF5 1.8 and newer read.
    static File create(const std::filesystem::path& path);

    /// A file in memory. The caller writes the bytes of image() to disk, since HDF5 1.10 crashes
    /// after a failed write.
    static File create_in_memory();
    std::vector<std::byte> image() const;

    Group root() const;

    /// Flushes, and closes the file with all its open objects. Writers call it, since the
    /// destructor can only log a failure.
    void close();

    File(File&&) = default;
    File& operator=(File&&) = default;
    ~File();

  private:
    File(Id id, std::string path, bool changes = false);

    Id id_;
    std::string path_;
    bool changes_;
};

}  // namespace ranklab::hdf5
