// Edits of HDF5 files by what they mean: another type or shape of a dataset, links to elsewhere, attributes
// of odd contents. The file stays one that HDF5 itself finds right.
#pragma once

#include <filesystem>

#include "fuzz/format.hpp"

namespace ranklab::fuzz {

/// One edit, made on a copy in `folder`. The bytes stay as they are where they are no HDF5 file.
void edit_hdf5(Input& input, Random& random, const std::filesystem::path& folder);

/// Files of HDF5, edited by meaning and then by bytes; their checksums are mostly made right again.
class Hdf5Format : public Format {
  public:
    void edit(Input& input, Random& random, std::span<const Input> others,
              const std::filesystem::path& folder) const override;
    void finish(Input& input, Random& random) const override;
};

/// Lays out what links and external storage of such edits may lead to, beside the file that is read: a
/// secret, a pipe that nobody writes to.
void lay_traps(const std::filesystem::path& folder);
/// Numbers that stand in the secret and nowhere else, as a text of it would show them.
extern const char* const kSecret;

}  // namespace ranklab::fuzz
