#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "fuzz/format.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/mutate.hpp"

namespace ranklab::fuzz {

std::vector<std::unique_ptr<Format>> formats() {
    std::vector<std::unique_ptr<Format>> all;
    for (auto* make : {results_format, texts_format, checkpoint_format, volume_format, npy_format, idx_format,
                       cifar_format, config_format, words_format, planted_format})
        all.push_back(make());
    return all;
}

void write_file(const std::filesystem::path& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

Bytes read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void edit_bytes(Input& input, Random& random, std::span<const Input> others) {
    const std::vector<Bytes> other{others.empty() ? Bytes() : random.pick(others).bytes};
    mutate_bytes(input.bytes, random, other);
}

int call_main(int (*main)(int, char**), const std::string& program, const std::vector<std::string>& words) {
    std::vector<std::string> all{program};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (auto& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return main(static_cast<int>(all.size()), arguments.data());
}

}  // namespace ranklab::fuzz
