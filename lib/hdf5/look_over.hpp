// Private to this room: reading for the errors alone, before the library copies what may be anybody's.
#pragma once

#include <string>
#include <vector>

#include "hdf5/group.hpp"

namespace ranklab::hdf5 {

/// As contents_of reads, and with its errors: a member of any kind with all that is below it.
void look_over(const Group& from, const std::string& name);
void look_over_attribute(const Object& object, const std::string& name);

/// The member of that name, of any kind. DataError for a soft link.
Group member_of(const Group& group, const std::string& name);

std::vector<std::string> attributes_of(const Object& object);

}  // namespace ranklab::hdf5
