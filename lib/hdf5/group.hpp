// Groups: named members in the order they were made.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hdf5/object.hpp"

namespace ranklab::hdf5 {

class Group : public Object {
  public:
    using Object::Object;

    /// `members` is how many links and attributes are expected (up to 60 are kept in the group's own
    /// header, which is the compact form); more may come.
    Group create_group(const std::string& name, std::size_t members) const;
    /// A group for any number of members.
    Group create_large_group(const std::string& name) const;
    Group open_group(const std::string& name) const;

    /// Of a member, there or not: "/runs/x".
    std::string path_of(const std::string& name) const;
    bool has(const std::string& name) const;
    /// Names in the order they were made (by name in a file that does not track that).
    std::vector<std::string> members() const;
    /// Copies a member with all that is below it, losslessly, also what we know nothing of.
    void copy_member(const std::string& name, const Group& to, const std::string& new_name) const;
};

/// The dataset itself, for its attributes. DataError where the name is another object's.
Object open_dataset(const Group& group, const std::string& name);

}  // namespace ranklab::hdf5
