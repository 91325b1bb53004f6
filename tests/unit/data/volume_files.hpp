// Small volume files in every layout, each number telling its place.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/handle.hpp"
#include "hdf5/file.hpp"

namespace ranklab::testing {

/// The number at (c, x, y, z) of a dataset of that edge; exact in float32 below 2^24.
inline float place_number(bool hydro, std::int64_t c, std::int64_t x, std::int64_t y,
                          std::int64_t z, std::int64_t edge) {
    const auto n = static_cast<float>(((c * edge + x) * edge + y) * edge + z + 1);
    return hydro ? -n : n;
}

inline std::vector<float> place_numbers(bool hydro, std::int64_t channels, std::int64_t edge) {
    std::vector<float> numbers;
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t x = 0; x < edge; ++x)
            for (std::int64_t y = 0; y < edge; ++y)
                for (std::int64_t z = 0; z < edge; ++z)
                    numbers.push_back(place_number(hydro, c, x, y, z, edge));
    return numbers;
}

/// How a dataset is stored; the defaults are those of the published files.
struct Layout {
    std::vector<hsize_t> chunk{};  ///< {}: contiguous
    bool deflate = false;
    bool big_endian = false;
    bool float64 = false;
    bool write = true;
};

/// A file with datasets added one by one.
class VolumeWriter : base::Immovable {
  public:
    explicit VolumeWriter(const std::filesystem::path& path, hsize_t user_block = 0) {
        hdf5::library_version();  // opens the library as the suite does
        const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
        H5Pset_userblock(properties, user_block);
        file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
        H5Pclose(properties);
    }
    ~VolumeWriter() { H5Fclose(file_); }

    void add(const char* name, std::vector<hsize_t> shape, const std::vector<float>& values,
             const Layout& layout = {}) {
        const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        if (!layout.chunk.empty())
            H5Pset_chunk(properties, static_cast<int>(layout.chunk.size()), layout.chunk.data());
        if (layout.deflate) H5Pset_deflate(properties, 1);
        const hid_t type = layout.float64      ? H5T_IEEE_F64LE
                           : layout.big_endian ? H5T_IEEE_F32BE
                                               : H5T_IEEE_F32LE;
        const hid_t dataset =
            H5Dcreate2(file_, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        if (layout.write)
            H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(dataset);
        H5Pclose(properties);
        H5Sclose(space);
    }
    /// /Nbody and /Hydro of that many channels; a chunk's first number is cut to the channels.
    void add_both(hsize_t edge, const Layout& layout = {}, hsize_t nbody = 4, hsize_t hydro = 5) {
        for (const bool is_hydro : {false, true}) {
            const hsize_t channels = is_hydro ? hydro : nbody;
            Layout own = layout;
            if (!own.chunk.empty() && own.chunk[0] > channels) own.chunk[0] = channels;
            add(is_hydro ? "Hydro" : "Nbody", {channels, edge, edge, edge},
                place_numbers(is_hydro, static_cast<std::int64_t>(channels),
                              static_cast<std::int64_t>(edge)),
                own);
        }
    }
    hid_t id() const { return file_; }

  private:
    hid_t file_ = H5I_INVALID_HID;
};

}  // namespace ranklab::testing
