// Converts volumes between npy files [D, H, W, C] (as the tutorial's convert_to_npy.py makes them)
// and HDF5 datasets [C, D, H, W]; each rank converts its planes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

struct ConvertSpec {
    std::vector<std::filesystem::path> inputs;
    std::filesystem::path output;
    std::string dataset;     ///< for one input; "": /Nbody for 4 channels, /Hydro for 5
    std::int64_t chunk = 0;  ///< edge of a chunk; 0: contiguous
    bool force = false;
};

struct Converted {
    std::string from;
    std::string to;                   ///< file or file:/dataset
    std::vector<std::int64_t> shape;  ///< as written
};

/// Collective; the result is equal on all ranks. Stores the checksum that verify() compares. Throws
/// DataError for a faulty input, OptionError for inputs that do not fit into one file.
std::vector<Converted> npy_to_hdf5(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress);

/// Collective. Writes /Nbody to <output>_data.npy and /Hydro to <output>_label.npy, as float32.
std::vector<Converted> hdf5_to_npy(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress);

}  // namespace ranklab::data
