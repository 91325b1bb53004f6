// Private to this room: reading for the errors alone, before the library copies what may be anybody's.
#pragma once

#include <string>
#include <vector>

#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

/// No link and no attribute is called so. To ask for it makes the library decode all that lie in the object's
/// own header, and fail with an error where one cannot be. Where it meets such a one while it lists them,
/// HDF5 1.10 gives back memory that it never asked for.
inline constexpr const char* kNobody = "(nobody)";

/// As contents_of reads, and with its errors: a member of any kind with all that is below it. Returns how
/// many datasets there are.
std::size_t look_over(const Group& from, const std::string& name);
void look_over_attribute(const Object& object, const std::string& name);

/// The member of that name, of any kind. DataError for a soft link.
Group member_of(const Group& group, const std::string& name);

std::vector<std::string> attributes_of(const Object& object);
/// For sentences.
std::string attribute_name(const Object& object, const std::string& name);

}  // namespace ranklab::hdf5
