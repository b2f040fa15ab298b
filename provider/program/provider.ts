import * as pulumi from "@pulumi/pulumi";
import { type SettingKey, secretKeys } from "../../client/settings";
import { currentBinding, toPlugin } from "./binding";

/** Arguments of a `Provider`: the keys of the configuration. */
export type ProviderArgs = { readonly [Key in SettingKey]?: pulumi.Input<string> };

/**
 * A connection to a service, for the resources that you pass it to as the option `provider`. All other resources use
 * the configured service.
 */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ProviderArgs = {}, options: pulumi.ResourceOptions = {}) {
    if (currentBinding() === "dynamic") {
      throw new pulumi.RunError(
        `Cannot create Provider ${name}: dynamic resources always use the configured service. Explicit providers need the plugin. ${toPlugin}`,
      );
    }
    const additionalSecretOutputs = [...secretKeys];
    super("recommender", name, args, { ...options, additionalSecretOutputs } as pulumi.ResourceOptions);
  }
}
