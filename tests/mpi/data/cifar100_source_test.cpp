#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/dataset.hpp"
#include "data_samples.hpp"
#include "mpi_world.hpp"
#include "temp_folder.hpp"

namespace ranklab::data {
namespace {

using ranklab::testing::image_of;
using ranklab::testing::world;

constexpr std::size_t kPixels = 3072;

// Food containers (coarse label 3): bottle, bowl, can.
constexpr int kFine[] = {9, 10, 16};

// Record i: the i-th of them, all pixels i.
void write_records(const std::filesystem::path& file, int count) {
    std::ofstream out(file, std::ios::binary);
    for (int i = 0; i < count; ++i) {
        out.put(3);
        out.put(static_cast<char>(kFine[i]));
        out << std::string(kPixels, static_cast<char>(i));
    }
}

/// On all ranks, of rank 0's folder.
DataSet open(const std::filesystem::path& folder, std::vector<std::int64_t> input,
             std::int64_t classes) {
    const auto where = comm::broadcast_text(world(), folder.string(), 0);
    for (const auto& source : sources()) {
        if (source.name == "cifar100")
            return source.open({.input = std::move(input), .classes = classes, .directory = where},
                               world());
    }
    throw base::Error("the catalogue lacks cifar100");
}

TEST(Cifar100Source, GivesFineLabelsAndTheModelsSize) {
    const tests::TempFolder folder;
    write_records(folder.path() / "train.bin", 3);
    write_records(folder.path() / "test.bin", 2);
    const auto set = open(folder.path(), {3, 32, 32}, 100);
    EXPECT_EQ(set.train->size(), 3);
    EXPECT_EQ(set.test->size(), 2);
    EXPECT_EQ(image_of(*set.train, 2),
              (ranklab::testing::ImageSample{std::vector<std::uint8_t>(kPixels, 2), 16}));
    const auto large = open(folder.path(), {3, 224, 224}, 100);
    EXPECT_EQ(image_of(*large.train, 1).pixels, std::vector<std::uint8_t>(3 * 224 * 224, 1));
    try {
        open(folder.path(), {1, 28, 28}, 10);
        ADD_FAILURE() << "a model of grey images and ten classes was served";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::wrong_data);
    }
    world().barrier();  // rank 0's folder is there until all have read
}

}  // namespace
}  // namespace ranklab::data
