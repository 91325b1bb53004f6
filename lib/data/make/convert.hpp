// Volumes from npy files, as the original's convert_to_npy.py makes them ([D, H, W, C]), to HDF5
// datasets [C, D, H, W], and back; slab by slab, all ranks together.
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
    std::string dataset;     ///< its name, for one input; "": /Nbody for 4 channels, /Hydro for 5
    std::int64_t chunk = 0;  ///< edge of a chunk; 0: contiguous
    bool force = false;
};

struct Converted {
    std::string from;
    std::string to;                   ///< file or file:/dataset
    std::vector<std::int64_t> shape;  ///< of what was written
};

/// Collective; the same on all ranks. The datasets get the checksum that `verify` compares.
/// DataError for a faulty input, OptionError for inputs that do not make one file.
std::vector<Converted> npy_to_hdf5(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress);

/// Collective. /Nbody to <output>_data.npy and /Hydro to <output>_label.npy, float32, version 1.0.
std::vector<Converted> hdf5_to_npy(comm::Communicator& control, const ConvertSpec& spec,
                                   base::ProgressSink& progress);

}  // namespace ranklab::data
