// SPDX-License-Identifier: LGPL-2.1-or-later
// The factories of the canvas's two backends.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/draw/canvas.h"

namespace cudavision::draw {

Status make_canvas_cpu(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas);
Status make_canvas_cuda(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas);

}  // namespace cudavision::draw
