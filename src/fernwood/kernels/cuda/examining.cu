// Examining columns in contexts on a device: the arithmetic of `kernels/examining.py` and `kernels/telling.py`,
// operation by operation. Sums of whole steps are exact in any order; numbers are added up in the same order as there;
// compiled without fused multiplications, so that scores have the same bits.
//
// A block examines 32 pairs of components, a lane of every warp each. The codes of their columns lie in shared memory
// row by row, and so does what codes stand for, code by code: neither look-up makes two lanes wait for one bank. Every
// warp takes a context and follows its rows, which all lanes share.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int LANES = 32;
constexpr int STRIDE = 40;        // bytes of a row in shared memory: 8 columns × 4 rows are written without conflict
constexpr int TABLE = 256;        // codes
constexpr int QUADS_A_RUN = 15;   // of sixteen rows that are added up in 16 bits: that many steps of at most 127 fit
constexpr u32 PLACE = 0xfff, LAST = 0x8000;  // of a row: its place in the tile; whether its four ends a part

// Sums of the two components of a pair -------------------------------------------------------------------------------

template <bool COUNTS> struct Sum;

template <> struct Sum<true> {
    typedef int Entry;  // two steps side by side, the second sixteen bits up
    int first, second;
    __device__ float one() const { return (float)first; }
    __device__ float two() const { return (float)second; }
};

template <> struct Sum<false> {
    typedef float2 Entry;
    float first, second;
    __device__ float one() const { return first; }
    __device__ float two() const { return second; }
};

// The second sum comes back from sixteen bits up once the first is taken away.
__device__ inline void unpack(Sum<true>& sum, int run) {
    int first = (int)(short)(run & 0xffff);
    sum.first += first;
    sum.second += (run - first) >> 16;
}

// Follow the rows of a context, which are counted, and give the sums of every part to `hear`.
//
// Rows come in fours; a part begins a new four, and what is missing of its last one is made up by the first row of the
// tile, which is taken away again: the last four says how often (bits 12 to 14 of its first row). Sixteen rows are
// looked up together, and the sixteen after the next are on their way meanwhile: no single look-up is waited for.
template <typename Hear>
__device__ inline void follow(const u8* tile, const int* table, const uint4* list, int quads, int lane, Hear hear) {
    const u8* mine = tile + lane;
    const int* stands = table + lane;
    const int filling = stands[mine[0] * LANES];
    uint4 next[4] = {__ldg(list), __ldg(list + 1), __ldg(list + 2), __ldg(list + 3)};
    Sum<true> sum = {0, 0};
    int run = 0, part = 0, since = 0;
    for (int quad = 0; quad < quads; ++quad) {
        const u32 rows[8] = {next[0].x, next[0].y, next[0].z, next[0].w, next[1].x, next[1].y, next[1].z, next[1].w};
        next[0] = next[2];
        next[1] = next[3];
        next[2] = __ldg(list + 2 * quad + 4);
        next[3] = __ldg(list + 2 * quad + 5);
        int found[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            int a = stands[mine[(rows[k] & PLACE) * STRIDE] * LANES];
            int b = stands[mine[(rows[k] >> 16) * STRIDE] * LANES];
            found[k] = a + b;
        }
#pragma unroll
        for (int k = 0; k < 8; k += 2) {
            run += found[k] + found[k + 1];
            if (rows[k] & LAST) {
                unpack(sum, run - (int)((rows[k] >> 12) & 7) * filling);
                hear(part++, sum);
                sum = {0, 0};
                run = since = 0;
            }
        }
        if (++since == QUADS_A_RUN) {
            unpack(sum, run);
            run = since = 0;
        }
    }
}

__device__ inline void add_rows(
    Sum<false>& sum, const u8* tile, const float2* table, const u32* rows, const float* weight, int count, int lane
) {
    const uint4* fours = reinterpret_cast<const uint4*>(rows);
    const float4* heavy = reinterpret_cast<const float4*>(weight);
    const u8* mine = tile + lane;
    const float2* stands = table + lane;
    int groups = count >> 2;
    for (int group = 0; group < groups; ++group) {
        uint4 at = __ldg(fours + group);
        float4 w = __ldg(heavy + group);
        float2 a = stands[mine[at.x] * LANES], b = stands[mine[at.y] * LANES];
        float2 c = stands[mine[at.z] * LANES], d = stands[mine[at.w] * LANES];
        sum.first += (w.x * a.x + w.y * b.x) + (w.z * c.x + w.w * d.x);
        sum.second += (w.x * a.y + w.y * b.y) + (w.z * c.y + w.w * d.y);
    }
    for (int i = groups << 2; i < count; ++i) {
        float2 a = stands[mine[__ldg(rows + i)] * LANES];
        float w = __ldg(weight + i);
        sum.first += w * a.x;
        sum.second += w * a.y;
    }
}

// Columns and shadows -------------------------------------------------------------------------------------------------

// Rows of 32 columns, turned: four rows of four columns at a time.
__device__ inline void lay_out(
    u8* tile, const u8* codes, i64 pitch, const i64* place, i64 first, i64 n_pairs, int low, int high
) {
    int quads = (high - low + 3) >> 2;
    int thread = threadIdx.x, group = thread & 7;
    const u32* column[4];
    for (int k = 0; k < 4; ++k) {
        i64 pair = first + 4 * group + k;
        column[k] = reinterpret_cast<const u32*>(codes + place[pair < n_pairs ? pair : n_pairs - 1] * pitch + low);
    }
    const int step = blockDim.x >> 3;
#pragma unroll 4  // many loads on the way before the first is needed
    for (int quad = thread >> 3; quad < quads; quad += step) {
        u32 a = __ldg(column[0] + quad), b = __ldg(column[1] + quad);
        u32 c = __ldg(column[2] + quad), d = __ldg(column[3] + quad);
        u32 ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
        u32 cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
        u8* to = tile + 4 * quad * STRIDE + 4 * group;
        *reinterpret_cast<u32*>(to) = __byte_perm(ab_low, cd_low, 0x5410);
        *reinterpret_cast<u32*>(to + STRIDE) = __byte_perm(ab_low, cd_low, 0x7632);
        *reinterpret_cast<u32*>(to + 2 * STRIDE) = __byte_perm(ab_high, cd_high, 0x5410);
        *reinterpret_cast<u32*>(to + 3 * STRIDE) = __byte_perm(ab_high, cd_high, 0x7632);
    }
}

// Every column dealt anew to the rows, as `kernels/dealing.py` does (xoshiro256++, Fisher and Yates), a lane each.
__device__ inline void deal(u8* tile, u64 word, int n_rows, int lane) {
    u64 s[4];
    for (int k = 0; k < 4; ++k) {
        word += 0x9E3779B97F4A7C15ull;
        u64 mixed = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
        s[k] = mixed ^ (mixed >> 31);
    }
    u8* mine = tile + lane;
    bool half = false;
    for (int i = n_rows - 1; i > 0; --i) {
        u64 size = i + 1, product;
        while (true) {
            if (half) {
                word >>= 32;
            } else {
                u64 total = s[0] + s[3], t = s[1] << 17;
                word = ((total << 23) | (total >> 41)) + s[0];
                s[2] ^= s[0];
                s[3] ^= s[1];
                s[1] ^= s[2];
                s[0] ^= s[3];
                s[2] ^= t;
                s[3] = (s[3] << 45) | (s[3] >> 19);
            }
            half = !half;
            product = (word & 0xffffffffull) * size;
            if ((product & 0xffffffffull) >= size) break;
            if ((product & 0xffffffffull) >= ((1ull << 32) - size) % size) break;
        }
        int other = (int)(product >> 32);
        u8 kept = mine[i * STRIDE];
        mine[i * STRIDE] = mine[other * STRIDE];
        mine[other * STRIDE] = kept;
    }
}

// Gains ---------------------------------------------------------------------------------------------------------------

__device__ inline void depart(float sum, float share, float total, float times, float& gain) {
    float departure = sum - share * total;
    gain += departure * departure * times;
}

// What a pair of components gains in a context, from the sums of one part after the other.
template <int CLASSES> struct Gain {
    const float* amount;
    const int n_classes;
    float2* kept;
    float one = 0, two = 0;
    float first_one = 0, first_two = 0;               // of two classes, the sums of the first
    float in_cell = 0, total_one = 0, total_two = 0;  // of any number of them
    int k = 0;

    __device__ Gain(const float* amount, int n_classes, float2* kept)
        : amount(amount), n_classes(n_classes), kept(kept) {}

    __device__ void hear(int part, float a, float b) {
        if (CLASSES == 1) {
            if (!(amount[part] > 0)) return;
            const float share = 1.0f / amount[part];
            one += a * a * share;
            two += b * b * share;
        } else if (CLASSES == 2) {
            if ((part & 1) == 0) {
                first_one = a;
                first_two = b;
                return;
            }
            const float both = amount[part - 1] + amount[part];
            if (both <= 0) return;
            const float scale = 1.0f / both, share = amount[part - 1] * scale, times = 2.0f * scale;
            depart(first_one, share, first_one + a, times, one);
            depart(first_two, share, first_two + b, times, two);
        } else {
            in_cell += amount[part];
            total_one += a;
            total_two += b;
            kept[k * LANES] = make_float2(a, b);
            if (++k < n_classes) return;
            if (in_cell > 0) {
                const float scale = 1.0f / in_cell;
                for (int j = 0; j < n_classes; ++j) {
                    const float share = amount[part - n_classes + 1 + j] * scale;
                    const float2 sum = kept[j * LANES];
                    depart(sum.x, share, total_one, scale, one);
                    depart(sum.y, share, total_two, scale, two);
                }
            }
            in_cell = total_one = total_two = 0;
            k = 0;
        }
    }
};

// What pairs of components gain in contexts.
//
// CLASSES is 1 for numbers, 2 for two classes, and 0 for any number of them. Of rows that do not fit into shared memory
// together, `height` at a time: `held` then has the sums of every block, context, part and lane. `kept` has room for
// the sums of all classes of a cell for every warp, where CLASSES is 0. `rows` are those of every tile and context.
// Where they are counted, they are as `follow` takes them, and `count` is how many sixteens; where they are weighed,
// they are offsets in a tile, in fours for every part, which begin at `start` and are `count`. Out: `gains`, shape
// (contexts, pairs).
template <bool COUNTS, int CLASSES>
__global__ void examine(
    const u8* codes, i64 pitch, int n_rows, int height, const i64* place, const int* which, i64 n_pairs,
    const u64* addresses, const typename Sum<COUNTS>::Entry* tables, const float2* unit,
    const void* rows, i64 rows_pitch, const u32* start, const u32* count, const float* size, const float* weight,
    int n_contexts, int n_parts, int n_classes, Sum<COUNTS>* held, float2* kept, float2* gains
) {
    typedef typename Sum<COUNTS>::Entry Entry;
    extern __shared__ uint4 shared[];
    Entry* table = reinterpret_cast<Entry*>(shared);
    u8* tile = reinterpret_cast<u8*>(table + TABLE * LANES);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, n_warps = blockDim.x >> 5;
    const int n_tiles = (n_rows + height - 1) / height;
    if (CLASSES == 0) kept += (i64)(blockIdx.x * n_warps + warp) * n_classes * LANES + lane;
    if (n_tiles > 1) held += (i64)blockIdx.x * n_contexts * n_parts * LANES + lane;

    for (i64 first = (i64)blockIdx.x * LANES; first < n_pairs; first += (i64)gridDim.x * LANES) {
        const i64 pair = first + lane < n_pairs ? first + lane : n_pairs - 1;
        const Entry* stands = tables + (i64)which[pair] * TABLE;
        __syncthreads();  // the tables of the pairs before are in use until here
        for (int code = warp; code < TABLE; code += n_warps) table[code * LANES + lane] = stands[code];
        for (int t = 0; t < n_tiles; ++t) {
            const int low = t * height, high = min(low + height, n_rows);
            const bool last = t == n_tiles - 1;
            if (t) __syncthreads();
            lay_out(tile, codes, pitch, place, first, n_pairs, low, high);
            __syncthreads();
            if (addresses) {  // of one tile only
                if (warp == 0) deal(tile, addresses[pair], n_rows, lane);
                __syncthreads();
            }
            for (int c = warp; c < n_contexts; c += n_warps) {
                const i64 laid = (i64)t * n_contexts + c;
                const float* amount = size + (i64)c * n_parts;
                Gain<CLASSES> gain(amount, n_classes, kept);
                auto hear = [&](int part, Sum<COUNTS> sum) {
                    Sum<COUNTS>* before = held + ((i64)c * n_parts + part) * LANES;
                    if (COUNTS && t) sum = {before->first + sum.first, before->second + sum.second};
                    if (last) {
                        gain.hear(part, sum.one(), sum.two());
                    } else {
                        *before = sum;
                    }
                };
                if constexpr (COUNTS) {
                    const u16* list = static_cast<const u16*>(rows) + laid * rows_pitch;
                    follow(tile, table, reinterpret_cast<const uint4*>(list), count[laid], lane, hear);
                } else {
                    for (int part = 0; part < n_parts; ++part) {
                        Sum<COUNTS> sum = {0, 0};
                        if (t) sum = held[((i64)c * n_parts + part) * LANES];
                        const i64 at = laid * rows_pitch + start[laid * n_parts + part];
                        const u32* places = static_cast<const u32*>(rows) + at;
                        add_rows(sum, tile, table, places, weight + at, count[laid * n_parts + part], lane);
                        hear(part, sum);
                    }
                }
                if (!last) continue;
                float one = gain.one, two = gain.two;
                if (COUNTS) {
                    const float2 step = unit[which[pair]];
                    one = step.x * step.x * one;
                    two = step.y * step.y * two;
                }
                if (first + lane < n_pairs) gains[(i64)c * n_pairs + first + lane] = make_float2(one, two);
            }
        }
    }
}

// Scores, and what they tell ------------------------------------------------------------------------------------------

// The scores of a column in a context: of all its components, and of the leading ones. Its pairs are those from
// `begin[column]` on, before `begin[column + 1]`.
__device__ inline float2 score_of(
    const float2* gains, i64 n_pairs, const i64* begin, const u8* leading, i64 column, int c
) {
    float all = 0, ahead = 0;
    for (i64 pair = begin[column]; pair < begin[column + 1]; ++pair) {
        const float2 gain = gains[(i64)c * n_pairs + pair];
        all += gain.x + gain.y;
        if (leading[pair] > 0) ahead += gain.x;
        if (leading[pair] > 1) ahead += gain.y;
    }
    return make_float2(all, ahead);
}

__device__ inline float invert(float score, float scale, float middle, float width) {
    const float part = score / scale;
    const float x = part > 1e-30f ? part : 1e-30f;
    float y = __int_as_float((int)((float)__float_as_int(x) * (float)(1.0 / 3)) + 709921077);
    float cube = y * y * y;
    y = y * ((cube + (x + x)) / ((cube + cube) + x));
    cube = y * y * y;
    y = y * ((cube + (x + x)) / ((cube + cube) + x));
    float z = (y - middle) / width;
    z = z > 0.0f ? z : 0.0f;
    z = z < 12.0f ? z : 12.0f;
    const float half = 0.5f * z * z;
    const int whole = (int)(half * 1.44269504f + 0.5f);
    const float many = (float)whole;
    const float r = (half - many * 0.693359375f) - many * -2.12194440e-4f;
    const float t3 = 1.0 / 6, t4 = 1.0 / 24, t5 = 1.0 / 120, t6 = 1.0 / 720, t7 = 1.0 / 5040;
    const float series = t3 + r * (t4 + r * (t5 + r * (t6 + r * t7)));
    const float told = 1.0f + (r + r * r * (0.5f + r * series));
    return __int_as_float(__float_as_int(told) + (whole << 23));
}

extern "C" __global__ void scores_of(
    const float2* gains, i64 n_pairs, const i64* begin, const u8* leading, i64 n_columns, int n_contexts, float2* out
) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n_columns * n_contexts) return;
    const i64 column = at % n_columns;
    const int c = (int)(at / n_columns);
    out[column * n_contexts + c] = score_of(gains, n_pairs, begin, leading, column, c);
}

// The sum of 1/p over contexts, in their order.
extern "C" __global__ void sums_of(
    const float2* gains, i64 n_pairs, const i64* begin, const u8* leading, i64 n_columns, int n_contexts,
    const float2* scale, const float2* middle, const float2* width, double* out
) {
    const i64 column = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n_columns) return;
    double total = 0;
    for (int c = 0; c < n_contexts; ++c) {
        const float2 score = score_of(gains, n_pairs, begin, leading, column, c);
        const float all = invert(score.x, scale[c].x, middle[c].x, width[c].x);
        const float ahead = invert(score.y, scale[c].y, middle[c].y, width[c].y);
        total += (double)((ahead + all) * 0.5f);
    }
    out[column] = total;
}
