// SPDX-License-Identifier: LGPL-2.1-or-later
// The canvas: choice of a backend.
#include "cuda/draw/canvas.h"

#include "cuda/draw/canvas_backends.h"

namespace cudavision {

Status make_canvas(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  return make_on_backend(execution, size, canvas, CUDAVISION_BACKENDS(draw::make_canvas));
}

}  // namespace cudavision
