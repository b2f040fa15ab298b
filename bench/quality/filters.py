"""Closed forms beside which the service is measured: prints the first items of every user, as JSON on both sides."""

import json
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import svds

given = json.load(sys.stdin)
ones = np.ones(len(given["rows"]), dtype=np.float32)
known = csr_matrix((ones, (given["rows"], given["columns"])), shape=given["shape"])
known.data[:] = 1


def graph_filter(known, share, size=256):
    """GF-CF: the linear part of a graph filter and, with a share, its low-pass part."""
    users = np.maximum(np.asarray(known.sum(1)).ravel(), 1)
    items = np.maximum(np.asarray(known.sum(0)).ravel(), 1)
    scaled = diags(users**-0.5) @ known @ diags(items**-0.5)
    linear = (scaled.T @ scaled).tocsr()
    low = None
    if share:
        _, _, rows = svds(scaled.astype(np.float32), k=min(size, min(known.shape) - 1), random_state=1)
        low = (rows / np.sqrt(items)).T, rows * np.sqrt(items)
    for from_ in range(0, known.shape[0], 512):
        part = known[from_ : from_ + 512]
        scores = (part @ linear).toarray()
        yield scores if low is None else scores + share * (part @ low[0]) @ low[1]


def ease(known, penalty):
    """EASE: a linear model of items by items without their own weight."""
    gram = (known.T @ known).toarray().astype(np.float64)
    gram[np.diag_indices_from(gram)] += penalty
    inverse = np.linalg.inv(gram)
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    for from_ in range(0, known.shape[0], 512):
        yield known[from_ : from_ + 512] @ weights


def first(parts):
    ranked = []
    for part in parts:
        scores = np.asarray(part)
        from_ = len(ranked)
        own = known[from_ : from_ + scores.shape[0]].nonzero()
        scores[own] = -np.inf
        ranked.extend(np.argsort(-scores, axis=1, kind="stable")[:, : given["cut"]].tolist())
    return ranked


answers = []
for point in given["grid"]:
    began = time.perf_counter()
    of = graph_filter(known, point["share"]) if point["kind"] == "graph filter" else ease(known, point["penalty"])
    ranked = first(of)
    answers.append({"seconds": time.perf_counter() - began, "ranked": ranked})
json.dump(answers, sys.stdout)
