// What `ranklab data` does: makes, converts and checks whole data sets. All functions that take
// `control` are collective, and their files' bytes are equal at any number of ranks. They throw
// OutputFile's errors; `force` replaces existing files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// A synthetic cosmology volume by a formula: dark matter is interpolated noise, gas a smooth
/// function of the matter around it. docs/data.md has the formulae.
struct CosmologySpec {
    std::string output;  ///< the file
    bool force = false;
    std::int64_t edge = 128;  ///< cells along each axis
    std::int64_t chunk = 0;   ///< edge of a chunk; 0: contiguous, as published
    std::int64_t seed = 1;
};

/// Bytes of the file without its small headers.
std::uint64_t cosmology_bytes(const CosmologySpec& spec);

/// Plane x, [width, width], of noise with mean 0 and variance about 1, which follows from seed,
/// channel and the cell's place alone: random numbers at lattice points 4, 8, 16 and 32 cells
/// apart, interpolated and added.
std::vector<float> noise_plane(std::uint64_t seed, std::uint64_t channel, std::int64_t x,
                               std::int64_t width);

/// The five Hydro channels of a cell. `noise`: the four N-body channels' noise, averaged over the
/// cell and its neighbours. Values lie within (-1, 1), where the U-Net's tanh can reach them.
std::array<double, 5> gas_of(const std::array<double, 4>& noise);

struct CosmologyReport {
    std::uint64_t bytes = 0;                   ///< of the file
    std::array<std::uint64_t, 2> checksums{};  ///< of /Nbody and /Hydro
};

/// Writes /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32, and the settings as attributes.
CosmologyReport make_cosmology(comm::Communicator& control, const CosmologySpec& spec,
                               const std::string& version, base::ProgressSink& progress);

/// A synthetic image set in the format of CIFAR-100 or MNIST.
struct ImageFilesSpec {
    std::string output;  ///< the folder
    bool force = false;
    std::int64_t train = 0, test = 0;  ///< images
    std::int64_t seed = 1;
};

/// The files of a set. A file holds a header and a record for each sample: its labels, its image,
/// or both.
struct ImageFiles {
    struct File {
        std::filesystem::path path;
        int split = 0;  ///< 0: training, 1: test
        std::int64_t samples = 0;
        std::vector<std::uint32_t> header{};  ///< written big-endian
        int labels = 0;                       ///< label bytes per record; the last is the class
        bool has_image = true;
    };

    ImageShape shape;
    std::int64_t classes = 0;
    std::vector<File> files;
    std::int64_t seed = 1;

    std::uint64_t record_bytes(const File& file) const {
        return file.labels + (file.has_image ? shape.bytes() : 0);
    }
    std::uint64_t bytes() const;  ///< of all files
};

/// <output>/cifar-100-binary/train.bin and test.bin.
ImageFiles cifar100_files(const ImageFilesSpec& spec);
/// The four idx files in the folder.
ImageFiles mnist_files(const ImageFilesSpec& spec);

/// Creates the folder, too. Sample i has class i % classes.
void make_images(comm::Communicator& control, const ImageFiles& set, bool force,
                 base::ProgressSink& progress);

/// A synthetic text as tokens.
struct TokenFileSpec {
    std::string output;  ///< the file
    bool force = false;
    std::int64_t tokens = 0;
    std::int64_t seed = 1;
};

inline constexpr std::int64_t kTokenSymbols = 64;
/// Entropy of a token in nats, given the two before it: (1/2 1 + 1/4 2 + 2/8 3) bits. No model's
/// loss on this text can be lower, unless it memorises the text.
inline constexpr double kTokenEntropy = 1.75 * 0.693147180559945309;

std::uint64_t token_file_bytes(const TokenFileSpec& spec);

/// Writes llm.c's format: a Markov chain of order 2 over kTokenSymbols symbols. After tokens a, b
/// one of four follows, drawn with 1/2, 1/4, 1/8, 1/8; which four depends on a % 8, b % 8 and the
/// seed.
void make_tokens(comm::Communicator& control, const TokenFileSpec& spec,
                 base::ProgressSink& progress);

/// A conversion of volumes between npy files [D, H, W, C], as the tutorial's convert_to_npy.py
/// makes them, and HDF5 datasets [C, D, H, W].
struct ConvertSpec {
    std::vector<std::filesystem::path> inputs;
    std::string output;
    bool force = false;
    std::optional<std::string>
        dataset;             ///< for one input; else /Nbody for 4 channels, /Hydro for 5
    std::int64_t chunk = 0;  ///< edge of a chunk; 0: contiguous
};

/// Stores the checksum that verify() compares. Returns a line for each input. Throws DataError for
/// a faulty input, OptionError for inputs that do not fit into one file.
std::string npy_to_hdf5(comm::Communicator& control, const ConvertSpec& spec,
                        base::ProgressSink& progress);
/// Writes /Nbody to <output>_data.npy and /Hydro to <output>_label.npy, as float32.
std::string hdf5_to_npy(comm::Communicator& control, const ConvertSpec& spec,
                        base::ProgressSink& progress);

struct FileVerdict {
    std::string file;
    std::string kind{};     ///< "CIFAR-100 binary"; "" if unknown
    std::string content{};  ///< "50000 images of 3 x 32 x 32"
    std::string checked{};  ///< the checks that passed
    std::string wrong{};    ///< a sentence with file and place; "" if the file is valid
};

/// Checks a file, or the files of known kinds in a folder and its cifar-100-binary/. Each rank
/// reads its planes of a volume. Returns one entry per file, equal on all ranks except `content`
/// and `checked`, which only rank 0 has. Throws DataError if there is nothing to check.
std::vector<FileVerdict> verify(comm::Communicator& control, const std::filesystem::path& path,
                                base::ProgressSink& progress);

}  // namespace ranklab::data
