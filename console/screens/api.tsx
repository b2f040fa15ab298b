import { useSignal } from "@preact/signals";
import { AsCode } from "../parts/as-code";
import { Block, Card } from "../parts/basics";
import { curl } from "../parts/code";
import { Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { selectedProject } from "../router";
import { RequestError, request, signInState } from "../session";

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content?: Record<string, { readonly schema?: Schema }> };
}

interface Schema {
  readonly type?: string;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly examples?: readonly unknown[];
}

interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly servers: readonly { readonly url: string }[];
}

/** The operations of the API. You can call those that the session is allowed to use. */
export function Screen() {
  const api = useLoad<OpenApi>(
    async (signal) => (await request("openapi.json", { signal })).json() as Promise<OpenApi>,
    [],
  );
  return (
    <>
      <ScreenHead
        title="API"
        lead={
          <>
            Every operation of this service, from its <a href="openapi.json">OpenAPI document</a>.
          </>
        }
      />
      <Load of={api} lines={10}>
        {({ paths, servers }) => (
          <div class="stack">
            {Object.entries(paths).flatMap(([path, methods]) =>
              Object.entries(methods).map(([method, operation]) => (
                <OneOperation
                  key={method + path}
                  path={path}
                  method={method.toUpperCase()}
                  operation={operation}
                  url={servers[0]?.url ?? ""}
                />
              )),
            )}
          </div>
        )}
      </Load>
    </>
  );
}

function OneOperation(of: { path: string; method: string; operation: Operation; url: string }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="code operation"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>
        <span class="tag accent">{of.method}</span> <code>{of.path}</code>{" "}
        <span class="muted">{of.operation.summary}</span>
      </summary>
      {isOpen.value && <TryOut {...of} />}
    </details>
  );
}

/**
 * Returns the example of the schema, or a request with the required fields that contains the id of the selected project.
 */
function exampleOf({ parameters = [], requestBody }: Operation): unknown {
  const body = requestBody?.content?.["application/json"]?.schema;
  if (body) return exampleFor("", body);
  const asked = parameters.filter((one) => one.in === "query");
  return Object.fromEntries(asked.map(({ name, schema = {} }) => [name, exampleFor(name, schema)]));
}

function exampleFor(name: string, schema: Schema): unknown {
  const { properties, required = [], items, enum: [first] = [], const: only } = schema;
  const [example] = schema.examples ?? [];
  if (example) return example;
  const [choice] = schema.oneOf ?? schema.anyOf ?? [];
  if (choice) return exampleFor(name, choice);
  if (properties)
    return Object.fromEntries(required.map((one) => [one, exampleFor(one, properties[one] ?? {})]));
  if (schema.type === "array") return items ? [exampleFor(name, items)] : [];
  if (schema.type === "object") return {};
  if (schema.type === "integer" || schema.type === "number") return schema.minimum ?? 1;
  if (schema.type === "boolean") return true;
  if (name === "project_id" && selectedProject.value) return selectedProject.value.id;
  return only ?? first ?? exampleValues[name] ?? name.toUpperCase();
}

const exampleValues: Readonly<Record<string, string>> = { user_id: "ada", name: "example" };

function TryOut({
  path,
  method,
  operation,
  url,
}: {
  path: string;
  method: string;
  operation: Operation;
  url: string;
}) {
  const text = useSignal(JSON.stringify(exampleOf(operation), null, 2));
  const answer = useSignal<string | undefined>(undefined);
  const now = signInState.value;
  const isAllowed = now.state === "in" && now.session.scopes.includes(path);
  const changes = method !== "GET" && path !== "/recommend-items-to-user";
  const call = async () => {
    if (changes && !confirm(`${method} ${path} changes data. Continue?`)) return;
    try {
      const given = JSON.parse(text.value) as Record<string, string>;
      const asked =
        method === "GET"
          ? await request(`${path}?${new URLSearchParams(given)}`)
          : await request(path, {
              method,
              headers: { "content-type": "application/json" },
              body: JSON.stringify(given),
            });
      answer.value = JSON.stringify(await asked.json(), null, 2).slice(0, 20_000);
    } catch (error) {
      answer.value =
        error instanceof RequestError
          ? [
              `${error.status} ${error.code}`,
              error.message,
              ...error.details.map(({ path, message }) => `${path}: ${message}`),
            ].join("\n")
          : String(error);
    }
  };
  const body = parsed(text.value);
  return (
    <div class="stack">
      <div class="field stack">
        <label for={path}>{method === "GET" ? "Parameters" : "Body"} as JSON</label>
        <textarea
          id={path}
          rows={6}
          spellcheck={false}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </div>
      <p>
        <button type="button" disabled={!isAllowed} onClick={() => void call()}>
          Send request
        </button>{" "}
        {!isAllowed && (
          <span class="muted">
            This session cannot call this operation. For write access, run{" "}
            <code>recommender open --write</code>.
          </span>
        )}
      </p>
      {answer.value !== undefined && <Block label="Response" text={answer.value} />}
      <Card>
        <AsCode
          texts={{
            curl:
              method === "GET"
                ? curl(url, `${path}?${new URLSearchParams(body as Record<string, string>)}`)
                : curl(url, path, body),
          }}
        />
      </Card>
    </div>
  );
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
