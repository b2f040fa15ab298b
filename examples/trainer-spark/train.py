"""Trains a recommender by ALS of Apache Spark: a trainer for `recommender serve --trainer`.

It reads what docs/training.md describes and writes what docs/model-format.md describes.
"""

import hashlib
import json
import os
import struct
import sys

import numpy as np
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession


def settings(given, interactions, users, items):
    """The parameters of Spark that stand for those of G1; what is not given has a value that does well in most cases.

    G1 weighs a pair by its share of the average weight and an unobserved one by alpha; Spark weighs a pair by alpha
    times its weight and an unobserved one by 1. G1's regularisation of a vector grows with the weight of all its
    pairs, Spark's with their number: the two are equal for a user with an average number of items.
    """
    pairs, total = interactions
    alpha = 1 / (given["alpha"] * total / pairs) if "alpha" in given else 1.0
    regularization = 0.15
    if "regularization" in given:
        unobserved = pairs / (alpha * total)
        own = pairs / users
        whole = (own + unobserved * items) ** given.get("regularization_exponent", 1)
        regularization = given["regularization"] * whole / (unobserved * own)
    return {
        "rank": given.get("dimensions", 64),
        "maxIter": given.get("epochs", 10),
        "alpha": alpha,
        "regParam": regularization,
    }


def column_arrays(frame, dtypes):
    """The columns of a table as arrays: packed where the rows are, so that Python here has no object per row."""

    def packed(rows):
        rows = list(rows)
        yield [np.array([row[at] for row in rows], dtype).tobytes() for at, dtype in enumerate(dtypes)]

    parts = frame.rdd.mapPartitions(packed).collect()
    return [np.frombuffer(b"".join(part[at] for part in parts), dtype) for at, dtype in enumerate(dtypes)]


def vectors(frame, count, rank):
    """The factors as a matrix; zeros for those who had no interactions."""

    def packed(rows):
        rows = list(rows)
        yield np.array([row[0] for row in rows], "<i4").tobytes(), np.array([row[1] for row in rows], "<f4").tobytes()

    matrix = np.zeros((count, rank), "<f4")
    for ids, values in frame.rdd.mapPartitions(packed).collect():
        matrix[np.frombuffer(ids, "<i4")] = np.frombuffer(values, "<f4").reshape(-1, rank)
    return matrix


def texts(name, values):
    encoded = [value.encode() for value in values]
    return {
        f"{name}_lengths": np.array([len(one) for one in encoded], "<u4"),
        f"{name}_bytes": np.frombuffer(b"".join(encoded), "u1"),
    }


def write_model(file, header, sections):
    dtypes = {"<f4": "float32", "<u4": "uint32", "|u1": "uint8"}
    described, offset = {}, 0
    for name, values in sections.items():
        data = values.tobytes()
        described[name] = {
            "dtype": dtypes[values.dtype.str],
            "shape": list(values.shape),
            "offset": offset,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        offset += -(-len(data) // 64) * 64
    text = json.dumps({**header, "sections": described}).encode()
    file.write(b"recmodel" + struct.pack("<Q", len(text)) + hashlib.sha256(text).digest() + text)
    file.write(bytes(-(48 + len(text)) % 64))
    for values in sections.values():
        data = values.tobytes()
        file.write(data + bytes(-len(data) % 64))


def main():
    with open(os.environ["RECOMMENDER_PARAMETERS"]) as file:
        job = json.load(file)
    # The workers' Python needs numpy too; where it is another one, PYSPARK_PYTHON names it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(f"recommender {job['job_id']}").config("spark.ui.enabled", False)
    if "SPARK_MASTER" in os.environ:
        builder = builder.master(os.environ["SPARK_MASTER"])
    spark = builder.getOrCreate()

    interactions = spark.read.parquet(os.environ["RECOMMENDER_INTERACTIONS"])
    users, items, weights = column_arrays(interactions.orderBy("user", "item"), ["<i4", "<u4", "<f4"])
    user_ids, item_ids = (
        [row.id for row in spark.read.parquet(os.environ[name]).select("index", "id").orderBy("index").collect()]
        for name in ("RECOMMENDER_USERS", "RECOMMENDER_ITEMS")
    )
    active = len(np.unique(users)), len(np.unique(items))
    chosen = settings(job["algorithm_parameters"], (len(weights), float(weights.sum(dtype="f8"))), *active)
    print(f"{len(weights)} interactions of {active[0]} users with {active[1]} items: {chosen}", flush=True)

    als = ALS(userCol="user", itemCol="item", ratingCol="weight", implicitPrefs=True, seed=1, **chosen)
    model = als.fit(interactions)

    header = {
        "kind": "recommendation-model",
        "version": 1,
        "algorithm": "spark-als",
        "parameters": chosen,
        "report": None,
        "users": job["users"],
        "items": job["items"],
        "dimensions": chosen["rank"],
        "gram": "any",
        "fold_in": {
            "rule": "spark-als-implicit",
            "alpha": chosen["alpha"],
            "regularization": chosen["regParam"],
        },
        "user_attributes": None,
        "item_attributes": None,
    }
    starts = np.zeros(job["users"] + 1, "<u4")
    starts[1:] = np.cumsum(np.bincount(users, minlength=job["users"]))
    sections = {
        **texts("user_id", user_ids),
        **texts("item_id", item_ids),
        "user_vectors": vectors(model.userFactors, job["users"], chosen["rank"]),
        "item_vectors": vectors(model.itemFactors, job["items"], chosen["rank"]),
        "interaction_starts": starts,
        "interaction_items": items,
        "interaction_weights": weights,
    }
    with open(os.environ["RECOMMENDER_MODEL"], "wb") as file:
        write_model(file, header, sections)
    spark.stop()


if __name__ == "__main__":
    main()
