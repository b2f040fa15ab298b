import { type Command, Option } from "commander";
import type { Client, Clients } from "../../service";
import { type DataOptions, dataDirectoryOf, storeOption, withDataDirectory } from "../stack/data-directory";
import { table } from "../terminal/layout";
import { commaSeparated } from "../terminal/option-values";
import { examples, formatTime, type OutputOptions, print } from "../terminal/output";

const scopesHelp = `
A scope is the path of an operation, as in /create-project, or a group:
  read       read datasets, jobs and models
  write      create, change and delete
  recommend  /recommend-items-to-user
  metrics    /metrics and /status
  all        all of these
A Pulumi program needs read,write and, for deployment checks, recommend.
`;

interface ClientOptions extends DataOptions, OutputOptions {
  readonly store?: string;
  readonly scopes: readonly string[];
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
  const scopes = () =>
    new Option("--scopes <scopes>", "comma-separated paths and groups")
      .argParser(commaSeparated)
      .makeOptionMandatory();

  command("add <name>", "Add a client. Its secret is shown only once; the service stores a hash.")
    .addOption(scopes())
    .addHelpText(
      "after",
      `${scopesHelp}\nExamples:\n  recommender clients add ci --scopes read,write,recommend` +
        "\n  recommender clients add shop --scopes recommend,/upsert-dataset-events" +
        "\n  recommender clients add ci --scopes all --store postgres://db/recommender",
    )
    .action(add);
  command("list", "List the clients and their scopes.")
    .addHelpText("after", examples("clients list", "clients list --stack dev --json"))
    .action(list);
  command("update <name>", "Replace the scopes of a client. Its secret stays valid.")
    .addOption(scopes())
    .addHelpText("after", `${scopesHelp}\nExamples:\n  recommender clients update ci --scopes read`)
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

async function add(name: string, options: ClientOptions): Promise<void> {
  const { secret, ...client } = await usingClients(options, (clients) => clients.add(name, options.scopes));
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
  const client = await usingClients(options, (clients) => clients.update(name, options.scopes));
  const scopes = await scopesText(client);
  print(options, client, () => `Client ${name} has the scopes ${scopes}\n`);
}

async function revoke(name: string, options: ClientOptions): Promise<void> {
  const client = await usingClients(options, (clients) => clients.revoke(name));
  print(options, { revoked: client }, () => `Revoked client ${name}\n`);
}

async function scopesText({ scopes }: Client): Promise<string> {
  const { foldScopes } = await import("../../service/index.js");
  return foldScopes(scopes).join(", ");
}
