module record-shop

go 1.25

require (
	github.com/pulumi/pulumi/sdk/v3 v3.228.0
	pulumi-recommender/sdk/go v0.2.0
)

// Where `npm run sdk -- go` writes it.
replace pulumi-recommender/sdk/go => ../../sdk/go
