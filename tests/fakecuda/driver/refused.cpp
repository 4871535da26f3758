// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that GStreamer's CUDA library looks up when it is loaded and that this driver does not support:
// code for a GPU, textures, OpenGL, and memory of other processes. Each returns an error.
#include "tests/fakecuda/driver/refuse.h"
#include "tests/fakecuda/include/cuda.h"

FAKECUDA_REFUSE(cuGLGetDevices_v2, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsGLRegisterBuffer, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsGLRegisterImage, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsMapResources, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsResourceGetMappedPointer_v2, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsResourceSetMapFlags_v2, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsSubResourceGetMappedArray, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsUnmapResources, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuGraphicsUnregisterResource, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuIpcCloseMemHandle, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuIpcGetEventHandle, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuIpcGetMemHandle, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuIpcOpenEventHandle, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuIpcOpenMemHandle, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuLaunchKernel, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuModuleGetFunction, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuModuleLoadData, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuModuleUnload, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuTexObjectCreate, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuTexObjectDestroy, CUDA_ERROR_NOT_SUPPORTED)
