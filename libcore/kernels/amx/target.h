// The instruction sets of this folder's routines. They are attributes of functions, not of files: otherwise an inline
// function of a shared header could be compiled for AVX-512 and run on processors without it.
#pragma once

#define VOXSHARD_AMX_TARGET __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))
