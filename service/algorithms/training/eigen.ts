const MAX_SWEEPS = 30;
const PRECISION = 1e-7;

/** Eigenvectors of a symmetric matrix. */
export interface Eigen {
  /** Their matrix, one eigenvector per column. */
  readonly vectors: Float64Array;
  readonly values: Float64Array;
}

/** Finds the eigenvectors of a symmetric matrix, of which the upper triangle is read, by Jacobi's rotations. */
export function eigenOf(upper: ArrayLike<number>, size: number): Eigen {
  const matrix = Float64Array.from({ length: size * size }, (_, at) => {
    const i = Math.floor(at / size);
    const j = at % size;
    return upper[i <= j ? at : j * size + i] as number;
  });
  // Rows are rotated, because they lie together in memory: row k becomes eigenvector k.
  const rows = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  for (let sweep = 0, rotated = true; rotated && sweep < MAX_SWEEPS; sweep++) {
    rotated = false;
    for (let p = 0; p < size - 1; p++) {
      for (let q = p + 1; q < size; q++) {
        const off = matrix[p * size + q] as number;
        const pp = matrix[p * size + p] as number;
        const qq = matrix[q * size + q] as number;
        if (Math.abs(off) <= PRECISION * Math.sqrt(Math.abs(pp * qq)) || Math.abs(off) < 1e-30) continue;
        rotated = true;
        const theta = (qq - pp) / (2 * off);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        rotateRows(matrix, p, q, c, s, size);
        mirror(matrix, p, q, size);
        matrix[p * size + p] = pp - t * off;
        matrix[q * size + q] = qq + t * off;
        matrix[p * size + q] = 0;
        matrix[q * size + p] = 0;
        rotateRows(rows, p, q, c, s, size);
      }
    }
  }
  const vectors = Float64Array.from(
    { length: size * size },
    (_, at) => rows[(at % size) * size + Math.floor(at / size)] as number,
  );
  return { vectors, values: Float64Array.from({ length: size }, (_, i) => matrix[i * size + i] as number) };
}

function rotateRows(of: Float64Array, p: number, q: number, c: number, s: number, size: number): void {
  for (let k = 0, i = p * size, j = q * size; k < size; k++, i++, j++) {
    const a = of[i] as number;
    const b = of[j] as number;
    of[i] = c * a - s * b;
    of[j] = s * a + c * b;
  }
}

/** Copies rows p and q to the columns p and q: away from the crossing of the two, a rotated matrix is symmetric. */
function mirror(of: Float64Array, p: number, q: number, size: number): void {
  for (let k = 0; k < size; k++) {
    of[k * size + p] = of[p * size + k] as number;
    of[k * size + q] = of[q * size + k] as number;
  }
}
