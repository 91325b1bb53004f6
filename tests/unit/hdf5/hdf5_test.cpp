// Values come back as they were written.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "unit/hdf5/scratch.hpp"

namespace ranklab::hdf5 {
namespace {

using Doubles = std::vector<double>;
using Ints = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

TEST(Attributes, ComeBack) {
    const Scratch scratch;
    const std::string long_text = std::string(300000, 'x') + "é";
    File file = File::create(scratch.file());
    file.root().set_int("int", std::numeric_limits<std::int64_t>::min());
    file.root().set_double("double", 0.1);
    file.root().set_text("text", "größer 🚀");
    file.root().set_text("empty", "");
    file.root().set_text("long", long_text);
    file.close();

    const File again = File::open_to_read(scratch.file());
    const Group root = again.root();
    EXPECT_EQ(root.int_attribute("int"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(root.double_attribute("double"), 0.1);
    EXPECT_EQ(root.text_attribute("text"), "größer 🚀");
    EXPECT_EQ(root.text_attribute("empty"), "");
    EXPECT_EQ(root.text_attribute("long"), long_text);
    EXPECT_TRUE(root.has_attribute("int"));
    EXPECT_FALSE(root.has_attribute("other"));
}

TEST(TypedArrays, ComeBackInTheirTypesAndShapes) {
    const auto filled = [](Element element, std::vector<std::int64_t> shape, std::size_t bytes) {
        TypedArray array{element, std::move(shape), std::vector<std::byte>(bytes)};
        for (std::size_t i = 0; i < bytes; ++i)
            array.bytes[i] = static_cast<std::byte>(i * 89 + 200);
        return array;  // NaNs of any kind are among them
    };
    const std::vector<TypedArray> arrays{filled(Element::u8, {5}, 5),
                                         filled(Element::i32, {2, 1, 2}, 16),
                                         filled(Element::i64, {}, 8),
                                         filled(Element::f32, {100, 300}, 120000),
                                         filled(Element::f64, {1, 1, 1, 3}, 24),
                                         filled(Element::f32, {0, 4}, 0)};
    const File file = File::create_in_memory();
    const auto name_of = [](std::size_t i) { return std::to_string(i) + ".x"; };
    for (std::size_t i = 0; i < arrays.size(); ++i) write_typed(file.root(), name_of(i), arrays[i]);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto back = read_typed(file.root(), name_of(i));
        EXPECT_EQ(back.element, arrays[i].element) << i;
        EXPECT_EQ(back.shape, arrays[i].shape) << i;
        EXPECT_EQ(back.bytes, arrays[i].bytes) << i;
    }
    EXPECT_EQ(read_array(file.root(), "0.x").values[0], 200) << "to others";
}

TEST(TypedArrays, WhoseBytesAreNotTheirShapesAreABug) {
    const File file = File::create_in_memory();
    EXPECT_THROW(write_typed(file.root(), "x", {Element::f32, {3}, std::vector<std::byte>(11)}),
                 base::Error);
}

TEST(Groups, ListInTheOrderMade) {
    const Scratch scratch;
    File file = File::create(scratch.file());
    const Group many = file.root().create_group("many");
    Texts names;
    for (int i = 100; i > 0; --i) names.push_back("n" + std::to_string(i));
    for (const auto& name : names) many.create_group(name, 0);
    EXPECT_EQ(many.members(), names);
    EXPECT_TRUE(many.has("n7"));
    EXPECT_FALSE(many.has("n0"));
    EXPECT_EQ(many.open_group("n7").path(), "/many/n7");
    const Group few = file.root().create_group("few", 2);
    few.create_group("z", 0);
    few.create_group("a", 0);
    EXPECT_EQ(few.members(), (Texts{"z", "a"}));
    EXPECT_TRUE(few.open_group("a").members().empty());
    file.close();
}

TEST(Arrays, ComeBackAtEverySize) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    for (const std::size_t rows : {0UL, 1UL, 100UL, 2000UL, 20000UL, 200000UL}) {
        for (const std::size_t columns : {1UL, 3UL}) {
            Doubles values(rows * columns);
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = std::sin(static_cast<double>(i));
            const std::string name = std::to_string(rows) + "x" + std::to_string(columns);
            write_array(file.root(), name, values, columns).set_text("unit", "s");
            const Array array = read_array(file.root(), name);
            EXPECT_EQ(array.values, values) << name;
            EXPECT_EQ(array.columns, columns) << name;
            EXPECT_EQ(open_dataset(file.root(), name).text_attribute("unit"), "s");
        }
    }
}

TEST(Arrays, OfRaggedRowsAreRefused) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    EXPECT_THROW(write_array(file.root(), "x", Doubles(5), 2), base::Error);
    EXPECT_THROW(write_array(file.root(), "x", Doubles(5), 0), base::Error);
    EXPECT_FALSE(file.root().has("x"));
}

TEST(Tables, ComeBack) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    const std::vector<Column> columns{
        {"name", Texts{"a", "", "größer als alles", "b"}},
        {"n", Ints{-1, 0, 1, std::numeric_limits<std::int64_t>::max()}},
        {"value", Doubles{0.1, -0.0, INFINITY, 1e-310}}};
    write_table(file.root(), "t", columns);
    const auto again = read_table(file.root(), "t");
    ASSERT_EQ(again.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again[i].name, columns[i].name);
        EXPECT_EQ(again[i].values, columns[i].values);
    }
}

TEST(Tables, MayBeEmptyOrLarge) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    write_table(file.root(), "no rows", {{"a", Texts{}}, {"b", Doubles{}}});
    EXPECT_EQ(std::get<Doubles>(read_table(file.root(), "no rows").at(1).values), Doubles{});
    const Texts texts(50000, "the same text over and over");
    write_table(file.root(), "large", {{"text", texts}});
    EXPECT_EQ(std::get<Texts>(read_table(file.root(), "large").at(0).values), texts);
}

TEST(Tables, OfUnequalOrDoubleColumnsAreRefused) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    EXPECT_THROW(write_table(file.root(), "t", {{"a", Ints{1}}, {"b", Ints{1, 2}}}), base::Error);
    EXPECT_THROW(write_table(file.root(), "t", {{"a", Ints{1}}, {"a", Ints{2}}}), base::Error);
}

TEST(Errors, NameWhatFailedAndTheReasonInNoWordsOfOurSource) {
    const Scratch scratch;
    const File file = File::create(scratch.file());
    try {
        file.root().open_group("missing");
        FAIL() << "opened what is not there";
    } catch (const base::Hdf5Error& error) {
        const std::string text = error.what();
        for (const char* part : {"/missing", "doesn't exist"})
            EXPECT_NE(text.find(part), std::string::npos) << text;
        for (const char* part : {"H5O", ".cpp", "["})
            EXPECT_EQ(text.find(part), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
}

TEST(Files, AreTold) {
    const Scratch scratch;
    EXPECT_FALSE(is_hdf5(scratch.file()));
    File::create(scratch.file()).close();
    EXPECT_TRUE(is_hdf5(scratch.file()));
    std::ofstream(scratch.file()) << "text";
    EXPECT_FALSE(is_hdf5(scratch.file()));
    EXPECT_THROW(File::open_to_read(scratch.file()), base::Hdf5Error);
    EXPECT_FALSE(library_version().empty());
}

TEST(Files, OutliveTheirObjects) {
    const Scratch scratch;
    File file = File::create(scratch.file());
    const Group root = file.root();
    file.close();  // closes root too, whose own close must then do no harm
    EXPECT_THROW(root.has("x"), base::Hdf5Error);
}

}  // namespace
}  // namespace ranklab::hdf5
