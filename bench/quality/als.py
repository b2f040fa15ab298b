"""Fits implicit's ALS for each point of a grid and prints the first items of every user, as JSON on both sides."""

import json
import sys
import time

import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

# implicit starts its own threads and gets slower if the linear algebra library does so too.
threadpool_limits(1, "blas")
given = json.load(sys.stdin)
ones = np.ones(len(given["rows"]), dtype=np.float32)
known = csr_matrix((ones, (given["rows"], given["columns"])), shape=given["shape"])
answers = []
for point in given["grid"]:
    began = time.perf_counter()
    model = AlternatingLeastSquares(**point, iterations=15, random_state=1)
    model.fit(known, show_progress=False)
    seconds = time.perf_counter() - began
    ranked, _ = model.recommend(np.arange(known.shape[0]), known, N=given["cut"])
    answers.append({"seconds": seconds, "ranked": ranked.tolist()})
json.dump(answers, sys.stdout)
