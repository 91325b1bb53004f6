// HDF5 files on a POSIX file system. HDF5's own file locks are off: our files are never changed in
// place (results/) or have one owner.
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

    /// `members` is the expected number of links and attributes (up to 60 are kept in the group's
    /// own header, which is the compact form); more may come.
    Group create_group(const std::string& name, std::size_t members) const;
    /// A group for any number of members.
    Group create_large_group(const std::string& name) const;
    Group open_group(const std::string& name) const;

    /// The path of a member, existing or not: "/runs/x".
    std::string path_of(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Names in the order they were made (by name in a file that does not track that).
    std::vector<std::string> members() const;
    /// Copies a member with all that is below it, losslessly, also what we know nothing of.
    void copy_member(const std::string& name, const Group& to, const std::string& new_name) const;
};

/// The dataset itself, for its attributes. DataError where the name is another object's.
Object open_dataset(const Group& group, const std::string& name);

/// Whether the file begins as an HDF5 file does. False where it cannot be read or is not a regular
/// file.
bool is_hdf5(const std::filesystem::path& path);
/// OptionError where the path of a text names an HDF5 file: a mistyped name would destroy its
/// contents. `setting` names the option.
void refuse_hdf5_target(const std::filesystem::path& path, const std::string& setting);

/// The library's version, "1.10.8".
std::string library_version();

class File {
  public:
    static File open_to_read(const std::filesystem::path& path);
    static File open_to_change(const std::filesystem::path& path);
    /// Replaces what is there. Written in a form that HDF5 1.8 and newer read.
    static File create(const std::filesystem::path& path);

    /// A file in memory alone; image() has its bytes, for a caller that writes them itself:
    /// HDF5 1.10 does not survive a write that fails.
    static File create_in_memory();
    std::vector<std::byte> image() const;

    Group root() const;

    /// Writes what is pending and closes; objects still open are closed too. The destructor does
    /// the same but can only log a failure, so writers call this.
    void close();

  private:
    File(Id id, std::string path);

    Id id_;
    std::string path_;
};

}  // namespace ranklab::hdf5
