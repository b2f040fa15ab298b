import type {
  PolicyConfigSchema,
  PolicyResource,
  ResourceValidationArgs,
  ResourceValidationPolicy,
  StackValidationPolicy,
} from "@pulumi/policy";
import { partsOf, resourceTypeOf, titleOf } from "../run/urn";

/** Returns the type of a resource of this package with either binding, such as `Model`. */
const typeOf = ({ type }: { readonly type: string }) => resourceTypeOf(type);

/** Returns the name of a resource for messages, such as `Model weekly`. */
const title = ({ urn }: { readonly urn: string }) => titleOf(partsOf(urn));

const datasetTypes = ["EventDataset", "UserDataset", "ItemDataset"];

/**
 * Types of resources that fill datasets. A project fills its datasets through the API. Messages name a resource of the
 * first of these types.
 */
const fillingTypes = ["EventRecords", "UserRecords", "ItemRecords", "Project"];

/** Datasets that hold data must be protected, because a deleted dataset cannot be restored. */
const protectDatasets: StackValidationPolicy = {
  name: "protect-datasets",
  description: "Datasets that hold data are protected.",
  enforcementLevel: "mandatory",
  validateStack({ resources }, report) {
    for (const dataset of resources) {
      if (!datasetTypes.includes(typeOf(dataset) ?? "") || dataset.opts.protect) continue;
      const [filling] = fillingTypes.flatMap((type) =>
        resources.filter((resource) => typeOf(resource) === type && refersTo(resource, dataset)),
      );
      if (!filling) continue;
      report(
        `${title(dataset)} holds data of ${title(filling)} and is not protected, so one change can delete the data. ` +
          "Set its resource option protect to true.",
        dataset.urn,
      );
    }
  },
};

function refersTo(resource: PolicyResource, { urn }: PolicyResource): boolean {
  return Object.values(resource.propertyDependencies).some((on) => on.some((each) => each.urn === urn));
}

/** Configuration of the policies that apply only to some stacks. */
const production: PolicyConfigSchema = {
  properties: {
    productionStacks: {
      type: "array",
      items: { type: "string" },
      default: ["prod", "production"],
      description: "Names of the stacks in production.",
    },
  },
};

function isInProduction({ urn, getConfig }: Pick<ResourceValidationArgs, "urn" | "getConfig">): boolean {
  return getConfig<{ productionStacks: string[] }>().productionStacks.includes(partsOf(urn).stack);
}

/** Without a check and a rollback, a bad model stays live until somebody notices. */
const checkDeployments: ResourceValidationPolicy = {
  name: "check-production-deployments",
  description: "Deployments in production have a check, and roll back if it fails.",
  enforcementLevel: "mandatory",
  configSchema: production,
  validateResource(args, report) {
    if (typeOf(args) !== "Deployment" || !isInProduction(args)) return;
    const { check, rollback } = args.props;
    if (check == null)
      report(`${title(args)} has no check. Set check to users that must get recommendations after a switch.`);
    if (rollback !== true)
      report(
        `${title(args)} does not roll back. Set rollback to true to restore the models if the check fails.`,
      );
  },
};

/** The qps of a deployment decides how much capacity one project may use. */
const capQps: ResourceValidationPolicy = {
  name: "cap-qps",
  description: "Deployments have at most the configured qps.",
  enforcementLevel: "mandatory",
  configSchema: {
    properties: {
      maxQps: { type: "integer", minimum: 1, default: 1000, description: "Highest qps of a deployment." },
    },
  },
  validateResource(args, report) {
    if (typeOf(args) !== "Deployment") return;
    const { maxQps } = args.getConfig<{ maxQps: number }>();
    const { qps } = args.props;
    if (typeof qps !== "number" || qps <= maxQps) return;
    report(
      `${title(args)} has qps ${qps}, above the limit of ${maxQps}. Lower it, or raise maxQps of this policy.`,
    );
  },
};

/** The policies of this package. */
export const policies = [protectDatasets, checkDeployments, capQps];
