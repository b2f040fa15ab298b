import * as pulumi from "@pulumi/pulumi";
import { type SettingKey, secretKeys } from "../../client/settings";
import { currentBinding, toPlugin } from "./binding";

/** What a provider is configured with: the keys of the configuration, by their names. */
export type ProviderArgs = { readonly [Key in SettingKey]?: pulumi.Input<string> };

/** A service that resources belong to which name it by the option `provider`; without it the configuration decides. */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ProviderArgs = {}, options: pulumi.ResourceOptions = {}) {
    if (currentBinding() === "dynamic") {
      throw new pulumi.RunError(
        `Provider ${name}: dynamic resources belong to the one service that is configured. ${toPlugin}`,
      );
    }
    const additionalSecretOutputs = [...secretKeys];
    super("recommender", name, args, { ...options, additionalSecretOutputs } as pulumi.ResourceOptions);
  }
}
