// SPDX-License-Identifier: LGPL-2.1-or-later
// The stand-in libnvcuvid.so.1, which decodes nothing. GStreamer's nvcodec plugin registers cudaupload and
// cudadownload only if it finds a decoder or encoder library.
#include "tests/fakecuda/driver/refuse.h"
#include "tests/fakecuda/include/cuda.h"

FAKECUDA_REFUSE(cuvidCreateDecoder, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidCreateVideoParser, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidCtxLock, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidCtxLockCreate, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidCtxLockDestroy, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidCtxUnlock, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidDecodePicture, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidDestroyDecoder, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidDestroyVideoParser, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidGetDecoderCaps, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidMapVideoFrame64, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidParseVideoData, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidReconfigureDecoder, CUDA_ERROR_NOT_SUPPORTED)
FAKECUDA_REFUSE(cuvidUnmapVideoFrame64, CUDA_ERROR_NOT_SUPPORTED)
