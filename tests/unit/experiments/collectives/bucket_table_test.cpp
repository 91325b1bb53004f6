// Tables of gradient buckets: shipped ones, and users' files.
#include "experiments/collectives/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kBegin =
    "# ranklab: the gradient buckets that a training step reduces, in their order\n"
    "# model: small\n# sync: bucketed\n# parameters: 30\n"
    "bucket,parameters,elements,dtype,bytes\n";
const std::string kRows = "0,1,10,fp32,40\n1,3,20,fp32,80\n";

std::string replaced(std::string text, const std::string& part, const std::string& other) {
    return text.replace(text.find(part), part.size(), other);
}

std::string fault(const std::string& text) {
    return tests::thrown_sentence<base::DataError>([&] { parse_bucket_table(text); });
}

std::int64_t elements_of(const std::string& model) {
    const auto table = bucket_table(model);
    return std::accumulate(
        table.rows.begin(), table.rows.end(), std::int64_t{0},
        [](std::int64_t sum, const BucketRow& row) { return sum + row.elements; });
}

TEST(BucketTable, ShipsForTheDocumentsModels) {
    EXPECT_THAT(shipped_models(), ::testing::UnorderedElementsAre(
                                      "mnist-cnn", "resnet18", "resnet50", "resnet152", "unet3d"));
    for (const auto& model : shipped_models()) {
        const auto table = bucket_table(model);
        EXPECT_EQ(table.model, model);
        for (const auto& row : table.rows) EXPECT_EQ(row.dtype, base::Element::f32) << model;
    }
    EXPECT_EQ(elements_of("resnet50"), 23712932);
    EXPECT_EQ(elements_of("unet3d"), 116977029);
}

TEST(BucketTable, IsReadFromText) {
    for (const auto& text :
         {kBegin + kRows, kBegin + kRows + "\n", kBegin + kRows.substr(0, kRows.size() - 1),
          replaced(kBegin, "0\nbucket", "0\r\nbucket") + kRows}) {
        const auto table = parse_bucket_table(text);
        EXPECT_EQ(table.model, "small");
        ASSERT_EQ(table.rows.size(), 2U);
        EXPECT_EQ(table.rows[1].parameters, 3);
        EXPECT_EQ(table.rows[1].elements, 20);
        EXPECT_EQ(table.rows[1].bytes, 80);
    }
}

TEST(BucketTable, KnowsTheTypesOfGradients) {
    const std::vector<std::pair<std::string, base::Element>> types{{"fp32,40", base::Element::f32},
                                                                   {"fp16,20", base::Element::f16},
                                                                   {"bf16,20", base::Element::bf16},
                                                                   {"fp64,80", base::Element::f64}};
    for (const auto& [cells, type] : types)
        EXPECT_EQ(parse_bucket_table(replaced(kBegin + kRows, "fp32,40", cells)).rows.front().dtype,
                  type);
}

TEST(BucketTable, OfABadRowSaysWhich) {
    const auto with = [](const std::string& row) {
        return fault(replaced(kBegin + kRows, "1,3,20,fp32,80", row));
    };
    for (const char* row :
         {"1,3,20,fp32", "1,3,20,fp32,80,1", "2,3,20,fp32,80", "1,0,20,fp32,80", "1,3,-20,fp32,80",
          "1,3,20,f32,80", "1,3,20,int32,80", "1,3,20,fp32,8", "1,3,x,fp32,80", "1,3,2e1,fp32,80",
          "1,3,9223372036854775807,fp32,80", "1,3,99999999999999999999,fp32,80", "1,3, 20,fp32,80",
          "1,3,20,fp16,80", "\x1b[2J"})
        EXPECT_THAT(with(row), StartsWith("row 1 is not ")) << row;
    EXPECT_EQ(with("1,\x1b[2J,20,fp32,80").find('\x1b'), std::string::npos);
}

TEST(BucketTable, ThatIsCutIsNoTable) {
    const std::string whole = kBegin + kRows;
    for (std::size_t length = 0; length + 1 < whole.size(); ++length)
        EXPECT_NE(fault(whole.substr(0, length)), "") << length;
    EXPECT_THAT(fault(kBegin + "0,1,10,fp32,40\n"),
                AllOf(HasSubstr("10 elements"), HasSubstr("30 parameters")));
    EXPECT_THAT(fault(kBegin), HasSubstr("rows"));
}

TEST(BucketTable, OfOthersIsNone) {
    EXPECT_THAT(fault("bucket,parameters,elements,dtype,bytes\n" + kRows),
                StartsWith("its first line is not"));
    EXPECT_THAT(fault(""), StartsWith("its first line is not"));
    EXPECT_THAT(fault(replaced(kBegin, "dtype", "type") + kRows), StartsWith("its header is not"));
    EXPECT_THAT(fault(replaced(kBegin, "# model: small\n", "") + kRows), HasSubstr("model"));
    EXPECT_THAT(fault(replaced(kBegin, "parameters: 30", "parameters: many") + kRows),
                HasSubstr("model"));
    EXPECT_THAT(fault(kBegin + kRows + std::string(5 << 20, 'x')), HasSubstr("4 MiB"));
    EXPECT_THAT(fault(kBegin + kRows + std::string(1000, '\0')), StartsWith("row 2 is not "));
}

TEST(BucketTable, IsReadFromAFile) {
    const tests::TempFolder folder;
    EXPECT_EQ(bucket_table(folder.write("a.csv", kBegin + kRows).string()).rows.size(), 2U);
    EXPECT_EQ(bucket_table(folder.write("a", kBegin + kRows).string()).model, "small")
        << "a name with a /";
    const auto refusal = [&](const std::string& name) {
        return tests::thrown_sentence<base::DataError>(
            [&] { bucket_table((folder / name).string()); });
    };
    folder.write("foreign.csv", "time,speed\n1,2\n");
    folder.write("huge.csv", "");
    std::filesystem::resize_file(folder / "huge.csv", std::uintmax_t{1} << 33U);
    ASSERT_EQ(::mkfifo((folder / "fifo.csv").c_str(), 0600), 0);
    EXPECT_THAT(refusal("missing.csv"), HasSubstr("missing.csv"));
    EXPECT_THAT(refusal("foreign.csv"), HasSubstr("first line"));
    EXPECT_THAT(refusal("huge.csv"), HasSubstr("4 MiB"));
    EXPECT_THAT(refusal("fifo.csv"), HasSubstr("FIFO"));
    EXPECT_THAT(refusal(""), HasSubstr("folder"));
}

TEST(BucketTable, OfAnUnknownModelNamesTheNearest) {
    const auto refusal = [](const std::string& name) {
        return tests::thrown_sentence<base::OptionError>([&] { bucket_table(name); });
    };
    EXPECT_THAT(refusal("resnet5"), HasSubstr("resnet50"));
    EXPECT_THAT(refusal("alexnet"), HasSubstr("--from-model"));
    EXPECT_THAT(refusal(""), HasSubstr("mnist-cnn, resnet152, resnet18, resnet50, unet3d"));
}

}  // namespace
}  // namespace ranklab::experiments
