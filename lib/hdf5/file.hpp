// HDF5 files on a POSIX file system. HDF5's file locks are off: a results file is never changed in
// place, other files have one owner.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

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
