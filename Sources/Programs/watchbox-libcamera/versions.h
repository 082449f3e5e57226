// What differs between the versions of libcamera that this program is built with, all of it: 0.0.3 (Debian 12) to 0.4.0 (Debian 13).
// It is looked for in the headers, not concluded from a number: Raspberry Pi's libcamera has numbers of its own.

#pragma once

#include <libcamera/libcamera.h>
#include <optional>
#include <string>
#include <type_traits>

namespace versions {

template <typename Id, typename = void>
struct TellsArrays : std::false_type {};
template <typename Id>
struct TellsArrays<Id, std::void_t<decltype(std::declval<const Id &>().isArray())>> : std::true_type {};

/// Whether a control takes several numbers. Where libcamera does not tell, these are all such controls that it has.
template <typename Id>
bool isArray(const Id &id) {
    if constexpr (TellsArrays<Id>::value) {
        return id.isArray();
    } else {
        namespace controls = libcamera::controls;
        for (unsigned array : {controls::COLOUR_GAINS, controls::SENSOR_BLACK_LEVELS, controls::COLOUR_CORRECTION_MATRIX})
            if (id.id() == array) return true;
        return false;
    }
}

template <typename Id, typename = void>
struct NamesItems : std::false_type {};
template <typename Id>
struct NamesItems<Id, std::void_t<decltype(std::declval<const Id &>().enumerators())>> : std::true_type {};

/// "AwbIndoor"; nullopt where libcamera has no names for a control's values.
template <typename Id>
std::optional<std::string> itemName(const Id &id, int32_t value) {
    if constexpr (NamesItems<Id>::value) {
        const auto &names = id.enumerators();
        if (auto found = names.find(value); found != names.end()) return found->second;
    }
    return std::nullopt;
}

} // namespace versions
