// Private to this room: texts of variable length out of attributes and datasets of anybody's file.
#pragma once

#include <string>
#include <vector>

#include "hdf5/check.hpp"

namespace ranklab::hdf5 {

bool is_variable_text(hid_t type);

/// All `entries` texts of an attribute or dataset of such a type. Each ends at its first NUL.
std::vector<std::string> attribute_texts(hid_t attribute, hid_t type, hsize_t entries,
                                         const std::string& what);
std::vector<std::string> dataset_texts(hid_t dataset, hid_t type, hsize_t entries, const std::string& what);

}  // namespace ranklab::hdf5
