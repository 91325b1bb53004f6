#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "options/options.hpp"
#include "options/sections.hpp"
#include "sample_schema.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::options {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Config : public ::testing::Test {
  protected:
    Sample read(const std::string& text, const std::vector<std::string>& arguments = {}) {
        const auto file = folder_.write("c.ini", text).string();
        return Options::parse(sample_schema(), arguments)
            .with_config(file, ini_text(file))
            .fields<Sample>();
    }
    /// The sentence with which this text is refused; it must name the file.
    std::string refusal(const std::string& text) {
        const auto sentence = tests::thrown_sentence<base::OptionError>([&] { read(text); });
        EXPECT_THAT(sentence, HasSubstr("c.ini"));
        return sentence;
    }

    tests::TempFolder folder_;
};

TEST_F(Config, StandsBetweenTheCommandLineAndTheDefault) {
    const auto options = read(
        "# a comment\nsteps = 7\n  sync=none  # and one behind\n\nlr = 0.25\n", {"--steps", "9"});
    EXPECT_EQ(options.steps, 9) << "command line";
    EXPECT_EQ(options.sync, "none") << "config file";
    EXPECT_DOUBLE_EQ(options.lr, 0.25) << "config file";
    EXPECT_EQ(options.output, "results/runs.h5") << "default";
}

TEST_F(Config, Flags) {
    EXPECT_TRUE(read("dry-run = true\n").dry_run);
    EXPECT_FALSE(read("dry-run = false\n").dry_run);
    EXPECT_TRUE(read("dry-run = false\n", {"--dry-run"}).dry_run);
    EXPECT_THAT(refusal("dry-run = perhaps\n"), HasSubstr("dry-run takes true or false"));
}

TEST_F(Config, AnUnknownKeyIsNamedWithTheNearest) {
    EXPECT_THAT(refusal("stepps = 7\n"),
                AllOf(HasSubstr("unknown key stepps"), HasSubstr("did you mean steps?"),
                      Not(HasSubstr("--steps"))));
}

TEST_F(Config, AKeyGivenTwiceIsRefused) {
    EXPECT_THAT(refusal("steps = 1\nsteps = 2\n"),
                AllOf(HasSubstr("steps"), HasSubstr("more than once")));
}

TEST_F(Config, ABadValueNamesFileAndKey) {
    EXPECT_THAT(refusal("steps = 1e9x\n"), AllOf(HasSubstr("steps"), HasSubstr("'1e9x'")));
    EXPECT_THAT(refusal("lr = nan\n"), AllOf(HasSubstr("lr"), HasSubstr("'nan'")));
    EXPECT_THAT(refusal("steps =\n"), HasSubstr("steps"));
    EXPECT_THAT(refusal("sync = flt\n"), AllOf(HasSubstr("sync"), HasSubstr("did you mean flat?")));
}

// A value that the command line overrules is not checked, but its key must exist all the same.
TEST_F(Config, IsCheckedEvenWhereItIsOverruled) {
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    read("stepps = 7\n", {"--steps", "9"});
                }),
                HasSubstr("stepps"));
}

TEST_F(Config, WhatIsForTheCommandLineIsRefused) {
    Schema schema = sample_schema();
    for (const char* name : {"help", "list"})
        schema.add({.name = name,
                    .help = "",
                    .type = Type::flag,
                    .fallback = "false",
                    .role = Role::request});
    for (const std::string line : {"config = x.ini", "help = true", "list = true"}) {
        const auto options = Options::parse(schema, {"--config", "c.ini"});
        EXPECT_THAT(tests::thrown_sentence<base::OptionError>(
                        [&] { options.with_config("c.ini", line + "\n"); }),
                    HasSubstr(line.substr(0, 4)));
    }
}

TEST_F(Config, SectionsAreRefused) {
    const auto sentence = refusal("[training]\nsteps = 7\n");
    EXPECT_THAT(sentence, HasSubstr("section"));
}

TEST_F(Config, ALineWithoutAnEqualsSignIsRefused) {
    EXPECT_THAT(refusal("steps 7\n"), HasSubstr("steps 7"));
}

// It is named without pouring it onto the screen.
TEST_F(Config, BinaryGarbageIsRefused) {
    std::string bytes;
    for (int i = 0; i < 3000; ++i) bytes += static_cast<char>((i * 131) % 256);
    for (const std::string start :
         {"\x89HDF\r\n\x1a\n", "\x1f\x8b\x08=\x01\x02\n", "\x1b[2J\x07 = 3\n"}) {
        const auto sentence = refusal(start + bytes);
        EXPECT_LT(sentence.size(), 400U) << sentence;
        for (const char c : sentence) {
            EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20)
                << "a control character in: " << sentence;
        }
    }
}

TEST_F(Config, NulInAValueIsRefused) {
    EXPECT_THAT(refusal(std::string("output = a\0steps\0x\n", 20)),
                HasSubstr("bytes that are not text"));
}

TEST_F(Config, WhatIsNoReadableFileIsRefused) {
    const auto refused = [&](const std::string& path) {
        return tests::thrown_sentence<base::OptionError>([&] { ini_text(path); });
    };
    EXPECT_THAT(refused((folder_ / "missing.ini").string()), HasSubstr("missing.ini"));
    EXPECT_THAT(refused(folder_.path().string()), HasSubstr(folder_.path().string()));  // a folder
    EXPECT_THAT(refused(folder_.write("empty.ini", "").string()), HasSubstr("empty.ini"));
}

TEST_F(Config, WindowsLineEndsAreTaken) {
    EXPECT_EQ(read("steps = 7\r\nsync = none\r\n").steps, 7);
}

TEST_F(Config, TheCommandLinesOneOfTwoWins) {
    const auto options = read("batch-size = 8\n", {"--global-batch-size", "16"});
    EXPECT_FALSE(options.batch_size);
    EXPECT_EQ(options.global_batch_size, 16);
    EXPECT_THROW(read("batch-size = 8\nglobal-batch-size = 16\n"), base::OptionError);
}

}  // namespace
}  // namespace ranklab::options
