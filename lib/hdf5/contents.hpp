// A group as a whole: what it holds, compared or copied without knowing what it means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

struct Contents {
    std::string bytes;         ///< equal for groups that hold the same, whatever the order they were made in
    std::size_t datasets = 0;  ///< at any depth
    bool comparable = true;    ///< false where there are references or the like, whose bytes say nothing
};

/// Reads all attributes, groups and datasets below (which is also the proof that they can be read), but for
/// the group's own attribute of that name. Hdf5Error, DataError where something is damaged.
Contents contents_of(const Group& group, std::string_view except = "");

/// Copies the group `name` of `from` into `to` as `new_name`, losslessly, also what we know nothing of. It is
/// read as by contents_of before, with the same errors: what cannot be read is not copied either. What can be
/// read may still not be copied, since the library looks at more then. Returns how many datasets it holds.
std::size_t copy_group(const Group& from, const std::string& name, const Group& to,
                       const std::string& new_name);

/// Copies the attributes that `to` does not have.
void copy_attributes(const Object& from, const Object& to);

/// Copies what `to` does not have: attributes and members (the latter whole), but for the member `except`.
void copy_missing(const Group& from, const Group& to, const std::string& except);

}  // namespace ranklab::hdf5
