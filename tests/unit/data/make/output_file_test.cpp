#include "data/make/output_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::data {
namespace {

std::string content(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class Output : public ::testing::Test {
  protected:
    void write(OutputFile& file, const std::string& text) {
        file.write(0, std::as_bytes(std::span(text)));
    }
    tests::TempFolder folder_;
    std::unique_ptr<comm::Communicator> control_ = comm::make_self();
};

TEST_F(Output, HasItsNameOnlyOnceItIsWhole) {
    {
        OutputFile file(*control_, folder_ / "a.bin", false, 0);
        write(file, "half");
        EXPECT_FALSE(std::filesystem::exists(folder_ / "a.bin"));
        EXPECT_EQ(folder_.names().size(), 1U) << "the temporary beside it";
    }
    EXPECT_TRUE(folder_.names().empty()) << "and gone when it is not committed";
    OutputFile file(*control_, folder_ / "a.bin", false, 0);
    EXPECT_EQ(file.reserve(1000), 0U);
    write(file, "whole");
    file.commit();
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.bin"});
    EXPECT_EQ(content(folder_ / "a.bin"), "whole");
}

TEST_F(Output, ReplacesOnlyByForce) {
    folder_.write("a.bin", "old");
    const auto sentence = tests::thrown_sentence<base::OptionError>(
        [&] { OutputFile file(*control_, folder_ / "a.bin", false, 0); });
    EXPECT_NE(sentence.find("--force"), std::string::npos);
    EXPECT_EQ(content(folder_ / "a.bin"), "old");
    OutputFile file(*control_, folder_ / "a.bin", true, 0);
    write(file, "new");
    EXPECT_EQ(content(folder_ / "a.bin"), "old") << "until it is whole";
    file.commit();
    EXPECT_EQ(content(folder_ / "a.bin"), "new");
}

TEST_F(Output, SaysWhatThePlaceLacks) {
    const auto missing = tests::thrown_sentence<base::EnvironmentError>(
        [&] { check_output(folder_ / "none/a.bin", false, 0); });
    EXPECT_NE(missing.find("none"), std::string::npos);
    const auto full = tests::thrown_sentence<base::EnvironmentError>(
        [&] { check_output(folder_ / "a.bin", false, std::uint64_t{1} << 62U); });
    EXPECT_NE(full.find("no room"), std::string::npos);
    const auto folder =
        tests::thrown_sentence<base::OptionError>([&] { check_output(folder_.path(), true, 0); });
    EXPECT_NE(folder.find("folder"), std::string::npos);
    const auto device =
        tests::thrown_sentence<base::OptionError>([&] { check_output("/dev/null", true, 0); });
    EXPECT_NE(device.find("device"), std::string::npos);
}

}  // namespace
}  // namespace ranklab::data
