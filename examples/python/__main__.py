"""The quick start in Python."""

import pulumi
import pulumi_recommender as recommender

# A small record shop: users, items and events.
users = recommender.UserDataset(
    "users", num_shards=1, attribute_schema={"age": "NUMERICAL", "country": "CATEGORICAL"}
)
items = recommender.ItemDataset(
    "items", num_shards=1, attribute_schema={"genre": "CATEGORICAL", "year": "NUMERICAL"}
)
events = recommender.EventDataset("events", num_shards=1)

user_records = recommender.UserRecords(
    "users", user_dataset_id=users.id, source="../quickstart/data/users.csv"
)
item_records = recommender.ItemRecords(
    "items", item_dataset_id=items.id, source="../quickstart/data/items.csv"
)
event_records = recommender.EventRecords(
    "events", event_dataset_id=events.id, source="../quickstart/data/events.csv"
)

project = recommender.Project(
    "record-shop",
    user_dataset_id=users.id,
    item_dataset_id=items.id,
    event_dataset_id=events.id,
    target_event_type="purchase",
)
algorithm = recommender.Algorithm("g1", project_id=project.id)

# Trained again only if one of the files changes.
model = recommender.TrainedModel(
    "weekly",
    project_id=project.id,
    algorithm_id=algorithm.id,
    triggers=[user_records.content_hash, item_records.content_hash, event_records.content_hash],
)

# A new model takes over without downtime. If it fails the check, the deployment rolls back to the previous model.
live = recommender.DeployedModel(
    "live",
    project_id=project.id,
    generator_model_id=model.model_id,
    qps=10,
    check={"user_ids": ["ada"], "min_results": 3},
    rollback=True,
)

# Questions about the users.
jazz_lovers = recommender.UserQueryResult(
    "jazz-lovers",
    project_id=project.id,
    model_id=model.model_id,
    query_type=recommender.QueryType.USER_LIST,
    queries=[{"conditions": [{"attribute": "genre", "value": "jazz", "lower_bound": 0.5}]}],
)
groups = recommender.UserClusteringResult(
    "groups", project_id=project.id, model_id=model.model_id, parameters={"min_user_num": 3}
)

for_ada = recommender.recommend_output(
    user_id="ada", attributes=["title", "genre"], limit=3, serving_uri=live.serving_uri
)

pulumi.export("servingUri", live.serving_uri)
pulumi.export("quality", model.quality)
pulumi.export("jazzLoversUrl", jazz_lovers.download_url)
pulumi.export("groupsUrl", groups.download_url)
pulumi.export("forAda", for_ada.results)
