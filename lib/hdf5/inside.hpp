// Private to this room: the one way to what lies in a file. Files may be anybody's, and the library would
// follow them out: by links into other files (a FIFO among them, on which it waits), by datasets whose
// numbers lie elsewhere, and to filters that are loaded as programs.
#pragma once

#include <string>

#include "hdf5/check.hpp"

namespace ranklab::hdf5 {

/// Opens the object of that name (or path). DataError where that leads into another file, or where it is a
/// dataset whose numbers are not here or not to be had by deflate, shuffle and fletcher32 alone. `access` is
/// for a dataset.
Id open_inside(hid_t group, const std::string& name, const std::string& what, hid_t access = H5P_DEFAULT);
/// The same, known to be of that kind; Hdf5Error where it is another.
Id open_group_inside(hid_t group, const std::string& name, const std::string& what);
Id open_dataset_inside(hid_t group, const std::string& name, const std::string& what,
                       hid_t access = H5P_DEFAULT);

}  // namespace ranklab::hdf5
