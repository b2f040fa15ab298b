/** Eigenvectors of a symmetric matrix. */
export interface Eigen {
  /** Their matrix, one eigenvector per column. */
  readonly vectors: Float64Array;
  readonly values: Float64Array;
}

/** A tridiagonal matrix that a symmetric one was turned into; row k of `rows` is what the k-th axis has become. */
interface Tridiagonal {
  readonly diagonal: Float64Array;
  /** Beside the diagonal: the k-th element lies between k and k + 1. */
  readonly beside: Float64Array;
  readonly rows: Float64Array;
}

const MAX_TURNS = 60;

/**
 * Finds the eigenvectors of a symmetric matrix, of which the upper triangle is read: reflections make it tridiagonal,
 * rotations make that diagonal (Golub, Van Loan: Matrix Computations, 8.3: the implicit QL form of the algorithm).
 */
export function eigenOf(upper: ArrayLike<number>, size: number): Eigen {
  const { diagonal, beside, rows } = tridiagonalize(upper, size);
  // Rounding leaves as much anywhere, however small what lies around it: where vectors are fewer than dimensions,
  // much of the matrix is nothing else.
  const nothing = Number.EPSILON * largestOf(diagonal, beside);
  for (let low = 0; low < size; low++) {
    let high = blockEnd(beside, low, nothing);
    for (let turn = 0; high > low; turn++) {
      // A few turns are enough for numbers; what is not a number never settles.
      if (turn === MAX_TURNS) throw new Error("the training diverged: a matrix of it has no eigenvectors");
      turnBlock(diagonal, beside, rows, low, high);
      high = blockEnd(beside, low, nothing);
    }
  }
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) vectors[k * size + i] = rows[i * size + k] as number;
  }
  return { vectors, values: diagonal };
}

/** Reflects the axes one after another, each so that its row has nothing beyond the element beside the diagonal. */
function tridiagonalize(upper: ArrayLike<number>, size: number): Tridiagonal {
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++)
      matrix[i * size + j] = matrix[j * size + i] = upper[i * size + j] as number;
  }
  const beside = new Float64Array(size);
  const scales = new Float64Array(size);
  const product = new Float64Array(size);
  for (let k = 0; k < size - 1; k++) {
    // The mirror of a reflection takes the place of the row that it clears.
    const mirror = matrix.subarray(k * size, (k + 1) * size);
    const from = k + 1;
    const first = mirror[from] as number;
    const beyond = dot(mirror, 0, mirror, 0, from + 1, size);
    if (beyond === 0) {
      beside[k] = first;
      continue;
    }
    const length = Math.sqrt(first * first + beyond);
    const reflected = first > 0 ? -length : length;
    beside[k] = reflected;
    mirror[from] = first - reflected;
    const scale = 1 / (length * length - first * reflected);
    scales[k] = scale;
    for (let i = from; i < size; i++) product[i] = scale * dot(matrix, i * size, mirror, 0, from, size);
    const half = (scale / 2) * dot(product, 0, mirror, 0, from, size);
    for (let i = from; i < size; i++) product[i] = (product[i] as number) - half * (mirror[i] as number);
    for (let i = from; i < size; i++) {
      add(matrix, i * size, product, -(mirror[i] as number), from, size);
      add(matrix, i * size, mirror, -(product[i] as number), from, size);
    }
  }
  const diagonal = Float64Array.from({ length: size }, (_, i) => matrix[i * size + i] as number);
  return { diagonal, beside, rows: reflectAxes(matrix, scales, size) };
}

/** Does all reflections to the axes. Those that a reflection does not reach yet are left out. */
function reflectAxes(mirrors: Float64Array, scales: Float64Array, size: number): Float64Array {
  const rows = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  for (let k = size - 2; k >= 0; k--) {
    if (scales[k] === 0) continue;
    const mirror = mirrors.subarray(k * size, (k + 1) * size);
    for (let i = k + 1; i < size; i++) {
      const share = (scales[k] as number) * dot(rows, i * size, mirror, 0, k + 1, size);
      add(rows, i * size, mirror, -share, k + 1, size);
    }
  }
  return rows;
}

/** The last row that is still tied to this one. */
function blockEnd(beside: Float64Array, low: number, nothing: number): number {
  let high = low;
  while (high < beside.length - 1 && !(Math.abs(beside[high] as number) <= nothing)) high++;
  return high;
}

function largestOf(...arrays: readonly Float64Array[]): number {
  return arrays.flatMap((array) => [...array]).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** One pass of rotations from the end of a block to its beginning, with Wilkinson's shift. */
function turnBlock(
  diagonal: Float64Array,
  beside: Float64Array,
  rows: Float64Array,
  low: number,
  high: number,
): void {
  const size = diagonal.length;
  const off = beside[low] as number;
  const slope = ((diagonal[low + 1] as number) - (diagonal[low] as number)) / (2 * off);
  const shift = off / (slope + Math.sign(slope || 1) * Math.sqrt(slope * slope + 1));
  let ahead = (diagonal[high] as number) - (diagonal[low] as number) + shift;
  let [sine, cosine, moved] = [1, 1, 0];
  for (let i = high - 1; i >= low; i--) {
    const across = sine * (beside[i] as number);
    const along = cosine * (beside[i] as number);
    const length = Math.sqrt(across * across + ahead * ahead);
    beside[i + 1] = length;
    if (length === 0) {
      diagonal[i + 1] = (diagonal[i + 1] as number) - moved;
      beside[high] = 0;
      return;
    }
    sine = across / length;
    cosine = ahead / length;
    const next = (diagonal[i + 1] as number) - moved;
    const gap = ((diagonal[i] as number) - next) * sine + 2 * cosine * along;
    moved = sine * gap;
    diagonal[i + 1] = next + moved;
    ahead = cosine * gap - along;
    rotate(rows, i * size, (i + 1) * size, cosine, sine, size);
  }
  diagonal[low] = (diagonal[low] as number) - moved;
  beside[low] = ahead;
  beside[high] = 0;
}

function rotate(of: Float64Array, i: number, j: number, cosine: number, sine: number, size: number): void {
  for (let k = 0; k < size; k++) {
    const a = of[i + k] as number;
    const b = of[j + k] as number;
    of[i + k] = cosine * a - sine * b;
    of[j + k] = sine * a + cosine * b;
  }
}

function dot(a: Float64Array, atA: number, b: Float64Array, atB: number, from: number, to: number): number {
  let sum = 0;
  for (let k = from; k < to; k++) sum += (a[atA + k] as number) * (b[atB + k] as number);
  return sum;
}

/** Adds so many times the one vector to a row. */
function add(
  to: Float64Array,
  at: number,
  vector: Float64Array,
  times: number,
  from: number,
  end: number,
): void {
  for (let k = from; k < end; k++) to[at + k] = (to[at + k] as number) + times * (vector[k] as number);
}
