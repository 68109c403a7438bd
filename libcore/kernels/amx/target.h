// The instruction sets of this room's routines. They are given to functions, not to files: an inline function of a
// shared header that a file compiled for AVX-512 would run on processors without.
#pragma once

#define VOXSHARD_AMX_TARGET __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512bf16")))
