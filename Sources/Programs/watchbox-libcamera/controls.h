#pragma once

#include <libcamera/libcamera.h>
#include <linux/videodev2.h>
#include <map>
#include <optional>

/// A camera's controls as V4L2 has them. What takes several numbers, rectangles and text is left out.
///
/// V4L2 has whole numbers only: a control with a fraction is counted in thousandths, so that 1000 means 1.0.
class Controls {
public:
    explicit Controls(const libcamera::Camera &camera) : camera(camera) {}

    // Each returns an errno, or 0.
    int query(v4l2_query_ext_ctrl &);
    int queryMenu(v4l2_querymenu &);
    /// - Parameter reported: what the camera said with its last frame.
    int get(v4l2_control &, const libcamera::ControlList &reported) const;
    int set(v4l2_control &);

    /// The time from frame to frame, or nullopt for what the camera itself chooses.
    void setFrameDuration(std::optional<int64_t> microseconds);

    /// All that was set, for a stream that begins.
    void takeAll(libcamera::ControlList &);
    /// What was set since the last request.
    void takeChanges(libcamera::ControlList &);

private:
    const libcamera::Camera &camera;
    std::map<unsigned, libcamera::ControlValue> values;
    std::map<unsigned, libcamera::ControlValue> changes;
};
