// Arrays written and read piece by piece.
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "temp_folder.hpp"

namespace ranklab::hdf5 {
namespace {

std::vector<double> counting(std::size_t n, double first = 0) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST(ArrayPieces, AreTheSameDatasetAsTheWhole) {
    const tests::TempFolder folder;
    const auto path = folder / "a.h5";
    for (const std::size_t columns : {1U, 3U}) {
        const auto whole = counting(50000 * columns);
        {
            File file = File::create(path);
            const Group group = file.root().create_group("g", 2);
            static_cast<void>(write_array(group, "whole", whole, columns));
            ArrayWriter writer(group, "pieces", 50000, columns);
            for (std::size_t at = 0; at < whole.size(); at += 7000 * columns)
                writer.append(std::span(whole).subspan(at, std::min(7000 * columns, whole.size() - at)));
            writer.finish().set_text("unit", "s");
            file.close();
        }
        const File file = File::open_to_read(path);
        const Group group = file.root().open_group("g");
        EXPECT_EQ(read_array(group, "pieces").values, whole);
        EXPECT_EQ(read_array(group, "pieces").columns, columns);
        EXPECT_EQ(open_dataset(group, "pieces").text_attribute("unit"), "s");
        EXPECT_EQ(array_shape(group, "pieces").rows, 50000U);
        EXPECT_TRUE(array_shape(group, "pieces").values.empty());
    }
}

TEST(ArrayPieces, MissingAndRaggedRowsAreTold) {
    const tests::TempFolder folder;
    File file = File::create(folder / "a.h5");
    ArrayWriter writer(file.root(), "a", 10, 2);
    EXPECT_THROW(writer.append(counting(3)), base::Error);
    writer.append(counting(4));
    EXPECT_THROW(static_cast<void>(writer.finish()), base::Error);
    EXPECT_THROW(writer.append(counting(18)), base::Error) << "more rows than there are";
}

TEST(ArrayPieces, AReaderOutlivesTheFileThatItWasOpenedFrom) {
    const tests::TempFolder folder;
    const auto path = folder / "a.h5";
    {
        File file = File::create(path);
        static_cast<void>(write_array(file.root().create_group("g", 1), "a", counting(60000), 3));
        file.close();
    }
    std::unique_ptr<ArrayReader> reader;
    {
        const File file = File::open_to_read(path);
        reader = std::make_unique<ArrayReader>(file.root().open_group("g"), "a");
    }
    std::filesystem::rename(path, folder / "elsewhere.h5");
    EXPECT_EQ(reader->rows(), 20000U);
    EXPECT_EQ(reader->columns(), 3U);
    std::vector<double> rows(6);
    reader->read(19998, rows);
    EXPECT_EQ(rows, counting(6, 59994));
    EXPECT_THROW(reader->read(19999, rows), base::Error) << "beyond the end";
}

}  // namespace
}  // namespace ranklab::hdf5
