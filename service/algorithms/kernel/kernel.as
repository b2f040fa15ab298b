// AssemblyScript: the inner loops of alternating least squares over rows of `d` floats, d a multiple of 8.

/** Adds the product of the transpose of `z` (n rows of d floats) with itself to the upper triangle of `a`. */
export function addGram(z: usize, n: i32, d: i32, a: usize): void {
  const stride = (<usize>d) << 2;
  for (let i = 0; i < d; i += 4) {
    for (let j = i & ~7; j < d; j += 8) {
      let a00 = f32x4.splat(0), a01 = f32x4.splat(0);
      let a10 = f32x4.splat(0), a11 = f32x4.splat(0);
      let a20 = f32x4.splat(0), a21 = f32x4.splat(0);
      let a30 = f32x4.splat(0), a31 = f32x4.splat(0);
      let left = z + ((<usize>i) << 2);
      let right = z + ((<usize>j) << 2);
      for (let r = 0; r < n; r++) {
        const c0 = v128.load(right);
        const c1 = v128.load(right, 16);
        let s = v128.load32_splat(left);
        a00 = f32x4.add(a00, f32x4.mul(s, c0));
        a01 = f32x4.add(a01, f32x4.mul(s, c1));
        s = v128.load32_splat(left, 4);
        a10 = f32x4.add(a10, f32x4.mul(s, c0));
        a11 = f32x4.add(a11, f32x4.mul(s, c1));
        s = v128.load32_splat(left, 8);
        a20 = f32x4.add(a20, f32x4.mul(s, c0));
        a21 = f32x4.add(a21, f32x4.mul(s, c1));
        s = v128.load32_splat(left, 12);
        a30 = f32x4.add(a30, f32x4.mul(s, c0));
        a31 = f32x4.add(a31, f32x4.mul(s, c1));
        left += stride;
        right += stride;
      }
      let out = a + <usize>i * stride + ((<usize>j) << 2);
      addTo(out, a00, a01);
      addTo(out + stride, a10, a11);
      addTo(out + 2 * stride, a20, a21);
      addTo(out + 3 * stride, a30, a31);
    }
  }
}

// @ts-ignore: decorator
@inline
function addTo(out: usize, low: v128, high: v128): void {
  v128.store(out, f32x4.add(v128.load(out), low));
  v128.store(out, f32x4.add(v128.load(out, 16), high), 16);
}

/** Subtracts `factor` times the floats from `from` to `to` of `source` from those of `target`. */
// @ts-ignore: decorator
@inline
function subtract(target: usize, source: usize, factor: f32, from: usize, to: usize): void {
  const f = f32x4.splat(factor);
  for (let o = from; o < to; o += 16) {
    v128.store(target + o, f32x4.sub(v128.load(target + o), f32x4.mul(f, v128.load(source + o))));
  }
}

/**
 * Solves `a · x = b` by Cholesky factorization. `a` contains the upper triangle of a symmetric positive definite matrix,
 * and d is a multiple of 4. Overwrites a and b.
 */
export function solve(a: usize, b: usize, d: i32, x: usize): void {
  const end = (<usize>d) << 2;
  for (let k = 0; k < d; k++) {
    const row = a + <usize>k * end;
    const at = (<usize>k) << 2;
    const from = at & ~15;
    const scale: f32 = 1 / sqrt<f32>(max<f32>(load<f32>(row + at), 1e-12));
    const s = f32x4.splat(scale);
    for (let o = from; o < end; o += 16) v128.store(row + o, f32x4.mul(v128.load(row + o), s));
    const z: f32 = load<f32>(b + at) * scale;
    subtract(b, row, z, from, end);
    for (let o = at + 4; o < end; o += 4) {
      subtract(a + (o >> 2) * end, row, load<f32>(row + o), o & ~15, end);
    }
    // Stored in x until the back substitution, because the vector steps also change earlier entries of b.
    store<f32>(x + at, z);
  }
  memory.copy(b, x, end);
  memory.fill(x, 0, end);
  for (let k = d - 1; k >= 0; k--) {
    const row = a + <usize>k * end;
    const at = (<usize>k) << 2;
    let sum = f32x4.splat(0);
    for (let o = at & ~15; o < end; o += 16) {
      sum = f32x4.add(sum, f32x4.mul(v128.load(row + o), v128.load(x + o)));
    }
    const dot: f32 =
      f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1) + f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3);
    const value: f32 = (load<f32>(b + at) - dot) / load<f32>(row + at);
    // Regularization can shrink values to denormal numbers, which are very slow to compute with.
    store<f32>(x + at, abs(value) < 1e-12 ? 0 : value);
  }
}

/**
 * Solves rows `from` to `to` of `x` against the fixed rows `y`, whose Gram matrix must be diagonal. The entries of
 * row r are start[r] to start[r+1] of `index` and `weight`, `base` is the weighted diagonal, `ridge` the
 * regularization of each row. On the right side each entry counts by its `right`, or by its weight if `right` is 0.
 * A row without entries becomes zero. `scratch` has room for a matrix, two vectors and max(chunk, d) gathered rows.
 * If `steps` is not 0, rows with more than a few entries are not solved exactly, but improved by this number of
 * conjugate gradient steps. `rotation` is the matrix that y was multiplied by since x was solved.
 */
export function solveRows(
  start: usize, index: usize, weight: usize, right: usize, from: i32, to: i32,
  x: usize, y: usize, d: i32, base: usize, ridge: usize, scratch: usize, chunk: i32, steps: i32, rotation: usize,
): void {
  const stride = (<usize>d) << 2;
  for (let row = from; row < to; row++) {
    const slot = start + ((<usize>row) << 2);
    const first = load<u32>(slot);
    const n = <i32>(load<u32>(slot, 4) - first);
    const at = (<usize>first) << 2;
    const r = load<f32>(ridge + ((<usize>row) << 2));
    const out = x + <usize>row * stride;
    const counted = (right == 0 ? weight : right) + at;
    if (n == 0) memory.fill(out, 0, stride);
    else if (steps > 0 && n > FEW) refine(index + at, weight + at, counted, n, out, y, d, base, r, rotation, scratch, steps);
    else if (4 * n <= 3 * d) solveFew(index + at, weight + at, counted, n, out, y, d, base, r, scratch);
    else solveMany(index + at, weight + at, counted, n, out, y, d, base, r, scratch, chunk);
  }
}

/** Rows with up to this many entries are solved exactly, because that is as fast as a few steps. */
const FEW = 16;

/** Improves one row by conjugate gradients, preconditioned by the diagonal. */
function refine(
  index: usize, weight: usize, right: usize, n: i32, x: usize, y: usize, d: i32, base: usize, ridge: f32, rotation: usize, scratch: usize, steps: i32,
): void {
  const stride = (<usize>d) << 2;
  const residual = scratch;
  const direction = residual + stride;
  const image = direction + stride;
  const inverse = image + stride;
  const diagonal = inverse + stride;
  rotate(x, 1, d, rotation, scratch);
  const r = f32x4.splat(ridge);
  for (let o: usize = 0; o < stride; o += 16) {
    const sum = f32x4.add(v128.load(base + o), r);
    v128.store(diagonal + o, sum);
    v128.store(inverse + o, sum);
    v128.store(residual + o, f32x4.neg(f32x4.mul(sum, v128.load(x + o))));
  }
  for (let i = 0; i < n; i++) {
    const at = (<usize>i) << 2;
    const source = y + <usize>load<u32>(index + at) * stride;
    const w = load<f32>(weight + at);
    const left = f32x4.splat(load<f32>(right + at) - w * dot(source, x, stride));
    const weights = f32x4.splat(w);
    for (let o: usize = 0; o < stride; o += 16) {
      const v = v128.load(source + o);
      v128.store(residual + o, f32x4.add(v128.load(residual + o), f32x4.mul(left, v)));
      v128.store(inverse + o, f32x4.add(v128.load(inverse + o), f32x4.mul(weights, f32x4.mul(v, v))));
    }
  }
  const one = f32x4.splat(1);
  for (let o: usize = 0; o < stride; o += 16) {
    const v = f32x4.div(one, v128.load(inverse + o));
    v128.store(inverse + o, v);
    v128.store(direction + o, f32x4.mul(v, v128.load(residual + o)));
  }
  let size = dot(residual, direction, stride);
  for (let step = 0; step < steps && size > 1e-20; step++) {
    for (let o: usize = 0; o < stride; o += 16) {
      v128.store(image + o, f32x4.mul(v128.load(diagonal + o), v128.load(direction + o)));
    }
    for (let i = 0; i < n; i++) {
      const at = (<usize>i) << 2;
      const source = y + <usize>load<u32>(index + at) * stride;
      const f = f32x4.splat(load<f32>(weight + at) * dot(source, direction, stride));
      for (let o: usize = 0; o < stride; o += 16) {
        v128.store(image + o, f32x4.add(v128.load(image + o), f32x4.mul(f, v128.load(source + o))));
      }
    }
    const length = size / dot(direction, image, stride);
    const l = f32x4.splat(length);
    for (let o: usize = 0; o < stride; o += 16) {
      v128.store(x + o, f32x4.add(v128.load(x + o), f32x4.mul(l, v128.load(direction + o))));
      const left = f32x4.sub(v128.load(residual + o), f32x4.mul(l, v128.load(image + o)));
      v128.store(residual + o, left);
      v128.store(image + o, f32x4.mul(left, v128.load(inverse + o)));
    }
    const next = dot(residual, image, stride);
    const f = f32x4.splat(next / size);
    size = next;
    for (let o: usize = 0; o < stride; o += 16) {
      v128.store(direction + o, f32x4.add(v128.load(image + o), f32x4.mul(f, v128.load(direction + o))));
    }
  }
  for (let o: usize = 0; o < stride; o += 16) {
    const value = v128.load(x + o);
    v128.store(x + o, v128.and(value, f32x4.ge(f32x4.abs(value), f32x4.splat(1e-12))));
  }
}

// @ts-ignore: decorator
@inline
function dot(a: usize, b: usize, stride: usize): f32 {
  let even = f32x4.splat(0), odd = f32x4.splat(0);
  for (let o: usize = 0; o < stride; o += 32) {
    even = f32x4.add(even, f32x4.mul(v128.load(a + o), v128.load(b + o)));
    odd = f32x4.add(odd, f32x4.mul(v128.load(a + o, 16), v128.load(b + o, 16)));
  }
  const sum = f32x4.add(even, odd);
  return f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1) + f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3);
}

/** Solves one row with many entries: d equations. */
function solveMany(
  index: usize, weight: usize, right: usize, n: i32, x: usize, y: usize, d: i32, base: usize, ridge: f32, scratch: usize, chunk: i32,
): void {
  const stride = (<usize>d) << 2;
  const a = scratch;
  const b = a + stride * <usize>d;
  const gathered = b + 2 * stride;
  memory.fill(a, 0, stride * <usize>d);
  memory.fill(b, 0, stride);
  for (let next = 0; next < n; ) {
    const stop = min(next + chunk, n);
    const count = stop - next;
    let out = gathered;
    for (; next < stop; next++) {
      const w = load<f32>(weight + ((<usize>next) << 2));
      const root = f32x4.splat(sqrt<f32>(w));
      const full = v128.load32_splat(right + ((<usize>next) << 2));
      const source = y + <usize>load<u32>(index + ((<usize>next) << 2)) * stride;
      for (let o: usize = 0; o < stride; o += 16) {
        const v = v128.load(source + o);
        v128.store(out + o, f32x4.mul(v, root));
        v128.store(b + o, f32x4.add(v128.load(b + o), f32x4.mul(v, full)));
      }
      out += stride;
    }
    addGram(gathered, count, d, a);
  }
  for (let o: usize = 0; o < stride; o += 4) {
    const diagonal = a + (o >> 2) * stride + o;
    store<f32>(diagonal, load<f32>(diagonal) + load<f32>(base + o) + ridge);
  }
  solve(a, b, d, x);
}

/** Solves one row with few entries: n equations, by (D + Y'WY)^-1 Y' = D^-1 Y' (W^-1 + Y D^-1 Y')^-1 W^-1. */
function solveFew(
  index: usize, weight: usize, right: usize, n: i32, x: usize, y: usize, d: i32, base: usize, ridge: f32, scratch: usize,
): void {
  const stride = (<usize>d) << 2;
  const a = scratch;
  const b = a + stride * <usize>d;
  const z = b + stride;
  const gathered = z + stride;
  const padded = (n + 3) & ~3;
  const side = (<usize>padded) << 2;
  const r = f32x4.splat(ridge);
  // Until the last step, x contains the square roots of D^-1.
  for (let o: usize = 0; o < stride; o += 16) {
    v128.store(x + o, f32x4.sqrt(f32x4.div(f32x4.splat(1), f32x4.add(v128.load(base + o), r))));
  }
  let out = gathered;
  for (let i = 0; i < n; i++) {
    const source = y + <usize>load<u32>(index + ((<usize>i) << 2)) * stride;
    for (let o: usize = 0; o < stride; o += 16) {
      v128.store(out + o, f32x4.mul(v128.load(source + o), v128.load(x + o)));
    }
    out += stride;
  }
  memory.fill(out, 0, <usize>(padded - n) * stride);
  memory.fill(b, 0, side);
  for (let i = 0; i < padded; i++) {
    const block = i & ~3;
    const line = a + <usize>i * side;
    const offset = (<usize>i) << 2;
    scores(gathered + <usize>block * stride, padded - block, d, gathered + <usize>i * stride, line + ((<usize>block) << 2));
    if (i < n) {
      const w = load<f32>(weight + offset);
      store<f32>(line + offset, load<f32>(line + offset) + 1 / w);
      store<f32>(b + offset, load<f32>(right + offset) / w);
    } else {
      store<f32>(line + offset, 1);
    }
  }
  solve(a, b, padded, z);
  for (let o: usize = 0; o < stride; o += 16) {
    let sum = f32x4.splat(0);
    let source = gathered + o;
    for (let i = 0; i < n; i++) {
      sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(z + ((<usize>i) << 2)), v128.load(source)));
      source += stride;
    }
    const value = f32x4.mul(sum, v128.load(x + o));
    const large = f32x4.ge(f32x4.abs(value), f32x4.splat(1e-12));
    v128.store(x + o, v128.and(value, large));
  }
}

/** Multiplies n rows of `y` by the matrix `q`, in place. `scratch` has room for one row. */
export function rotate(y: usize, n: i32, d: i32, q: usize, scratch: usize): void {
  const stride = (<usize>d) << 2;
  for (let row = 0; row < n; row++) {
    const p = y + <usize>row * stride;
    for (let o: usize = 0; o < stride; o += 32) {
      let low = f32x4.splat(0);
      let high = f32x4.splat(0);
      let column = q + o;
      for (let k: usize = 0; k < stride; k += 4) {
        const v = v128.load32_splat(p + k);
        low = f32x4.add(low, f32x4.mul(v, v128.load(column)));
        high = f32x4.add(high, f32x4.mul(v, v128.load(column, 16)));
        column += stride;
      }
      v128.store(scratch + o, low);
      v128.store(scratch + o, high, 16);
    }
    memory.copy(p, scratch, stride);
  }
}

/** Writes the dot products of `x` with n rows of `y` to `out`, four at a time. y and out must be padded to that. */
export function scores(y: usize, n: i32, d: i32, x: usize, out: usize): void {
  const stride = (<usize>d) << 2;
  for (let row = 0; row < n; row += 4) {
    const p = y + <usize>row * stride;
    const q = p + stride;
    const r = q + stride;
    const s = r + stride;
    let a = f32x4.splat(0), b = f32x4.splat(0), c = f32x4.splat(0), e = f32x4.splat(0);
    for (let o: usize = 0; o < stride; o += 16) {
      const v = v128.load(x + o);
      a = f32x4.add(a, f32x4.mul(v, v128.load(p + o)));
      b = f32x4.add(b, f32x4.mul(v, v128.load(q + o)));
      c = f32x4.add(c, f32x4.mul(v, v128.load(r + o)));
      e = f32x4.add(e, f32x4.mul(v, v128.load(s + o)));
    }
    const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
    const ce = f32x4.add(v128.shuffle<f32>(c, e, 0, 4, 1, 5), v128.shuffle<f32>(c, e, 2, 6, 3, 7));
    const sum = f32x4.add(v128.shuffle<f32>(ab, ce, 0, 1, 4, 5), v128.shuffle<f32>(ab, ce, 2, 3, 6, 7));
    v128.store(out + ((<usize>row) << 2), sum);
  }
}

/** Adds up the four numbers of each of four vectors. */
// @ts-ignore: decorator
@inline
function sumsOf(a: v128, b: v128, c: v128, e: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const ce = i32x4.add(v128.shuffle<i32>(c, e, 0, 4, 1, 5), v128.shuffle<i32>(c, e, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i32>(ab, ce, 0, 1, 4, 5), v128.shuffle<i32>(ab, ce, 2, 3, 6, 7));
}

/**
 * Bytes of the constants that the record of a row starts with: the scale of its 8-bit numbers, how far they are off, their
 * length, and the length of the rest of the row. They are in one place because reading four arrays takes several times as
 * long as the products. The first numbers of the row follow.
 */
const CONSTANTS: usize = 16;

/**
 * Writes bounds of the scores of some rows, four at a time. `which` has the `count` numbers of these rows. A score is the
 * dot product of the 16-bit vector `x` with a row of 8-bit numbers, times `factor` and the scale of the row, plus `added`.
 * It is off by at most `length` times what the row is off, plus `off` times the length of its numbers, and by `rounding`
 * times its size. `records` have the constants of the rows and their first `head` numbers. d must be a multiple of 8, and
 * `which`, `low` and `high` must be padded to four rows.
 */
export function scoreBounds(y: usize, which: usize, count: i32, d: i32, x: usize, records: usize, head: i32, factor: f32, added: usize, length: f32, off: f32, rounding: f32, low: usize, high: usize): void {
  const stride = <usize>d, size = <usize>head + CONSTANTS;
  for (let row = 0; row < count; row += 4) {
    const at = (<usize>row) << 2;
    const i = <usize>load<u32>(which + at), j = <usize>load<u32>(which + at, 4);
    const k = <usize>load<u32>(which + at, 8), l = <usize>load<u32>(which + at, 12);
    const p = y + i * stride, q = y + j * stride, r = y + k * stride, s = y + l * stride;
    let a = i32x4.splat(0), b = i32x4.splat(0), c = i32x4.splat(0), e = i32x4.splat(0);
    for (let o: usize = 0; o < stride; o += 8) {
      const v = v128.load(x + (o << 1));
      a = i32x4.add(a, i32x4.dot_i16x8_s(v, v128.load8x8_s(p + o)));
      b = i32x4.add(b, i32x4.dot_i16x8_s(v, v128.load8x8_s(q + o)));
      c = i32x4.add(c, i32x4.dot_i16x8_s(v, v128.load8x8_s(r + o)));
      e = i32x4.add(e, i32x4.dot_i16x8_s(v, v128.load8x8_s(s + o)));
    }
    const ci = v128.load(records + i * size), cj = v128.load(records + j * size);
    const ck = v128.load(records + k * size), cl = v128.load(records + l * size);
    const scaleErrorLeft = v128.shuffle<f32>(ci, cj, 0, 4, 1, 5), scaleErrorRight = v128.shuffle<f32>(ck, cl, 0, 4, 1, 5);
    const scales = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 0, 1, 4, 5);
    const errors = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 2, 3, 6, 7);
    const lengths = v128.shuffle<f32>(v128.shuffle<f32>(ci, cj, 2, 6, 2, 6), v128.shuffle<f32>(ck, cl, 2, 6, 2, 6), 0, 1, 4, 5);
    const products = f32x4.mul(f32x4.convert_i32x4_s(sumsOf(a, b, c, e)), f32x4.mul(f32x4.splat(factor), scales));
    const score = f32x4.add(products, four(added, i, j, k, l));
    const near = f32x4.add(f32x4.mul(f32x4.splat(length), errors), f32x4.mul(f32x4.splat(off), lengths));
    const error = f32x4.add(near, f32x4.mul(f32x4.splat(rounding), f32x4.abs(score)));
    v128.store(low + at, f32x4.sub(score, error));
    v128.store(high + at, f32x4.add(score, error));
  }
}

/**
 * Keeps those rows of `which` whose score can reach `floor`, by the dot product of only the first d numbers of each row,
 * which are in `records`. That product is off as in scoreBounds, without `off`, and the rest of the score is at most
 * `length` times the length of the rest of the row. Returns their number.
 */
export function headBounds(records: usize, which: usize, count: i32, d: i32, x: usize, factor: f32, added: usize, error: f32, length: f32, floor: f32): i32 {
  const end = <usize>d, size = end + CONSTANTS;
  const least = f32x4.splat(floor);
  let kept = 0;
  for (let row = 0; row < count; row += 4) {
    const at = which + ((<usize>row) << 2);
    const i = <usize>load<u32>(at), j = <usize>load<u32>(at, 4), k = <usize>load<u32>(at, 8), l = <usize>load<u32>(at, 12);
    const p = records + i * size, q = records + j * size, r = records + k * size, s = records + l * size;
    let a = i32x4.splat(0), b = i32x4.splat(0), c = i32x4.splat(0), e = i32x4.splat(0);
    for (let o: usize = 0; o < end; o += 8) {
      const v = v128.load(x + (o << 1));
      a = i32x4.add(a, i32x4.dot_i16x8_s(v, v128.load8x8_s(p + o, 16)));
      b = i32x4.add(b, i32x4.dot_i16x8_s(v, v128.load8x8_s(q + o, 16)));
      c = i32x4.add(c, i32x4.dot_i16x8_s(v, v128.load8x8_s(r + o, 16)));
      e = i32x4.add(e, i32x4.dot_i16x8_s(v, v128.load8x8_s(s + o, 16)));
    }
    const ci = v128.load(p), cj = v128.load(q), ck = v128.load(r), cl = v128.load(s);
    const scaleErrorLeft = v128.shuffle<f32>(ci, cj, 0, 4, 1, 5), scaleErrorRight = v128.shuffle<f32>(ck, cl, 0, 4, 1, 5);
    const scales = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 0, 1, 4, 5);
    const errors = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 2, 3, 6, 7);
    const rests = v128.shuffle<f32>(v128.shuffle<f32>(ci, cj, 3, 7, 3, 7), v128.shuffle<f32>(ck, cl, 3, 7, 3, 7), 0, 1, 4, 5);
    const product = f32x4.mul(f32x4.convert_i32x4_s(sumsOf(a, b, c, e)), f32x4.mul(f32x4.splat(factor), scales));
    const rest = f32x4.add(f32x4.mul(f32x4.splat(length), rests), f32x4.mul(f32x4.splat(error), errors));
    let mask = i32x4.bitmask(f32x4.ge(f32x4.add(f32x4.add(product, four(added, i, j, k, l)), rest), least));
    if (row + 4 > count) mask &= (1 << (count - row)) - 1;
    for (; mask != 0; mask &= mask - 1) {
      store<u32>(which + ((<usize>kept) << 2), load<u32>(at + ((<usize>ctz(mask)) << 2)));
      kept++;
    }
  }
  return kept;
}

/**
 * Writes the numbers of the first n rows whose score, divided by their float in `reaches`, can reach `floor`. Scores are
 * bounded as in scoreBounds. Leaves out rows with a reach of 0. Returns how many these are. n is a multiple of 4.
 */
export function closeRows(y: usize, n: i32, d: i32, x: usize, records: usize, head: i32, factor: f32, added: usize, reaches: usize, length: f32, off: f32, floor: f32, out: usize): i32 {
  const stride = <usize>d, size = <usize>head + CONSTANTS;
  const zero = f32x4.splat(0);
  let count = 0, p = y, c = records;
  for (let row = 0; row < n; row += 4) {
    const q = p + stride, r = q + stride, s = r + stride;
    let e = i32x4.splat(0), f = i32x4.splat(0), g = i32x4.splat(0), h = i32x4.splat(0);
    for (let o: usize = 0; o < stride; o += 8) {
      const v = v128.load(x + (o << 1));
      e = i32x4.add(e, i32x4.dot_i16x8_s(v, v128.load8x8_s(p + o)));
      f = i32x4.add(f, i32x4.dot_i16x8_s(v, v128.load8x8_s(q + o)));
      g = i32x4.add(g, i32x4.dot_i16x8_s(v, v128.load8x8_s(r + o)));
      h = i32x4.add(h, i32x4.dot_i16x8_s(v, v128.load8x8_s(s + o)));
    }
    const ci = v128.load(c), cj = v128.load(c + size), ck = v128.load(c + 2 * size), cl = v128.load(c + 3 * size);
    const scaleErrorLeft = v128.shuffle<f32>(ci, cj, 0, 4, 1, 5), scaleErrorRight = v128.shuffle<f32>(ck, cl, 0, 4, 1, 5);
    const scales = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 0, 1, 4, 5);
    const errors = v128.shuffle<f32>(scaleErrorLeft, scaleErrorRight, 2, 3, 6, 7);
    const lengths = v128.shuffle<f32>(v128.shuffle<f32>(ci, cj, 2, 6, 2, 6), v128.shuffle<f32>(ck, cl, 2, 6, 2, 6), 0, 1, 4, 5);
    const products = f32x4.mul(f32x4.convert_i32x4_s(sumsOf(e, f, g, h)), f32x4.mul(f32x4.splat(factor), scales));
    const near = f32x4.add(f32x4.mul(f32x4.splat(length), errors), f32x4.mul(f32x4.splat(off), lengths));
    const at = (<usize>row) << 2;
    const high = f32x4.add(f32x4.add(products, v128.load(added + at)), near);
    const reach = v128.load(reaches + at);
    let mask = i32x4.bitmask(v128.and(f32x4.ge(high, f32x4.mul(f32x4.splat(floor), reach)), f32x4.gt(reach, zero)));
    for (; mask != 0; mask &= mask - 1) {
      store<u32>(out + ((<usize>count) << 2), row + ctz(mask));
      count++;
    }
    p = s + stride;
    c += 4 * size;
  }
  return count;
}

/** Loads four floats of an array. */
// @ts-ignore: decorator
@inline
function four(values: usize, i: usize, j: usize, k: usize, l: usize): v128 {
  const first = f32x4.replace_lane(f32x4.splat(load<f32>(values + (i << 2))), 1, load<f32>(values + (j << 2)));
  return f32x4.replace_lane(f32x4.replace_lane(first, 2, load<f32>(values + (k << 2))), 3, load<f32>(values + (l << 2)));
}

/** Elements in a block. Most blocks are only bounded by their longest element, so few elements are read. */
const BLOCK = 64;

/**
 * Writes an upper bound of added[e] + factor * lengths[e] of each block to `out`. For marked blocks, it is the highest value.
 * In the others, nothing is above 0 in `added`, and `longest` has the highest length of each block.
 */
export function blockMaxima(added: usize, lengths: usize, longest: usize, marked: usize, blocks: i32, factor: f32, out: usize): void {
  const f = f32x4.splat(factor);
  for (let block: usize = 0; block < <usize>blocks; block++) {
    if (load<u8>(marked + block) == 0) {
      store<f32>(out + (block << 2), factor * load<f32>(longest + (block << 2)));
      continue;
    }
    const from = block * (BLOCK << 2);
    let most = f32x4.splat(-Infinity);
    for (let at = from; at < from + (BLOCK << 2); at += 16) {
      const value = f32x4.add(v128.load(added + at), f32x4.mul(f, v128.load(lengths + at)));
      most = f32x4.pmax(most, value);
    }
    const pair = f32x4.pmax(most, v128.shuffle<f32>(most, most, 2, 3, 0, 1));
    store<f32>(out + (block << 2), max<f32>(f32x4.extract_lane(pair, 0), f32x4.extract_lane(pair, 1)));
  }
}

/**
 * Writes the numbers of all elements with added[e] + factor * lengths[e] >= floor and a length above 0 to `out`. Reads only
 * the blocks that are marked or long enough, as in blockMaxima. Returns how many elements these are.
 */
export function reaching(added: usize, lengths: usize, longest: usize, marked: usize, blocks: i32, factor: f32, floor: f32, out: usize): i32 {
  const f = f32x4.splat(factor), least = f32x4.splat(floor), zero = f32x4.splat(0);
  let count = 0;
  for (let block = 0; block < blocks; block++) {
    if (load<u8>(marked + <usize>block) == 0 && factor * load<f32>(longest + ((<usize>block) << 2)) < floor) continue;
    for (let row = block * BLOCK; row < (block + 1) * BLOCK; row += 16) {
      const at = (<usize>row) << 2;
      const a = v128.load(lengths + at), b = v128.load(lengths + at, 16), c = v128.load(lengths + at, 32), e = v128.load(lengths + at, 48);
      const low = i16x8.narrow_i32x4_s(
        v128.and(f32x4.ge(f32x4.add(v128.load(added + at), f32x4.mul(f, a)), least), f32x4.gt(a, zero)),
        v128.and(f32x4.ge(f32x4.add(v128.load(added + at, 16), f32x4.mul(f, b)), least), f32x4.gt(b, zero)));
      const high = i16x8.narrow_i32x4_s(
        v128.and(f32x4.ge(f32x4.add(v128.load(added + at, 32), f32x4.mul(f, c)), least), f32x4.gt(c, zero)),
        v128.and(f32x4.ge(f32x4.add(v128.load(added + at, 48), f32x4.mul(f, e)), least), f32x4.gt(e, zero)));
      let mask = i8x16.bitmask(i8x16.narrow_i16x8_s(low, high));
      for (; mask != 0; mask &= mask - 1) {
        store<u32>(out + ((<usize>count) << 2), row + ctz(mask));
        count++;
      }
    }
  }
  return count;
}

/** Rotates two rows of n doubles by the angle with this cosine and sine. */
export function rotatePair(a: usize, b: usize, n: i32, cosine: f64, sine: f64): void {
  const c = f64x2.splat(cosine), s = f64x2.splat(sine);
  const end = (<usize>n) << 3;
  let o: usize = 0;
  for (; o + 16 <= end; o += 16) {
    const x = v128.load(a + o), y = v128.load(b + o);
    v128.store(a + o, f64x2.sub(f64x2.mul(c, x), f64x2.mul(s, y)));
    v128.store(b + o, f64x2.add(f64x2.mul(s, x), f64x2.mul(c, y)));
  }
  if (o < end) {
    const x = load<f64>(a + o), y = load<f64>(b + o);
    store<f64>(a + o, cosine * x - sine * y);
    store<f64>(b + o, sine * x + cosine * y);
  }
}

/** Writes the dot products of `vector` with rows of n doubles to `out`. Rows are d doubles apart. Sums in order. */
export function products(rows: usize, count: i32, d: i32, vector: usize, n: i32, out: usize): void {
  const stride = (<usize>d) << 3;
  const end = (<usize>n) << 3;
  let row = 0;
  for (; row + 4 <= count; row += 4) {
    const p = rows + <usize>row * stride;
    const q = p + stride;
    const r = q + stride;
    const s = r + stride;
    let a: f64 = 0, b: f64 = 0, c: f64 = 0, e: f64 = 0;
    for (let o: usize = 0; o < end; o += 8) {
      const v = load<f64>(vector + o);
      a += load<f64>(p + o) * v;
      b += load<f64>(q + o) * v;
      c += load<f64>(r + o) * v;
      e += load<f64>(s + o) * v;
    }
    const at = out + ((<usize>row) << 3);
    store<f64>(at, a);
    store<f64>(at, b, 8);
    store<f64>(at, c, 16);
    store<f64>(at, e, 24);
  }
  for (; row < count; row++) {
    const p = rows + <usize>row * stride;
    let a: f64 = 0;
    for (let o: usize = 0; o < end; o += 8) a += load<f64>(p + o) * load<f64>(vector + o);
    store<f64>(out + ((<usize>row) << 3), a);
  }
}

/** Subtracts `vector` from rows of n doubles, multiplied by the factor of each row. Rows are d doubles apart. */
export function subtractMultiples(rows: usize, count: i32, d: i32, factors: usize, vector: usize, n: i32): void {
  const stride = (<usize>d) << 3;
  const end = (<usize>n) << 3;
  for (let row = 0; row < count; row++) {
    const p = rows + <usize>row * stride;
    const factor = load<f64>(factors + ((<usize>row) << 3));
    const f = f64x2.splat(factor);
    let o: usize = 0;
    for (; o + 16 <= end; o += 16) {
      v128.store(p + o, f64x2.sub(v128.load(p + o), f64x2.mul(f, v128.load(vector + o))));
    }
    if (o < end) store<f64>(p + o, load<f64>(p + o) - factor * load<f64>(vector + o));
  }
}

/**
 * Adds `value` to `sums[index[e]]` for every `step`-th entry e from `from` up to `to`. Appends each place whose sum was 0
 * to `touched`, which already has `count` elements. Returns its new length.
 */
export function accumulate(index: usize, from: i32, to: i32, step: i32, value: f64, sums: usize, touched: usize, count: i32): i32 {
  for (let entry = from; entry < to; entry += step) {
    const place = load<u32>(index + ((<usize>entry) << 2));
    const at = sums + ((<usize>place) << 2);
    const sum = load<f32>(at);
    store<u32>(touched + ((<usize>count) << 2), place);
    count += i32(sum == 0);
    store<f32>(at, <f32>(<f64>sum + value));
  }
  return count;
}

/** For each of the rows, adds its float in `values` to `out` at the entries of the row, and marks the blocks of these. */
export function addEntries(rows: usize, count: i32, start: usize, index: usize, values: usize, out: usize, marked: usize): void {
  for (let at = 0; at < count; at++) {
    const row = (<usize>load<u32>(rows + ((<usize>at) << 2))) << 2;
    const value = load<f32>(values + row);
    const end = index + ((<usize>load<u32>(start + row, 4)) << 2);
    for (let entry = index + ((<usize>load<u32>(start + row)) << 2); entry < end; entry += 4) {
      const place = load<u32>(entry);
      const to = out + ((<usize>place) << 2);
      store<f32>(to, load<f32>(to) + value);
      store<u8>(marked + (<usize>place / BLOCK), 1);
    }
  }
}

/** Multiplies the floats of the marked blocks by others. */
export function multiplyMarked(values: usize, factors: usize, marked: usize, blocks: i32): void {
  for (let block: usize = 0; block < <usize>blocks; block++) {
    if (load<u8>(marked + block) == 0) continue;
    const from = block * (BLOCK << 2);
    for (let o = from; o < from + (BLOCK << 2); o += 16) {
      v128.store(values + o, f32x4.mul(v128.load(values + o), v128.load(factors + o)));
    }
  }
}
