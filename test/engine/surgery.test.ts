import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../contract";
import { KillingGround } from "./killing";
import { ObservedService } from "./observed-service";

/** The program is JavaScript code in an environment variable. */
const program = `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const dataset = (name, options, args) => new recommender.EventDataset(name, { numShards: 1, ...args }, options);
new Function("pulumi", "dataset", process.env.PROGRAM)(pulumi, dataset);
`;

let observed: ObservedService;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start();
  ground = await KillingGround.make(program, observed.environment);
});
afterAll(async () => {
  await ground.dispose();
  await observed.close();
});

const run = (args: string[], source = "", env: Record<string, string> = {}) =>
  ground.run(args, { PROGRAM: source, ...env });
const whole = async (args: string[], source = "", env: Record<string, string> = {}) => {
  const { code, output } = await run(args, source, env);
  expect({ code, output: code ? output : "" }).toEqual({ code: 0, output: "" });
  return output;
};
const up = (stack: string, ...args: string[]) => ["up", "--yes", "--skip-preview", "--stack", stack, ...args];
const names = async (prefix: string) => {
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  return eventDatasets.flatMap(({ name }) => (name?.startsWith(prefix) ? [name] : [])).sort();
};
const changes = () => observed.calls().filter((call) => !call.startsWith("GET"));
const urnOf = (stack: string, name: string) =>
  ground.state(stack).resources.find(({ urn }) => urn.endsWith(`::${name}`))?.urn as string;

test("a resource that was moved to another stack is deleted by that stack, with any stack selected", async () => {
  for (const stack of ["there", "here"]) await ground.init(stack);
  await whole(["stack", "select", "here"]);
  await whole(up("here"), `dataset("m-moved"); dataset("m-stays")`);
  const move = ["state", "move", "--source", "here", "--dest", "there", urnOf("here", "m-moved")];
  await whole([...move, "--include-parents", "--yes"]);
  await whole(up("here"), `dataset("m-stays")`);
  expect(await names("m-")).toEqual(["m-moved", "m-stays"]);
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "there"]);
  expect(await names("m-")).toEqual(["m-stays"]);
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "here"]);
  expect(await names("m-")).toEqual([]);
});

test("a provider that is killed during a diff fails the run, which creates nothing, and the next run completes", async () => {
  await ground.init("compared");
  await whole(up("compared"), `dataset("c-one"); dataset("c-two")`);
  observed.calls();
  const many = `for (const name of ["c-one", "c-two"]) dataset(name, {}, { name: name + "-renamed" })`;
  const running = run(up("compared"), many);
  for (let isKilled = false; !isKilled; await sleep(2)) {
    try {
      ground.killProvider("SIGKILL");
      isKilled = true;
    } catch {
      // The provider has not started yet.
    }
  }
  expect((await running).code).not.toBe(0);
  expect(changes()).toEqual([]);
  await whole(up("compared"), many);
  expect(await names("c-")).toEqual(["c-one-renamed", "c-two-renamed"]);
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "compared"]);
});

test("a program in another directory is run with -C", async () => {
  await ground.init("elsewhere");
  const there = (args: string[], source = "") =>
    ground.run(["-C", ground.directory, ...args], { PROGRAM: source }, undefined, undefined, "/");
  expect(await there(up("elsewhere"), `dataset("far"); dataset("farther")`)).toMatchObject({ code: 0 });
  expect(await there(up("elsewhere"), `dataset("far")`)).toMatchObject({ code: 0 });
  expect(await names("far")).toEqual(["far"]);
  expect(await there(["destroy", "--yes", "--skip-preview", "--stack", "elsewhere"])).toMatchObject({
    code: 0,
  });
  expect(await names("far")).toEqual([]);
});

test("a resource with a new parent and an alias is not created again", async () => {
  await ground.init("parents");
  const group = `const group = new pulumi.ComponentResource("test:group", "group");`;
  await whole(up("parents"), `${group} dataset("child")`);
  const moved = `${group} dataset("child", { parent: group, aliases: [{ parent: pulumi.rootStackResource }] })`;
  observed.calls();
  await whole(up("parents"), moved);
  expect(changes()).toEqual([]);
  await whole(up("parents"), `${group} dataset("child", { parent: group })`);
  expect(changes()).toEqual([]);
  await whole(up("parents"), `${group} dataset("child")`);
  expect(changes()).toEqual(["POST /create-event-dataset", "DELETE /delete-event-dataset"]);
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "parents"]);
  expect(await names("child")).toEqual([]);
});

test("with deletedWith, the engine removes a resource from the state without a delete call", async () => {
  await ground.init("together");
  await whole(
    up("together"),
    `const first = dataset("d-first"); dataset("d-second", { deletedWith: first })`,
  );
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "together"]);
  expect(await names("d-")).toEqual(["d-second"]);
});

test("names of 10,000 characters are rejected by the service, but not by the engine", async () => {
  await ground.init("long");
  const { code, output } = await run(up("long"), `dataset("n", {}, { name: "n".repeat(10000) })`);
  expect(code).not.toBe(0);
  expect(output).toMatch(/name: expected at most \d+ characters/);
  await whole(up("long"), `dataset("n".repeat(10000), {}, { name: "short" })`);
  expect(await names("short")).toEqual(["short"]);
  await whole(["destroy", "--yes", "--skip-preview", "--stack", "long"]);
  expect(await names("short")).toEqual([]);
});
