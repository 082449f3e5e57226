#pragma once

#include <sys/types.h>

/// The process that has locked a media device, as libcamera does for the camera that it uses. 0: there is none, or there are several,
/// because libcamera does not say which device is which camera's.
///
/// Only for a process without a camera: its locks (lockf) end when it closes any descriptor of the same device.
pid_t holderOfMediaDevice();
