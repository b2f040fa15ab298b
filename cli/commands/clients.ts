import { type Command, Option } from "commander";
import type { Client, Clients, PageSettings } from "../../service";
import { type DataOptions, dataDirectoryOf, storeOption, withDataDirectory } from "../stack/data-directory";
import { table } from "../terminal/layout";
import { commaSeparated, wholeNumber } from "../terminal/option-values";
import { examples, formatTime, type OutputOptions, print } from "../terminal/output";

const scopesHelp = `
A scope is the path of an operation, as in /create-project, or a group:
  read       read datasets, jobs and models
  write      create, change and delete
  recommend  /recommend-items-to-user and /recommend-items-to-item
  metrics    /metrics and /status
  all        all of these
A Pulumi program needs read,write and, for deployment checks, recommend.
`;

const publicKeyHelp = `
With --origins, the client is a public key, which web pages can contain. It can
only get recommendations, for pages of these origins, without a token.
`;

interface ClientOptions extends DataOptions, OutputOptions, Partial<PageSettings> {
  readonly store?: string;
  readonly scopes?: readonly string[];
}

/** Adds `recommender clients`. */
export function addClients(program: Command): void {
  const clients = program
    .command("clients")
    .description("Manage clients of the service, each with its own secret and scopes.")
    .addHelpText("after", examples("clients list", "clients add --help", "clients revoke ci"));
  const command = (usage: string, description: string) =>
    withDataDirectory(clients.command(usage).description(description))
      .addOption(storeOption().conflicts(["data", "stack", "cwd"]))
      .option("--json", "print the result as one line of JSON");

  const withPermissions = (usage: string, description: string) =>
    command(usage, description)
      .addOption(
        new Option("--scopes <scopes>", "comma-separated paths and groups")
          .argParser(commaSeparated)
          .conflicts(["project", "origins", "attributes", "addressQps", "keyQps"]),
      )
      .addOption(
        new Option("--origins <origins>", "origins of the pages that contain the key").argParser(
          commaSeparated,
        ),
      )
      .option("--project <id>", "project of a public key, or the serving_uri of its deployment")
      .addOption(
        new Option("--attributes <names>", "item attributes that pages may read and filter by").argParser(
          commaSeparated,
        ),
      )
      .option("--address-qps <number>", "calls per second from one address (default: 10)", wholeNumber(1))
      .option("--key-qps <number>", "calls per second from all addresses together", wholeNumber(1));

  withPermissions("add <name>", "Add a client. Its secret is shown only once; the service stores a hash.")
    .addHelpText(
      "after",
      `${scopesHelp}${publicKeyHelp}\nExamples:\n  recommender clients add ci --scopes read,write,recommend` +
        "\n  recommender clients add shop --scopes recommend,/upsert-dataset-events" +
        "\n  recommender clients add ci --scopes all --store postgres://db/recommender" +
        "\n  recommender clients add page --origins https://shop.example.com \\\n    --project ID --attributes title,price",
    )
    .action(add);
  command("list", "List the clients and their scopes.")
    .addHelpText("after", examples("clients list", "clients list --stack dev --json"))
    .action(list);
  withPermissions("update <name>", "Replace what a client may do. Its secret stays valid.")
    .addHelpText(
      "after",
      `${scopesHelp}\nExamples:\n  recommender clients update ci --scopes read` +
        "\n  recommender clients update page --address-qps 10 --key-qps 200",
    )
    .action(update);
  command("revoke <name>", "Remove a client. Its secret and tokens become invalid at once.")
    .addHelpText("after", examples("clients revoke ci", "clients revoke ci --data ./other --json"))
    .action(revoke);
}

/** Runs `work` with the clients of the service. Imports the service code only now, to keep `--help` fast. */
async function usingClients<T>(options: ClientOptions, work: (clients: Clients) => Promise<T>): Promise<T> {
  const { withClients } = await import("../../service/index.js");
  const { store } = options;
  return withClients(store === undefined ? { dataDir: await dataDirectoryOf(options) } : { store }, work);
}

/** Returns the settings of a public key that the user has given. */
function pageSettings({
  project,
  origins,
  attributes,
  addressQps,
  keyQps,
}: ClientOptions): Partial<PageSettings> {
  const given = { project, origins, attributes, addressQps, keyQps };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function add(name: string, options: ClientOptions): Promise<void> {
  const { origins, project, scopes } = options;
  if (origins !== undefined && project !== undefined)
    return addPublic(name, { ...pageSettings(options), origins, project }, options);
  if (scopes === undefined)
    throw new Error(
      "Pass --scopes for a client with a secret, or --origins and --project for a public key in web pages.",
    );
  return addSecret(name, scopes, options);
}

async function addPublic(name: string, settings: PageSettings, options: ClientOptions): Promise<void> {
  const client = await usingClients(options, (clients) => clients.addPublic(name, settings));
  const { attributes } = client.pages;
  const readable = attributes.length > 0 ? attributes.join(", ") : "no item attributes";
  print(
    options,
    client,
    () =>
      `Added the public key ${name}, which is shown only now:\n\n${client.secret}\n\n` +
      `Pages of ${client.pages.origins.join(", ")} send it as APIKey, without a token. ` +
      `They can get recommendations of ${client.pages.project}, and read and filter by ${readable}.\n`,
  );
}

async function addSecret(name: string, words: readonly string[], options: ClientOptions): Promise<void> {
  const { secret, ...client } = await usingClients(options, (clients) => clients.add(name, words));
  const scopes = await scopesText(client);
  print(
    options,
    { ...client, secret },
    () =>
      `Added client ${name} with the scopes ${scopes}. Its secret, which is shown only now:\n\n${secret}\n\n` +
      `Use it with the client_id ${name} at /oauth/token, and as the APIKey of all calls. For Pulumi, set ` +
      `recommender:clientId to ${name} and recommender:apiKey to the secret.\n`,
  );
}

async function list(options: ClientOptions): Promise<void> {
  const found = await usingClients(options, (clients) => clients.list());
  const rows = await Promise.all(
    found.map(async (client) => [client.name, formatTime(client.createdTs) ?? "", await scopesText(client)]),
  );
  print(options, { clients: found }, () =>
    rows.length === 0
      ? "There are no clients. The service's own key has all scopes.\n"
      : table(["NAME", "CREATED", "SCOPES"], rows),
  );
}

async function update(name: string, options: ClientOptions): Promise<void> {
  const { scopes: words } = options;
  const settings = pageSettings(options);
  if (words === undefined && Object.keys(settings).length === 0)
    throw new Error(
      "Pass --scopes, or the settings of a public key that you want to change, such as --origins.",
    );
  const client = await usingClients(options, (clients) =>
    words === undefined ? clients.updatePublic(name, settings) : clients.update(name, words),
  );
  const scopes = await scopesText(client);
  print(options, client, () => `Client ${name} has the scopes ${scopes}\n`);
}

async function revoke(name: string, options: ClientOptions): Promise<void> {
  const client = await usingClients(options, (clients) => clients.revoke(name));
  print(options, { revoked: client }, () => `Revoked client ${name}\n`);
}

async function scopesText({ scopes, pages }: Client): Promise<string> {
  const { foldScopes } = await import("../../service/index.js");
  const folded = foldScopes(scopes).join(", ");
  return pages ? `${folded}, from pages of ${pages.origins.join(", ")}` : folded;
}
