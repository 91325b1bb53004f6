#include "io/record_files.hpp"
#include "base/handle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "support/flush_log.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::thrown_sentence;

// Limits the size of this process's files, which simulates a full disk.
class FileSizeLimit : base::Immovable {
  public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    void (*handler_)(int);
    rlimit old_{};
};

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

class RecordFiles : public ::testing::Test {
  protected:
    RecordFiles() {
        job_.files = 3;
        job_.size = 3;
        job_.directory = folder_.path();
    }
    void write(Encoding encoding, std::int64_t id = 1) {
        RecordWriter(job_, encoding, times_).write(id, values_);
    }
    std::vector<double> read(Encoding encoding, std::int64_t id = 1) {
        std::vector<double> values(values_.size(), -1);
        RecordReader(job_, encoding, times_).read(id, values);
        return values;
    }
    std::string refusal(Encoding encoding) {
        return thrown_sentence<base::DataError>([&] { read(encoding); });
    }
    std::string text() const {
        std::string all;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            char number[40];
            std::snprintf(number, sizeof number, "%.18e%c", values_[i], i % 3 == 2 ? '\n' : ' ');
            all += number;
        }
        return all;
    }

    tests::TempFolder folder_;
    Job job_;
    base::IoTimes times_;
    const std::vector<double> values_{
        0, 0.25, 0.1, 1, 0.3, 0.7, 1e-20, 1.0 / 3, 0.9999999999999999};
};

TEST_F(RecordFiles, NamesHaveFiveDigitsAtLeast) {
    EXPECT_EQ(record_path(job_, Encoding::text, 42), folder_ / "data00042.txt");
    EXPECT_EQ(record_path(job_, Encoding::npy, 123456), folder_ / "data123456.npy");
}

TEST_F(RecordFiles, TextIsSavetxts) {
    write(Encoding::text);
    EXPECT_EQ(bytes_of(folder_ / "data00001.txt"), text());
    EXPECT_EQ(read(Encoding::text), values_);
}

TEST_F(RecordFiles, NpyIsHeaderAndValues) {
    write(Encoding::npy);
    const std::string bytes = bytes_of(folder_ / "data00001.npy");
    ASSERT_EQ(bytes.size(), 128 + values_.size() * 8);
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_THAT(bytes.substr(0, 128),
                HasSubstr("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }"));
    EXPECT_EQ(bytes[127], '\n');
    EXPECT_EQ(std::memcmp(bytes.data() + 128, values_.data(), values_.size() * 8), 0);
    EXPECT_EQ(read(Encoding::npy), values_);
}

TEST_F(RecordFiles, TheWriterKnowsHowManyBytes) {
    for (const Encoding encoding : {Encoding::text, Encoding::npy}) {
        RecordWriter writer(job_, encoding, times_);
        const auto bytes = writer.write(0, values_);
        EXPECT_EQ(bytes, std::filesystem::file_size(record_path(job_, encoding, 0)));
    }
}

TEST_F(RecordFiles, EveryPhaseIsMarkedOnce) {
    job_.fsync = true;
    write(Encoding::text);
    for (const IoPhase phase :
         {IoPhase::format, IoPhase::open, IoPhase::write, IoPhase::fsync, IoPhase::close})
        EXPECT_EQ(times_.of(phase).calls, 1)
            << base::kIoPhaseNames[static_cast<std::size_t>(phase)];
    read(Encoding::text);
    EXPECT_EQ(times_.of(IoPhase::open).calls, 2);
    EXPECT_EQ(times_.of(IoPhase::read).calls, 1);
    EXPECT_EQ(times_.of(IoPhase::parse).calls, 1);
    job_.fsync = false;
    write(Encoding::npy);
    EXPECT_EQ(times_.of(IoPhase::fsync).calls, 1);
    EXPECT_EQ(times_.of(IoPhase::format).calls, 1);
}

TEST_F(RecordFiles, IsFlushedWhereThatIsAsked) {
    const auto flushes = [&] {
        tests::flush_log().clear();
        write(Encoding::npy);
        return std::ranges::count(tests::flush_log(),
                                  "fsync " + record_path(job_, Encoding::npy, 1).string());
    };
    EXPECT_EQ(flushes(), 0);
    job_.fsync = true;
    EXPECT_EQ(flushes(), 1);
}

TEST_F(RecordFiles, AnOlderLongerFileIsReplaced) {
    folder_.write("data00001.txt", std::string(100000, 'x'));
    write(Encoding::text);
    EXPECT_EQ(bytes_of(folder_ / "data00001.txt"), text());
}

TEST_F(RecordFiles, AFailedWriteLeavesNothing) {
    for (const Encoding encoding : {Encoding::text, Encoding::npy}) {
        const FileSizeLimit limit(130);  // the npy header goes in
        const auto said = thrown_sentence<base::EnvironmentError>([&] { write(encoding); });
        EXPECT_THAT(said, HasSubstr("--directory"));
        EXPECT_THAT(said, HasSubstr(std::string("data00001") + extension_of(encoding)));
        EXPECT_THAT(folder_.names(), IsEmpty());
    }
}

TEST_F(RecordFiles, AFolderInTheWayIsNamedAndStays) {
    std::filesystem::create_directory(folder_ / "data00001.npy");
    EXPECT_THAT(thrown_sentence<base::OptionError>([&] { write(Encoding::npy); }),
                HasSubstr("data00001.npy"));
    EXPECT_THAT(folder_.names(), ElementsAre("data00001.npy"));
}

TEST_F(RecordFiles, AVanishedFolderIsSaid) {
    job_.directory = folder_ / "gone";
    EXPECT_THAT(thrown_sentence<base::EnvironmentError>([&] { write(Encoding::npy); }),
                HasSubstr("gone"));
}

TEST_F(RecordFiles, AMissingFileIsWrongData) {
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("data00001.npy"));
}

TEST_F(RecordFiles, ATruncatedFileIsRefused) {
    write(Encoding::npy);
    std::filesystem::resize_file(folder_ / "data00001.npy", 199);
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("199 bytes"));
    write(Encoding::text);
    // Cuts in the middle of a number, after a number, and before the last line feed.
    for (const std::size_t bytes : {180, 199, 200, 224}) {
        folder_.write("data00001.txt", text().substr(0, bytes));
        EXPECT_THAT(refusal(Encoding::text), HasSubstr("row 2, column")) << bytes;
    }
    folder_.write("data00001.txt", "");
    EXPECT_THAT(refusal(Encoding::text), HasSubstr("row 0, column 0"));
}

TEST_F(RecordFiles, ALongerFileIsRefused) {
    write(Encoding::npy);
    folder_.write("data00001.npy", bytes_of(folder_ / "data00001.npy") + "x");
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("201 bytes"));
    folder_.write("data00001.txt", text() + "1.0\n");
    EXPECT_THAT(refusal(Encoding::text), HasSubstr("4 bytes"));
    folder_.write("data00001.txt", text() + text());
    EXPECT_THAT(refusal(Encoding::text), HasSubstr("450 bytes"));
}

TEST_F(RecordFiles, AForeignHeaderIsRefused) {
    write(Encoding::npy);
    const std::string whole = bytes_of(folder_ / "data00001.npy");
    std::string other = whole;
    other.replace(other.find("<f8"), 3, ">f8");
    folder_.write("data00001.npy", other);
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("3 x 3"));
    other = whole;
    other[0] = 'P';
    folder_.write("data00001.npy", other);
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("npy header"));
    other = whole;
    other.replace(other.find("False"), 5, "True ");
    folder_.write("data00001.npy", other);
    EXPECT_THAT(refusal(Encoding::npy), HasSubstr("npy header"));
}

TEST_F(RecordFiles, WhatIsNoNumberIsRefusedWithItsPlace) {
    std::string other = text();
    other[25 * 4] = 'x';
    folder_.write("data00001.txt", other);
    EXPECT_THAT(refusal(Encoding::text), HasSubstr("row 1, column 1"));
    other = text();
    other[25 * 3 - 1] = ' ';  // a line that does not end
    folder_.write("data00001.txt", other);
    EXPECT_THAT(refusal(Encoding::text), HasSubstr("row 0, column 2"));
}

TEST_F(RecordFiles, AnotherValueIsReadAsItIs) {
    write(Encoding::text);
    std::string other = text();
    other[25 * 8] = '8';
    folder_.write("data00001.txt", other);
    EXPECT_DOUBLE_EQ(read(Encoding::text).back(), 0.8999999999999999);
}

}  // namespace
}  // namespace ranklab::io
