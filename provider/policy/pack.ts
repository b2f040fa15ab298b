// policy/ is a policy pack for `pulumi preview --policy-pack`. It checks the resources of both bindings.

import { PolicyPack } from "@pulumi/policy";
import { policies } from "./policies";

new PolicyPack("recommender", { policies });
