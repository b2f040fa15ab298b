import { type Command, Option } from "commander";
import type { Client, Clients } from "../../service";
import { type DataDirectoryOptions, dataDirectoryOf, withDataDirectory } from "../stack/data-directory";
import { table } from "../terminal/layout";
import { postgresUrl, commaSeparated as words } from "../terminal/option-values";
import { formatTime, type OutputOptions, print } from "../terminal/output";

const scopesHelp = `
A scope is the path of an operation, as in /create-project, or a group of them:
  read       what is there: datasets, jobs, models
  write      everything that creates, changes or deletes
  recommend  /recommend-items-to-user
  metrics    /metrics and /status
  all        all of these
A Pulumi program needs read,write and, for the check of a deployment, recommend.
`;

interface ClientOptions extends DataDirectoryOptions, OutputOptions {
  readonly store?: string;
  readonly scopes: readonly string[];
}

/** Adds `recommender clients`. */
export function addClients(program: Command): void {
  const clients = program
    .command("clients")
    .description("Give others access to the service, each with a secret and scopes of its own.")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender clients list\n  recommender clients add --help\n  recommender clients revoke ci",
    );
  const command = (usage: string, description: string) =>
    withDataDirectory(clients.command(usage).description(description))
      .addOption(
        new Option("--store <url>", "PostgreSQL database of the service instead of a folder")
          .env("RECOMMENDER_STORE")
          .argParser(postgresUrl)
          .conflicts(["data", "stack", "cwd"]),
      )
      .option("--json", "print one line of JSON");
  const scopes = () =>
    new Option("--scopes <scopes>", "paths and groups, separated by commas")
      .argParser(words)
      .makeOptionMandatory();

  command("add <name>", "Add a client. Its secret is shown this once; the service keeps only a hash.")
    .addOption(scopes())
    .addHelpText(
      "after",
      `${scopesHelp}\nExamples:\n  recommender clients add ci --scopes read,write,recommend` +
        "\n  recommender clients add shop --scopes recommend,/upsert-dataset-events" +
        "\n  recommender clients add ci --scopes all --store postgres://db/recommender",
    )
    .action(add);
  command("list", "List the clients and their scopes.")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender clients list\n  recommender clients list --stack dev --json",
    )
    .action(list);
  command("update <name>", "Give a client other scopes in place of those it has; its secret stays.")
    .addOption(scopes())
    .addHelpText("after", `${scopesHelp}\nExamples:\n  recommender clients update ci --scopes read`)
    .action(update);
  command("revoke <name>", "Remove a client: its secret and all of its tokens end at once.")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender clients revoke ci\n  recommender clients revoke ci --data ./other --json",
    )
    .action(revoke);
}

/** Loaded here and not above, so that `--help` comes at once. */
async function using<T>(options: ClientOptions, work: (clients: Clients) => Promise<T>): Promise<T> {
  const { withClients } = await import("../../service/index.js");
  const { store } = options;
  return withClients(store === undefined ? { dataDir: await dataDirectoryOf(options) } : { store }, work);
}

async function add(name: string, options: ClientOptions): Promise<void> {
  const { secret, ...client } = await using(options, (clients) => clients.add(name, options.scopes));
  const scopes = await shown(client);
  print(options, { ...client, secret }, () =>
    [
      `Added the client ${name} with ${scopes}. Its secret, which cannot be shown again:`,
      "",
      secret,
      "",
      `It goes with the client_id ${name} to /oauth/token, and is the APIKey of all calls. For Pulumi: ` +
        `recommender:clientId is ${name}, recommender:apiKey is the secret.`,
      "",
    ].join("\n"),
  );
}

async function list(options: ClientOptions): Promise<void> {
  const found = await using(options, (clients) => clients.list());
  const rows = await Promise.all(
    found.map(async (client) => [client.name, formatTime(client.createdTs) ?? "", await shown(client)]),
  );
  print(options, { clients: found }, () =>
    rows.length === 0
      ? "There are no clients; the service's own key may do everything.\n"
      : table(["NAME", "CREATED", "SCOPES"], rows),
  );
}

async function update(name: string, options: ClientOptions): Promise<void> {
  const client = await using(options, (clients) => clients.update(name, options.scopes));
  const scopes = await shown(client);
  print(options, client, () => `The client ${name} has ${scopes}\n`);
}

async function revoke(name: string, options: ClientOptions): Promise<void> {
  const client = await using(options, (clients) => clients.revoke(name));
  print(options, { revoked: client }, () => `Revoked the client ${name}\n`);
}

async function shown({ scopes }: Client): Promise<string> {
  const { foldScopes } = await import("../../service/index.js");
  return foldScopes(scopes).join(", ");
}
