package recordshop;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.recommender.*;
import com.pulumi.recommender.enums.AttributeHandling;
import com.pulumi.recommender.enums.QueryType;
import com.pulumi.recommender.inputs.*;
import java.util.Map;
import java.util.Optional;

/** The quick start in Java. */
public class App {
    public static void main(String[] args) {
        Pulumi.run(App::shop);
    }

    static void shop(Context ctx) {
        // A small record shop: users, items and events.
        var users = new UserDataset("users", UserDatasetArgs.builder()
            .numShards(1)
            .attributeSchema(Map.of("age", AttributeHandling.Numerical, "country", AttributeHandling.Categorical))
            .build());
        var items = new ItemDataset("items", ItemDatasetArgs.builder()
            .numShards(1)
            .attributeSchema(Map.of("genre", AttributeHandling.Categorical, "year", AttributeHandling.Numerical))
            .build());
        var events = new EventDataset("events", EventDatasetArgs.builder().numShards(1).build());

        var userRecords = new UserRecords("users", UserRecordsArgs.builder()
            .userDatasetId(users.id())
            .source("../quickstart/data/users.csv")
            .build());
        var itemRecords = new ItemRecords("items", ItemRecordsArgs.builder()
            .itemDatasetId(items.id())
            .source("../quickstart/data/items.csv")
            .build());
        var eventRecords = new EventRecords("events", EventRecordsArgs.builder()
            .eventDatasetId(events.id())
            .source("../quickstart/data/events.csv")
            .build());

        var project = new Project("record-shop", ProjectArgs.builder()
            .userDatasetId(users.id())
            .itemDatasetId(items.id())
            .eventDatasetId(events.id())
            .targetEventType("purchase")
            .build());
        var algorithm = new Algorithm("g1", AlgorithmArgs.builder().projectId(project.id()).build());

        // Trained again only if one of the files changes.
        var model = new TrainedModel("weekly", TrainedModelArgs.builder()
            .projectId(project.id())
            .algorithmId(algorithm.id())
            .triggers(userRecords.contentHash(), itemRecords.contentHash(), eventRecords.contentHash())
            .build());

        // A new model takes over without downtime. If it fails the check, the deployment rolls back to the previous model.
        var live = new DeployedModel("live", DeployedModelArgs.builder()
            .projectId(project.id())
            .generatorModelId(model.modelId())
            .qps(10)
            .check(DeploymentCheckArgs.builder().userIds("ada").minResults(3).build())
            .rollback(true)
            .build());

        // Questions about the users.
        var jazzLovers = new UserQueryResult("jazz-lovers", UserQueryResultArgs.builder()
            .projectId(project.id())
            .modelId(model.modelId())
            .queryType(QueryType.UserList)
            .queries(QueryArgs.builder()
                .conditions(UsageConditionArgs.builder().attribute("genre").value("jazz").lowerBound(0.5).build())
                .build())
            .build());
        var groups = new UserClusteringResult("groups", UserClusteringResultArgs.builder()
            .projectId(project.id())
            .modelId(model.modelId())
            .parameters(ClusteringParametersArgs.builder().minUserNum(3).build())
            .build());

        var forAda = RecommenderFunctions.recommend(RecommendArgs.builder()
            .userId("ada")
            .attributes("title", "genre")
            .limit(3)
            .servingUri(live.servingUri().applyValue(Optional::orElseThrow))
            .build());

        ctx.export("servingUri", live.servingUri());
        ctx.export("quality", model.quality());
        ctx.export("jazzLoversUrl", jazzLovers.downloadUrl());
        ctx.export("groupsUrl", groups.downloadUrl());
        ctx.export("forAda", forAda.applyValue(answer -> answer.results()));
    }
}
