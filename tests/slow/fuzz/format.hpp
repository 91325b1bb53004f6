// One kind of input: how sound ones are made, how they are damaged, and what reads them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuzz/judge.hpp"
#include "fuzz/mutate.hpp"
#include "fuzz/random.hpp"

namespace ranklab::fuzz {

/// What is tried: the bytes and the file name under which programs meet them.
struct Input {
    std::string name;
    Bytes bytes;
    bool damaged = false;                     ///< below its meaning: no more edits of that
    std::vector<Checksummed> checksums = {};  ///< before it was
};

class Format {
  public:
    virtual ~Format() = default;
    virtual std::string name() const = 0;
    /// A sound input.
    virtual Input make(Random& random, const std::filesystem::path& folder) const = 0;
    virtual void edit(Input& input, Random& random, std::span<const Input> others,
                      const std::filesystem::path& folder) const = 0;
    /// After the last edit: checksums are made right again, or not.
    virtual void finish(Input&, Random&) const {}
    /// Has the programs' own functions read it; `folder` is empty but for what it makes itself.
    virtual void attempt(const Input& input, Random& random, const std::filesystem::path& folder,
                         Judge& judge) const = 0;
    /// Sound inputs that mutants are made of, for a seed. Formats that are cheap to make want many.
    virtual std::size_t bases() const { return 16; }
};

std::vector<std::unique_ptr<Format>> formats();

/// The bytes, and back.
void write_file(const std::filesystem::path& path, const Bytes& bytes);
Bytes read_file(const std::filesystem::path& path);
/// mutate_bytes with the other inputs' bytes.
void edit_bytes(Input& input, Random& random, std::span<const Input> others);

/// `run` as a main: arguments as words.
int call_main(int (*main)(int, char**), const std::string& program, const std::vector<std::string>& words);

}  // namespace ranklab::fuzz
