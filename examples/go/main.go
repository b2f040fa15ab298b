// The quick start in Go.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"pulumi-recommender/sdk/go/recommender"
)

func main() {
	pulumi.Run(shop)
}

func shop(ctx *pulumi.Context) error {
	// A small record shop: users, items and events.
	users, err := recommender.NewUserDataset(ctx, "users", &recommender.UserDatasetArgs{
		NumShards: pulumi.Int(1),
		AttributeSchema: recommender.AttributeHandlingMap{
			"age":     recommender.AttributeHandlingNumerical,
			"country": recommender.AttributeHandlingCategorical,
		},
	})
	if err != nil {
		return err
	}
	items, err := recommender.NewItemDataset(ctx, "items", &recommender.ItemDatasetArgs{
		NumShards: pulumi.Int(1),
		AttributeSchema: recommender.AttributeHandlingMap{
			"genre": recommender.AttributeHandlingCategorical,
			"year":  recommender.AttributeHandlingNumerical,
		},
	})
	if err != nil {
		return err
	}
	events, err := recommender.NewEventDataset(ctx, "events", &recommender.EventDatasetArgs{
		NumShards: pulumi.Int(1),
	})
	if err != nil {
		return err
	}

	userRecords, err := recommender.NewUserRecords(ctx, "users", &recommender.UserRecordsArgs{
		UserDatasetId: users.ID(),
		Source:        pulumi.String("../quickstart/data/users.csv"),
	})
	if err != nil {
		return err
	}
	itemRecords, err := recommender.NewItemRecords(ctx, "items", &recommender.ItemRecordsArgs{
		ItemDatasetId: items.ID(),
		Source:        pulumi.String("../quickstart/data/items.csv"),
	})
	if err != nil {
		return err
	}
	eventRecords, err := recommender.NewEventRecords(ctx, "events", &recommender.EventRecordsArgs{
		EventDatasetId: events.ID(),
		Source:         pulumi.String("../quickstart/data/events.csv"),
	})
	if err != nil {
		return err
	}

	project, err := recommender.NewProject(ctx, "record-shop", &recommender.ProjectArgs{
		UserDatasetId:   users.ID(),
		ItemDatasetId:   items.ID(),
		EventDatasetId:  events.ID(),
		TargetEventType: pulumi.String("purchase"),
	})
	if err != nil {
		return err
	}
	algorithm, err := recommender.NewAlgorithm(ctx, "g1", &recommender.AlgorithmArgs{
		ProjectId: project.ID(),
	})
	if err != nil {
		return err
	}

	// Trained again only if one of the files changes.
	model, err := recommender.NewTrainedModel(ctx, "weekly", &recommender.TrainedModelArgs{
		ProjectId:   project.ID(),
		AlgorithmId: algorithm.ID(),
		Triggers:    pulumi.Array{userRecords.ContentHash, itemRecords.ContentHash, eventRecords.ContentHash},
	})
	if err != nil {
		return err
	}

	// A new model takes over without downtime. If it fails the check, the deployment rolls back to the previous model.
	live, err := recommender.NewDeployedModel(ctx, "live", &recommender.DeployedModelArgs{
		ProjectId:        project.ID(),
		GeneratorModelId: model.ModelId,
		Qps:              pulumi.Int(10),
		Check: &recommender.DeploymentCheckArgs{
			UserIds:    pulumi.ToStringArray([]string{"ada"}),
			MinResults: pulumi.Int(3),
		},
		Rollback: pulumi.Bool(true),
	})
	if err != nil {
		return err
	}

	// Questions about the users.
	jazzLovers, err := recommender.NewUserQueryResult(ctx, "jazz-lovers", &recommender.UserQueryResultArgs{
		ProjectId: project.ID(),
		ModelId:   model.ModelId,
		QueryType: recommender.QueryTypeUserList,
		Queries: recommender.QueryArray{&recommender.QueryArgs{
			Conditions: recommender.UsageConditionArray{&recommender.UsageConditionArgs{
				Attribute:  pulumi.String("genre"),
				Value:      pulumi.String("jazz"),
				LowerBound: pulumi.Float64(0.5),
			}},
		}},
	})
	if err != nil {
		return err
	}
	groups, err := recommender.NewUserClusteringResult(ctx, "groups", &recommender.UserClusteringResultArgs{
		ProjectId:  project.ID(),
		ModelId:    model.ModelId,
		Parameters: &recommender.ClusteringParametersArgs{MinUserNum: pulumi.Int(3)},
	})
	if err != nil {
		return err
	}

	forAda := recommender.RecommendOutput(ctx, recommender.RecommendOutputArgs{
		UserId:     pulumi.String("ada"),
		Attributes: pulumi.ToStringArray([]string{"title", "genre"}),
		Limit:      pulumi.Int(3),
		ServingUri: live.ServingUri,
	})

	ctx.Export("servingUri", live.ServingUri)
	ctx.Export("quality", model.Quality)
	ctx.Export("jazzLoversUrl", jazzLovers.DownloadUrl)
	ctx.Export("groupsUrl", groups.DownloadUrl)
	ctx.Export("forAda", forAda.Results())
	return nil
}
