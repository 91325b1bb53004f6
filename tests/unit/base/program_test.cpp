#include "base/program.hpp"

#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

TEST(MpiLibrary, SaysItsNameInOneLine) {
    EXPECT_EQ(mpi_library_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
              "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4");
    EXPECT_EQ(mpi_library_name("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 2022\n"),
              "MPICH 4.0.2");
    EXPECT_EQ(mpi_library_name("MPICH Version:\t4.2.1"), "MPICH 4.2.1");
    EXPECT_EQ(mpi_library_name(
                  "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO"),
              "CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)");
    EXPECT_EQ(mpi_library_name("Intel(R) MPI Library 2021.9 for Linux* OS\n"),
              "Intel(R) MPI Library 2021.9 for Linux* OS");
    EXPECT_EQ(mpi_library_name(""), "");
    EXPECT_EQ(mpi_library_name(" \t\n"), "");
}

}  // namespace
}  // namespace ranklab::base
