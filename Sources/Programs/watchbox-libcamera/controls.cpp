#include "controls.h"

#include "caller.h"
#include "versions.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <limits>

using namespace libcamera;

/// libcamera's own number is added to it.
static const uint32_t firstId = V4L2_CTRL_CLASS_USER | 0x0a00;
static const uint32_t lastId = V4L2_CTRL_CLASS_USER | 0xffff;

/// Nullopt for what is not one number.
static std::optional<int32_t> wholeNumber(const ControlId &id, const ControlValue &value) {
    if (value.isArray()) return std::nullopt;
    double number;
    switch (value.type()) {
    case ControlTypeBool: number = value.get<bool>(); break;
    case ControlTypeInteger32: number = value.get<int32_t>(); break;
    case ControlTypeInteger64: number = static_cast<double>(value.get<int64_t>()); break;
    case ControlTypeFloat: number = value.get<float>(); break;
    default: return std::nullopt;
    }
    if (id.type() == ControlTypeFloat) number *= 1000;
    if (std::isnan(number)) return std::nullopt;
    using Limits = std::numeric_limits<int32_t>;
    return static_cast<int32_t>(std::lround(std::clamp<double>(number, Limits::min(), Limits::max())));
}

static ControlValue fromWholeNumber(const ControlId &id, int32_t number) {
    switch (id.type()) {
    case ControlTypeBool: return ControlValue(number != 0);
    case ControlTypeInteger64: return ControlValue(static_cast<int64_t>(number));
    case ControlTypeFloat: return ControlValue(static_cast<float>(number) / 1000);
    default: return ControlValue(number);
    }
}

/// One control as V4L2 has it.
struct Description {
    const ControlId *id = nullptr;
    v4l2_ctrl_type type = V4L2_CTRL_TYPE_INTEGER;
    int32_t minimum = 0;
    int32_t maximum = 1;
    /// Where libcamera says one.
    std::optional<int32_t> preset;
    /// Of a menu: libcamera's values are its indices.
    std::vector<int32_t> items;

    bool hasItem(int64_t index) const { return std::find(items.begin(), items.end(), index) != items.end(); }
};

static std::optional<Description> describe(const ControlId &id, const ControlInfo &info) {
    // The frame duration is the rate, which has requests of its own.
    if (versions::isArray(id) || id.id() == controls::FRAME_DURATION_LIMITS) return std::nullopt;
    Description control;
    control.id = &id;
    auto minimum = wholeNumber(id, info.min()), maximum = wholeNumber(id, info.max());
    switch (id.type()) {
    case ControlTypeBool: control.type = V4L2_CTRL_TYPE_BOOLEAN; break;
    case ControlTypeInteger32:
        for (const ControlValue &value : info.values())
            if (auto item = wholeNumber(id, value); item && *item >= 0) control.items.push_back(*item);
        [[fallthrough]];
    case ControlTypeInteger64:
    case ControlTypeFloat:
        if (!minimum || !maximum) return std::nullopt;
        break;
    default: return std::nullopt;
    }
    control.minimum = minimum.value_or(control.minimum);
    control.maximum = maximum.value_or(control.maximum);
    if (!control.items.empty()) {
        control.type = V4L2_CTRL_TYPE_MENU;
        auto [first, last] = std::minmax_element(control.items.begin(), control.items.end());
        control.minimum = *first;
        control.maximum = *last;
    }
    if (control.minimum > control.maximum) return std::nullopt;
    control.preset = wholeNumber(id, info.def());
    if (control.preset) control.preset = std::clamp(*control.preset, control.minimum, control.maximum);
    return control;
}

/// In ascending order, which V4L2 promises.
static std::map<uint32_t, Description> describe(const Camera &camera) {
    std::map<uint32_t, Description> list;
    for (const auto &[id, info] : camera.controls()) {
        if (id->id() > lastId - firstId) continue;
        if (auto control = describe(*id, info)) list.emplace(firstId + id->id(), *control);
    }
    return list;
}

/// Its `id` is nullptr where there is none.
static Description find(const Camera &camera, uint32_t id) {
    auto list = describe(camera);
    auto found = list.find(id);
    return found == list.end() ? Description() : found->second;
}

/// "AnalogueGain" → "Analogue Gain", as drivers name their controls.
static std::string words(const std::string &name) {
    std::string text;
    bool wasCapital = true;
    for (char character : name) {
        bool isCapital = isupper(static_cast<unsigned char>(character)) != 0;
        if (isCapital && !wasCapital) text += ' ';
        text += character;
        wasCapital = isCapital;
    }
    return text;
}

int Controls::query(v4l2_query_ext_ctrl &query) {
    auto list = describe(camera);
    // Compound controls are asked for as well, or alone; there are none.
    uint32_t id = query.id & ~(V4L2_CTRL_FLAG_NEXT_CTRL | V4L2_CTRL_FLAG_NEXT_COMPOUND);
    auto found = query.id & V4L2_CTRL_FLAG_NEXT_CTRL ? list.upper_bound(id) : list.find(query.id);
    if (found == list.end()) return EINVAL;
    const Description &control = found->second;
    query = {};
    query.id = found->first;
    query.type = control.type;
    copyText(query.name, words(control.id->name()));
    query.minimum = control.minimum;
    query.maximum = control.maximum;
    query.step = 1;
    query.default_value = control.preset.value_or(control.minimum);
    query.elem_size = sizeof(int32_t);
    query.elems = 1;
    return 0;
}

int Controls::queryMenu(v4l2_querymenu &menu) {
    Description control = find(camera, menu.id);
    if (!control.hasItem(menu.index)) return EINVAL;
    auto value = static_cast<int32_t>(menu.index);
    // The structure is packed, so that nothing can refer to its name.
    char name[sizeof menu.name];
    copyText(name, versions::itemName(*control.id, value).value_or(std::to_string(value)));
    memcpy(menu.name, name, sizeof name);
    menu.reserved = 0;
    return 0;
}

int Controls::get(v4l2_control &answer, const ControlList &reported) const {
    Description control = find(camera, answer.id);
    if (control.id == nullptr) return EINVAL;
    unsigned id = control.id->id();
    std::optional<int32_t> value = control.preset;
    if (reported.contains(id)) value = wholeNumber(*control.id, reported.get(id));
    if (auto set = values.find(id); set != values.end()) value = wholeNumber(*control.id, set->second);
    // Of some libcamera does not tell what they begin with, as whether exposure is automatic. No answer is better than a wrong one.
    if (!value) return ENODATA;
    answer.value = *value;
    return 0;
}

int Controls::set(v4l2_control &request) {
    Description control = find(camera, request.id);
    if (control.id == nullptr) return EINVAL;
    if (request.value < control.minimum || request.value > control.maximum) return ERANGE;
    if (!control.items.empty() && !control.hasItem(request.value)) return EINVAL;
    values[control.id->id()] = changes[control.id->id()] = fromWholeNumber(*control.id, request.value);
    return 0;
}

void Controls::setFrameDuration(std::optional<int64_t> microseconds) {
    values.erase(controls::FRAME_DURATION_LIMITS);
    if (!microseconds) return;
    int64_t limits[] = {*microseconds, *microseconds};
    values[controls::FRAME_DURATION_LIMITS] = ControlValue(Span<const int64_t, 2>(limits));
}

void Controls::takeAll(ControlList &list) {
    for (const auto &[id, value] : values) list.set(id, value);
    // Not every camera looks at what comes with its start: the first request says it again.
    changes = values;
}

void Controls::takeChanges(ControlList &list) {
    for (const auto &[id, value] : changes) list.set(id, value);
    changes.clear();
}
