// What an expected error says.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace ranklab::tests {

/// The sentence of the ErrorType that `work` throws. Another outcome fails the test and gives "".
template <class ErrorType, class Work>
std::string thrown_sentence(Work&& work) {
    try {
        work();
    } catch (const ErrorType& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "an error of another kind was thrown: " << error.what();
        return "";
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

}  // namespace ranklab::tests
